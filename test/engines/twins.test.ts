import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceError } from '../../src/base/errors.ts';
import { TwinPair } from '../support/twin-pair.ts';
import { obtainEngines } from './engines.ts';
import { type IcebergReader, Oracle, type OracleEngine, sortedLines } from './oracle.ts';
import { enginesMissing } from './support/engine-bench.ts';

/*
 * One set of data files behind a Delta and an Iceberg table, read as both by engines that share no code with us: files with and without field ids, and
 * without the columns that partition them.
 */

const columns =
  'id bigint, b boolean, i int, f float, d double, dec decimal(20,3), s string, bin binary, day date, ts timestamp, st struct<a:int,n:struct<x:string>>, l array<int>, m map<string,bigint>, p string, q date, r int not null';
const row = (
  from: number,
): string => `SELECT i::BIGINT AS id, i % 2 = 0 AS b, i::INT AS i, i / 2 AS f, i / 3 AS d, (i * 1.125)::DECIMAL(20,3) AS "dec",
  CASE WHEN i % 5 = 0 THEN NULL ELSE 'ü ' || i END AS s, encode('b' || i) AS bin, DATE '2026-01-01' + i::INT AS day,
  TIMESTAMPTZ '2026-01-01 00:00:00.123456Z' + to_hours(i) AS ts, {'a': i::INT, 'n': {'x': 'x' || i}} AS st, [i::INT, NULL] AS l, MAP {'k': i} AS m,
  CASE WHEN i % 3 = 0 THEN NULL ELSE 'p/ä ' || i % 3 END AS p, DATE '2026-01-01' + (i % 2)::INT AS q, (i % 2)::INT AS r FROM range(${from}, ${from + 12}) t(i)`;

const rowCount = 60;

describe.skipIf(enginesMissing)('a Delta table and its Iceberg twin', () => {
  let oracle: Oracle;
  let pair: TwinPair;

  beforeAll(async () => {
    oracle = Oracle.start(await obtainEngines());
    pair = await TwinPair.create(columns, { partitionBy: ['p', 'q', 'r'] });
    // Before there is a twin files have no ids.
    await pair.tables.append(pair.leader, row(0));
    await pair.follow();
    await pair.tables.append(pair.leader, row(20));
    await pair.sql("UPDATE {leader} SET s = 'changed' WHERE id = 21");
    await pair.sql('ALTER TABLE {leader} ADD COLUMNS (later string)');
    await pair.tables.append(pair.leader, `SELECT *, 'late' AS later FROM (${row(40)})`);
    await pair.follow();
    await pair.tables.append(pair.leader, `SELECT *, 'later' AS later FROM (${row(60)})`);
    await pair.follow();
  }, 900_000);
  afterAll(async () => {
    await oracle.stop();
    await pair.close();
  });

  async function icebergRows(engine: IcebergReader): Promise<readonly string[]> {
    const [reading] = await oracle.readIceberg(engine, [{ what: 'rows', path: pair.twinLocation }]);
    if (reading === undefined || 'error' in reading) throw new Error(`${engine} refused`, { cause: reading?.error });
    return sortedLines(reading.rows);
  }

  async function deltaRows(engine: OracleEngine): Promise<readonly string[]> {
    return sortedLines(await oracle.rows(engine, pair.leader.location));
  }

  /** A process that ends at a point of its commit, and one that goes on. */
  async function followPastTheEndOf(point: string): Promise<void> {
    const ends = await pair.follower((name) =>
      name === point ? Promise.reject(serviceError.internal('ENDED', point)) : Promise.resolve(),
    );
    await expect(ends.catchUp()).rejects.toMatchObject({ code: 'ENDED' });
    await pair.follow();
  }

  it('have equal rows in DuckDB, delta-rs and pyiceberg, before and after a compaction, and after processes that ended at a commit', async () => {
    for (const compacted of [false, true]) {
      if (compacted) await pair.sql('OPTIMIZE {leader}');
      else await pair.tables.append(pair.leader, `SELECT *, 'last' AS later FROM (${row(80)})`);
      await followPastTheEndOf(compacted ? 'before-twin-commit' : 'after-twin-commit');
      const expected = await deltaRows('delta-rs');
      expect(expected.length).toBe(rowCount);
      expect(await deltaRows('duckdb')).toEqual(expected);
      expect(await icebergRows('duckdb')).toEqual(expected);
      expect(await icebergRows('pyiceberg')).toEqual(expected);
    }
  });

  it('have equal rows in Spark and DuckDB after delta-rs has deleted some', async () => {
    await oracle.deleteWithDeltaRs(pair.leader.location, 'id = 22');
    await pair.follow();
    const expected = await deltaRows('spark');
    expect(expected.length).toBe(rowCount - 1);
    expect(await icebergRows('spark')).toEqual(expected);
    expect(await icebergRows('duckdb')).toEqual(expected);
  });

  // Its strings in files of delta-rs are views of Arrow's, which pyiceberg does not put beside strings of other files: no matter of twins.
  it('are refused by pyiceberg with files of delta-rs in them, by name', async () => {
    await expect(icebergRows('pyiceberg')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('incompatible types: string_view vs string') as string },
    });
  });
});
