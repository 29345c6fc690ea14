import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseThriftStruct, thriftField } from '../../src/codec/parquet/thrift-compact.ts';
import { DeltaTable } from '../../src/index.ts';
import { engineBench, enginesMissing } from './support/engine-bench.ts';

/*
 * OPTIMIZE takes row groups over byte for byte where it can. The files it makes of what each engine wrote are read by all of them, and their
 * statistics are held against their rows.
 */

const rowsOfPart = 12_000;

/** Rows that compress badly, so that their row groups are large enough to be taken over. */
const text = (from: number): string =>
  `SELECT CAST(id AS BIGINT) AS id, concat(md5(CAST(id AS STRING)), md5(CAST(id + 1 AS STRING))) AS pad, CASE WHEN id % 3 = 0 THEN NULL ELSE CAST(id / 7 AS DOUBLE) END AS ratio,
   timestamp_micros(1700000000000000 + id * 1000123) AS at, CAST(id * 1.5 AS DECIMAL(20, 3)) AS price, named_struct('n', CAST(id AS INT), 't', concat('ü', id)) AS sub,
   array(CAST(id AS STRING), NULL) AS tags FROM range(${from}, ${from + rowsOfPart})`;

describe.skipIf(enginesMissing)('files made of row groups that were taken over', () => {
  const bench = engineBench();

  /** Row groups of the newest of the table's files. */
  function rowGroups(path: string, before: readonly string[]): readonly number[] {
    return dataFiles(path)
      .filter((name) => !before.includes(name))
      .map((name) => {
        const file = readFileSync(join(path, name));
        const length = file.readUInt32LE(file.length - 8);
        const groups = thriftField(parseThriftStruct(file.subarray(file.length - 8 - length, file.length - 8)), 4);
        return typeof groups === 'object' && 'items' in groups ? groups.items.length : 0;
      });
  }

  function dataFiles(path: string): readonly string[] {
    return readdirSync(path).filter((name) => name.endsWith('.parquet'));
  }

  async function optimized(path: string): Promise<readonly number[]> {
    const before = dataFiles(path);
    const rows = await bench().lines('ours', path);
    const table = await DeltaTable.forPath(bench().session, path);
    await (await table.optimize().executeCompaction()).collect();
    expect(await bench().expectAgreement(path)).toEqual(rows);
    return rowGroups(path, before);
  }

  async function sparkTable(path: string, parts: readonly number[]): Promise<void> {
    await bench().oracle.sql('SET spark.sql.session.timeZone=UTC', `CREATE TABLE delta.\`${path}\` USING delta AS ${text(parts[0] ?? 0)}`);
    for (const from of parts.slice(1)) await bench().oracle.sql(`INSERT INTO delta.\`${path}\` ${text(from)}`);
  }

  it('are read by all engines when we wrote the row groups', async () => {
    const path = bench().path('ours');
    for (const part of [0, 1, 2]) {
      const rows = await bench().session.sql(text(part * rowsOfPart));
      await rows.write.format('delta').mode('append').save(path);
    }
    expect(await optimized(path)).toEqual([3]);
  });

  it('are read by all engines when Spark wrote them', async () => {
    const path = bench().path('spark');
    await sparkTable(path, [0, rowsOfPart]);
    const [groups, ...others] = await optimized(path);
    expect(others).toEqual([]);
    expect(groups).toBeGreaterThanOrEqual(2);
  });

  it('are read by all engines when delta-rs wrote them', async () => {
    const path = bench().path('delta-rs');
    // The file that makes a table names the elements of lists otherwise than those after it: it is overwritten.
    await bench().oracle.writeWithDeltaRs(path, [{ id: 0, pad: '', ratio: 0, tags: ['0'] }]);
    for (const part of [0, 1]) {
      const rows = Array.from({ length: rowsOfPart }, (_, index) => {
        const id = part * rowsOfPart + index;
        return {
          id,
          pad: Buffer.from(`${id}:${(id * 2_654_435_761) % 4_294_967_291}:${(id * id) % 4_294_967_279}`).toString('base64'),
          ratio: Math.sin(id),
          tags: [`${id}`],
        };
      });
      await bench().oracle.writeWithDeltaRs(path, rows, part === 0 ? 'overwrite' : 'append');
    }
    expect(await optimized(path)).toEqual([2]);
  });

  it('are not made of row groups of different writers, which are encoded anew', async () => {
    const path = bench().path('mixed');
    await sparkTable(path, [0]);
    const rows = await bench().session.sql(text(rowsOfPart));
    await rows.write.format('delta').mode('append').save(path);
    expect(await optimized(path)).toEqual([1]);
  });
});
