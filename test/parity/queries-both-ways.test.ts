import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/index.ts';
import { compared, expectedOutcomes, frameOutcome, recordingOf } from '../engines/suites/outcomes.ts';
import { bothWays, queries, relations } from '../engines/suites/queries.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Calls of DataFrames give what the queries give whose text `suites.test.ts` asks: rows, names, types and classes of errors. */

describe('queries as calls of a DataFrame', () => {
  const directory = temporaryDirectory('both-ways');
  const session = createSession({
    config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': 1 },
    print: () => undefined,
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });
  const recording = recordingOf(queries);
  const cases = bothWays.map((query, place) => ({ ...query, restated: queries.cases[place] }));

  it.each(cases)('$sql', async ({ sql, frame, restated }) => {
    const [a, b, n] = await Promise.all([session.sql(relations.a), session.sql(relations.b), session.sql(relations.n)]);
    const expected = restated === undefined ? [] : expectedOutcomes(restated, recording[sql] ?? []);
    const outcome = await frameOutcome(() => Promise.resolve(frame({ a, b, n })));
    expect(compared([outcome], expected)).toEqual(expected);
  });
});
