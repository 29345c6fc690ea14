import { afterAll, expect, it } from 'vitest';
import { contentDescriber } from '../../../../src/iceberg/pipeline/staged-content.ts';
import { leaderContent } from '../../../../src/iceberg/twin/leader-content.ts';
import type { LeaderFile } from '../../../../src/table/twin.ts';
import { TwinPair } from '../../../support/twin-pair.ts';

const pair = await TwinPair.create('id bigint, name string', { partitionBy: ['name'] });
afterAll(() => pair.close());

it('the statistics of a leader’s files are worked out one file at a time, and say what they would at once', async () => {
  const state = await (await pair.follow()).refresh();
  let asked = 0;
  const fileOf = (min: bigint): LeaderFile => ({
    location: `/lake/part-${min}.parquet`,
    sizeBytes: 10,
    rowCount: 3,
    partition: ['a'],
    get statistics() {
      asked += 1;
      return [{ path: ['id'], nullCount: 1, min, max: min + 1n }];
    },
  });
  const files = [1n, 2n, 3n].map(fileOf);
  const late = leaderContent(state, files, ({ location }) => location);
  expect(asked).toBe(0);
  const [, second] = late;
  for (let read = 0; read < 3; read += 1) expect([second?.nullValueCounts?.size, second?.lowerBounds?.size]).toEqual([1, 1]);
  expect(asked).toBe(1);
  const whole = files.map(contentDescriber(state, ({ location }) => location));
  for (const [index, content] of whole.entries())
    for (const [name, value] of Object.entries(content)) expect(Reflect.get(late[index] ?? {}, name), name).toEqual(value);
});
