import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AnalysisException, col, createSession, expr, lit } from '../../../src/index.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';

describe('a session in a time zone', () => {
  const directory = temporaryDirectory('zone');
  const printed: string[] = [];
  const session = createSession({
    config: {
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'spark.sql.session.timeZone': 'Europe/Berlin',
      'tidewater.engine.threads': 1,
      'tidewater.delta.allowedLocations': directory,
    },
    print: (text) => printed.push(text),
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });

  it('shows times of the zone and gives instants', async () => {
    const frame = await session.sql("SELECT TIMESTAMP '2024-07-01 10:00:00' AS at, array(TIMESTAMP '2024-01-01 10:00:00') AS list");
    await frame.show(1, false);
    expect(printed.splice(0).join('')).toContain('|2024-07-01 10:00:00|[2024-01-01 10:00:00]|');
    expect(await frame.collect()).toEqual([{ at: '2024-07-01T08:00:00.000000Z', list: ['2024-01-01T09:00:00.000000Z'] }]);
  });

  it('takes local times of rows that are given to it', async () => {
    const rows = [{ at: '2024-07-01 10:00:00' }, { at: '2024-07-01 10:00:00Z' }, { at: new Date(0) }];
    const frame = session.createDataFrame(rows, 'at TIMESTAMP');
    expect((await frame.collect()).map(({ at }) => at)).toEqual([
      '2024-07-01T08:00:00.000000Z',
      '2024-07-01T10:00:00.000000Z',
      '1970-01-01T00:00:00.000000Z',
    ]);
  });

  const frames: readonly (readonly [string, ReturnType<typeof expr>, unknown])[] = [
    ['a cast to text', col('at').cast('string'), '2024-03-31 03:30:00'],
    ['a cast to a date', lit('2024-06-30 23:30:00Z').cast('timestamp').cast('date'), '2024-07-01'],
    ['a cast from text', lit('2024-07-01 00:00:00').cast('timestamp'), '2024-06-30T22:00:00.000000Z'],
    ['a cast to a local time', col('at').cast('timestamp_ntz'), '2024-03-31T03:30:00.000000'],
    ['a part', expr('hour(at)'), 3],
    ['a cut', expr("date_trunc('DAY', at)"), '2024-03-30T23:00:00.000000Z'],
    ['a pattern', expr("date_format(at, 'HH:mm')"), '03:30'],
    ['a comparison with text', col('at').eq(lit('2024-03-31 02:30:00')), true],
    ['a comparison with a date', col('at').gt(lit('2024-03-31').cast('date')), true],
    ['an interval of days', expr('at - INTERVAL 1 DAY'), '2024-03-30T02:30:00.000000Z'],
    ['an interval of hours', expr('at + INTERVAL 24 HOURS'), '2024-04-01T01:30:00.000000Z'],
    ['a choice', expr("coalesce(DATE '2024-07-01', at)"), '2024-06-30T22:00:00.000000Z'],
    ['a time elsewhere', expr("from_utc_timestamp(at, 'Asia/Seoul')"), '2024-03-31T10:30:00.000000Z'],
    ['JSON', expr("to_json(named_struct('at', at))"), '{"at":"2024-03-31T03:30:00.000+02:00"}'],
    ['the zone', expr('current_timezone()'), 'Europe/Berlin'],
  ];
  it.each(frames)('computes %s on a DataFrame in it', async (_, value, expected) => {
    const frame = session.createDataFrame([{ at: '2024-03-31 02:30:00' }], 'at TIMESTAMP').select(value.alias('v'));
    expect(await frame.collect()).toEqual([{ v: expected }]);
  });

  it('unites dates and instants on DataFrames', async () => {
    const days = session.createDataFrame([{ v: '2024-07-01' }], 'v DATE');
    const times = session.createDataFrame([{ v: '2024-07-01 12:00:00' }], 'v TIMESTAMP');
    expect((await days.union(times).collect()).map(({ v }) => v)).toEqual(['2024-06-30T22:00:00.000000Z', '2024-07-01T10:00:00.000000Z']);
  });

  it('leaves what is stored in UTC', async () => {
    const path = join(directory, 'stored');
    await session.sql(`CREATE TABLE delta.\`${path}\` (id INT, at TIMESTAMP) USING delta PARTITIONED BY (at)`);
    await session.sql(`INSERT INTO delta.\`${path}\` VALUES (1, '2024-07-01 10:00:00')`);
    const files = (await (await session.sql(`SELECT _metadata.file_path AS p FROM delta.\`${path}\``)).collect()).map(
      ({ p }) => p as string,
    );
    expect(decodeURIComponent(decodeURIComponent(files[0] ?? ''))).toMatch(/at=2024-07-01[ T]08:00:00/);
  });

  it('reads local times of CSV and JSON files', async () => {
    writeFileSync(join(directory, 'times.csv'), '2024-07-01 10:00:00\n2024-07-01T10:00:00Z\n');
    writeFileSync(join(directory, 'times.json'), '{"at":"2024-07-01 10:00:00","list":[{"at":"2024-01-01T10:00:00"}]}\n');
    const csv = await session.read.schema('at TIMESTAMP').csv(join(directory, 'times.csv')).collect();
    expect(csv.map(({ at }) => at)).toEqual(['2024-07-01T08:00:00.000000Z', '2024-07-01T10:00:00.000000Z']);
    const json = session.read.schema('at TIMESTAMP, list ARRAY<STRUCT<at: TIMESTAMP>>').json(join(directory, 'times.json'));
    expect(await json.collect()).toEqual([{ at: '2024-07-01T08:00:00.000000Z', list: [{ at: '2024-01-01T09:00:00.000000Z' }] }]);
  });

  it('reads a table as of a local time', async () => {
    const path = join(directory, 'travel');
    await session.sql(`CREATE TABLE delta.\`${path}\` AS SELECT 1 AS id`);
    const [{ timestamp } = { timestamp: '' }] = await (await session.sql(`DESCRIBE HISTORY delta.\`${path}\``)).collect();
    const instant = new Date(Math.ceil(Date.parse(timestamp as string) / 1000) * 1000);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await session.sql(`INSERT INTO delta.\`${path}\` VALUES (2)`);
    const local = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' }).format(instant);
    const count = async (text: string): Promise<unknown> => (await (await session.sql(text)).collect())[0]?.['n'];
    expect(await count(`SELECT count(*) AS n FROM delta.\`${path}\` TIMESTAMP AS OF '${local}'`)).toBe(1n);
    expect(await session.read.format('delta').option('timestampAsOf', local).load(path).count()).toBe(1);
  });

  it('refuses a zone that there is not', () => {
    for (const name of ['Europe/Nowhere', 'europe/berlin', '+25:00', 'xyz', '']) {
      expect(() => {
        session.conf.set('spark.sql.session.timeZone', name);
      }, name).toThrow(AnalysisException);
    }
    expect(session.conf.get('spark.sql.session.timeZone')).toBe('Europe/Berlin');
  });
});
