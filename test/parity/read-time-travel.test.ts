import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DataFrame, Session } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Earlier versions of tables. The one here has version n since noon of January n + 1, 2024. */

const noon = (version: number): string => `2024-01-0${version + 1} 12:00:00`;
const idsUntil = (version: number) => Array.from({ length: version + 1 }, (_, id) => ({ id: BigInt(id) }));

describe('time travel', () => {
  const bench = deltaBench();
  let session: Session;

  beforeAll(async () => {
    const { sql, path } = bench();
    const kept = "'delta.logRetentionDuration' = 'interval 36500 days', 'delta.deletedFileRetentionDuration' = 'interval 36500 days'";
    await sql(`CREATE TABLE travelled (id BIGINT) USING delta LOCATION '${path('t')}' TBLPROPERTIES (${kept})`);
    await sql('INSERT INTO travelled VALUES (0)');
    await sql('INSERT INTO travelled VALUES (1)');
    // Version 0 is empty.
    for (const version of [0, 1, 2]) {
      const time = new Date(`${noon(version).replace(' ', 'T')}Z`);
      utimesSync(join(path('t'), '_delta_log', `${String(version).padStart(20, '0')}.json`), time, time);
    }
    // Another session, which has not seen other times.
    session = bench().another();
  });

  it('B06: a path that ends like a version is a table of its own where there is one', async () => {
    const { sql, path, at } = bench();
    await sql(`CREATE TABLE ${at('base')} (id INT) USING delta`);
    await sql(`INSERT INTO ${at('base')} VALUES (1)`);
    expect(await sql(`SELECT * FROM ${at('base@v0')}`)).toEqual([]);
    await sql(`CREATE TABLE ${at('base@v0')} (id INT) USING delta`);
    await sql(`INSERT INTO ${at('base@v0')} VALUES (7)`);
    expect(await sql(`SELECT * FROM ${at('base@v0')}`)).toEqual([{ id: 7 }]);
    expect(await session.read.format('delta').load(path('base@v0')).collect()).toEqual([{ id: 7 }]);
    expect(await sql(`SELECT * FROM ${at('base@v1')}`)).toEqual([{ id: 1 }]);
  });

  it('B06: a version by option, by path and in SQL, in every form', async () => {
    const { path, at } = bench();
    const reader = session.read.format('delta');
    const frames = (version: number): readonly (DataFrame | Promise<DataFrame>)[] => [
      reader.option('versionAsOf', version).load(path('t')),
      reader.option('versionAsOf', String(version)).load(path('t')),
      reader.option('VERSIONASOF', version).table('travelled'),
      reader.load(`${path('t')}@v${version}`),
      session.table(`delta.\`${path('t')}@v${version}\``),
      session.sql(`SELECT * FROM travelled VERSION AS OF ${version}`),
      session.sql(`SELECT * FROM travelled FOR VERSION AS OF ${version}`),
      session.sql(`SELECT * FROM travelled FOR SYSTEM_VERSION AS OF ${version}`),
      session.sql(`SELECT * FROM ${at('t')} VERSION AS OF '${version}'`),
      session.sql(`SELECT * FROM delta.\`${path('t')}@v${version}\``),
    ];
    for (const version of [0, 1, 2]) {
      for (const frame of frames(version)) expect(await (await frame).orderBy('id').collect()).toEqual(idsUntil(version - 1));
      await bench().agree('t', { version });
    }
  });

  it('B06: a time gives the version that was the newest then', async () => {
    const { path, at } = bench();
    const reader = session.read.format('delta');
    const frames = (time: string): readonly (DataFrame | Promise<DataFrame>)[] => [
      reader.option('timestampAsOf', time).load(path('t')),
      reader.option('timestampAsOf', time).table('travelled'),
      session.sql(`SELECT * FROM travelled TIMESTAMP AS OF '${time}'`),
      session.sql(`SELECT * FROM ${at('t')} FOR TIMESTAMP AS OF CAST('${time}' AS TIMESTAMP)`),
      session.sql(`SELECT * FROM travelled FOR SYSTEM_TIME AS OF '${time}'`),
    ];
    for (const [time, version] of [
      [noon(0), 0],
      ['2024-01-02 11:59:59.999', 0],
      [noon(1), 1],
      ['2024-01-03', 1],
      ['2024-01-03T13:00:00+01:00', 2],
      [noon(2), 2],
    ] as const) {
      for (const frame of frames(time)) expect([time, await (await frame).orderBy('id').collect()]).toEqual([time, idsUntil(version - 1)]);
    }
    const byPath = reader.load(`${path('t')}@20240102130000000`);
    expect(await byPath.collect()).toEqual(idsUntil(0));
  });

  it('B06: a time may be computed', async () => {
    const later = await session.sql("SELECT * FROM travelled TIMESTAMP AS OF date_add(DATE '2024-01-01', 1) + INTERVAL 12 HOURS");
    expect(await later.collect()).toEqual(idsUntil(0));
    const outside = await refusalOf(session.sql('SELECT * FROM travelled TIMESTAMP AS OF current_timestamp() - INTERVAL 1 DAY'));
    expect(outside).toMatchObject({ errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT' });
  });

  it('B06: several versions of a table can be compared in one query', async () => {
    const text = 'SELECT id FROM travelled EXCEPT SELECT id FROM travelled VERSION AS OF 1';
    expect(await (await session.sql(text)).collect()).toEqual([{ id: 1n }]);
  });

  it.each([99, -1])('B06: a version outside is refused with the range there is: %s', async (version) => {
    const { path } = bench();
    const message = `Cannot time travel Delta table to version ${version}. Available versions: [0, 2].`;
    const attempts = [
      () => session.read.format('delta').option('versionAsOf', version).load(path('t')).collect(),
      ...(version > 0
        ? [
            async () => (await session.sql(`SELECT * FROM travelled VERSION AS OF ${version}`)).collect(),
            () =>
              session.read
                .format('delta')
                .load(`${path('t')}@v${version}`)
                .collect(),
          ]
        : []),
    ];
    for (const attempt of attempts) {
      expect(await refusalOf(attempt)).toMatchObject({ errorClass: 'DELTA_VERSION_NOT_FOUND', sqlState: '22003', message });
    }
  });

  it('B06: a time after the newest or before the oldest version is refused with the nearest one', async () => {
    const { path } = bench();
    const reader = session.read.format('delta');
    expect(await refusalOf(reader.option('timestampAsOf', '2100-01-01').load(path('t')).collect())).toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
      sqlState: '42816',
      message:
        "Timestamp 2100-01-01 00:00:00.0 is after the table's latest version (2024-01-03 12:00:00.0). Use a timestamp at or before 2024-01-03 12:00:00.",
    });
    expect(await refusalOf(session.sql("SELECT * FROM travelled TIMESTAMP AS OF '2001-01-01'"))).toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION',
      sqlState: '42816',
      message:
        'The provided timestamp (2001-01-01 00:00:00.0) is before the earliest version available to this table (2024-01-01 12:00:00.0). Please use a timestamp after 2024-01-01 12:00:00.',
    });
  });

  it('B06: what is no version and no time, or both, is refused', async () => {
    const { path } = bench();
    const load = (options: Readonly<Record<string, string | number>>, name = path('t')) =>
      refusalOf(async () => session.read.format('delta').options(options).load(name).collect());
    expect(await load({ versionAsOf: 'first' })).toMatchObject({
      errorClass: 'DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE',
      sqlState: '42604',
      message: 'versionAsOf needs to be a valid begin value.',
    });
    expect(await load({ timestampAsOf: 'yesterday-ish' })).toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_INVALID',
      sqlState: '42816',
      message: "The provided timestamp ('yesterday-ish') cannot be converted to a valid timestamp.",
    });
    expect(await load({ versionAsOf: 0, timestampAsOf: '2024-01-02' })).toMatchObject({
      errorClass: 'DELTA_ONEOF_IN_TIMETRAVEL',
      sqlState: '42601',
      message: "Please either provide 'timestampAsOf' or 'versionAsOf' for time travel.",
    });
    expect(await load({ versionAsOf: 0 }, `${path('t')}@v1`)).toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS',
      sqlState: '42613',
      message: 'Cannot specify time travel in multiple formats.',
    });
    expect(await refusalOf(session.sql(`SELECT * FROM delta.\`${path('t')}@v1\` VERSION AS OF 1`))).toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS',
    });
    expect(await refusalOf(session.sql("SELECT * FROM travelled TIMESTAMP AS OF 'soon'"))).toMatchObject({
      errorClass: 'INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT',
      sqlState: '42K0E',
    });
  });

  it('B06: the schema is that of the version', async () => {
    const { sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('grown')} (id BIGINT) USING delta`);
    await sql(`ALTER TABLE ${at('grown')} ADD COLUMN v STRING`);
    expect(await session.read.format('delta').option('versionAsOf', 0).load(path('grown')).columns).toEqual(['id']);
    expect(await session.read.format('delta').load(path('grown')).columns).toEqual(['id', 'v']);
  });

  it('B06: a DataFrame of a version stays at it, one of the table follows it', async () => {
    const { path } = bench();
    await session.range(1).write.format('delta').save(path('followed'));
    const fixed = session.read.format('delta').option('versionAsOf', 0).load(path('followed'));
    const following = session.read.format('delta').load(path('followed'));
    await session.range(1, 2).write.format('delta').mode('append').save(path('followed'));
    expect([await fixed.count(), await following.count()]).toEqual([1, 2]);
  });
});
