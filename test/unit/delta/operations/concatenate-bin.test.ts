import { copyFile, readdir, truncate } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const columns =
  'id BIGINT, pad STRING, at TIMESTAMP, day DATE, price DECIMAL(20, 3), ratio DOUBLE, sub STRUCT<n: INT, t: STRING>, tags ARRAY<STRING>';

/** Rows that do not compress: about 90 bytes each. */
function rowsSql(from: number, count: number): string {
  return `SELECT ${from} + i AS id,
    CASE WHEN i % 13 = 0 THEN NULL ELSE md5(CAST(${from} + i AS VARCHAR)) || md5(CAST(${from} - i AS VARCHAR)) END AS pad,
    make_timestamptz(1700000000000000 + (${from} + i) * 1000123) AS at, DATE '1969-12-01' + CAST((${from} + i) % 5000 AS INTEGER) AS day,
    CAST(12345678901234567.001 + ${from} + i AS DECIMAL(20, 3)) AS price, CASE WHEN i % 3 = 0 THEN NULL ELSE sin(${from} + i) END AS ratio,
    CASE WHEN i % 5 = 0 THEN NULL ELSE struct_pack(n := CAST(${from} + i AS INTEGER), t := 'ü' || i) END AS sub,
    CASE WHEN i % 2 = 0 THEN ['a', NULL, 'b'] END AS tags
    FROM range(${count}) t(i)`;
}

describe('packing by taking row groups over', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const filesOf = async (table: DeltaTable) => [...(await table.refresh()).files()];

  const rowGroups = async (table: DeltaTable): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (const file of await filesOf(table)) {
      const path = tables.text(`${table.context.localRoot()}/${file.storedPath}`);
      const [row] = await tables.engine.rows(`SELECT count(DISTINCT row_group_id) FROM parquet_metadata(${path})`);
      counts.push(Number(row?.[0]));
    }
    return counts;
  };

  const ids = async (table: DeltaTable): Promise<unknown> => {
    const [file] = await filesOf(table);
    const path = tables.text(`${table.context.localRoot()}/${file?.storedPath ?? ''}`);
    return (
      await tables.engine.rows(`SELECT list(id ORDER BY file_row_number) = list(id ORDER BY id), count(*) FROM read_parquet(${path})`)
    )[0];
  };

  it('gives the same rows in order, and the statistics that encoding them anew gives', async () => {
    const table = await tables.create('same', columns, { properties: { 'delta.enableDeletionVectors': 'true' } });
    const whole = await tables.create('whole', columns, { properties: { 'delta.enableDeletionVectors': 'true' } });
    // Smallest first is the order of packing.
    for (const [from, count] of [
      [0, 8_000],
      [8_000, 9_000],
      [17_000, 10_000],
    ] as const)
      await tables.append(table, rowsSql(from, count));
    await tables.append(whole, [rowsSql(0, 8_000), rowsSql(8_000, 9_000), rowsSql(17_000, 10_000)].join(' UNION ALL '));
    const before = await tables.rows(table);
    expect(await table.operations.optimize({})).toMatchObject({ bins: 1, filesRemoved: { totalFiles: 3 }, filesAdded: { totalFiles: 1 } });
    expect(await rowGroups(table)).toEqual([3]);
    expect(await tables.rows(table)).toEqual(before);
    expect(await ids(table)).toEqual([true, 27_000n]);
    const [[packed], [encoded]] = [await filesOf(table), await filesOf(whole)];
    expect(JSON.parse(packed?.stats ?? '')).toEqual(JSON.parse(encoded?.stats ?? '-'));
    const found = await tables.engine.scan(await table.scan(await table.refresh()));
    expect(await tables.engine.rows(`SELECT count(*) FROM (${found.sql}) WHERE id BETWEEN 7990 AND 8009`)).toEqual([[20n]]);
    await found.dispose();
    expect(await readdir(table.context.localRoot())).not.toContainEqual(expect.stringContaining('.tmp-'));
  });

  it('encodes anew what would leave tiny row groups', async () => {
    const table = await tables.create('tiny', columns);
    for (const from of [0, 100, 200]) await tables.append(table, rowsSql(from, 100));
    await table.operations.optimize({});
    expect(await rowGroups(table)).toEqual([1]);
    expect((await table.refresh()).rowCount).toBe(300);
  });

  it('encodes anew files with deletion vectors, of different columns, and whose statistics do not say enough', async () => {
    const deleted = await tables.create('deleted', columns, { properties: { 'delta.enableDeletionVectors': 'true' } });
    for (const from of [0, 8_000]) await tables.append(deleted, rowsSql(from, 8_000));
    await deleted.operations.delete({ condition: parseExpression('id = 7') });
    await deleted.operations.optimize({});
    expect(await rowGroups(deleted)).toEqual([1]);
    expect((await deleted.refresh()).rowCount).toBe(15_999);

    const evolved = await tables.create('evolved', columns);
    await tables.append(evolved, rowsSql(0, 8_000));
    await evolved.operations.alter({
      kind: 'add-columns',
      columns: [{ parent: [], field: { name: 'extra', type: { kind: 'integer' }, nullable: true } }],
    });
    await tables.append(evolved, `SELECT *, 1 AS extra FROM (${rowsSql(8_000, 8_000)})`);
    await evolved.operations.optimize({});
    expect(await rowGroups(evolved)).toEqual([1]);
    expect(JSON.parse((await filesOf(evolved))[0]?.stats ?? '')).toMatchObject({ nullCount: { extra: 8_000 } });

    const unknown = await tables.create('unknown', columns, { properties: { 'delta.dataSkippingNumIndexedCols': '1' } });
    for (const from of [0, 8_000]) await tables.append(unknown, rowsSql(from, 8_000));
    await unknown.operations.alter({ kind: 'set-properties', properties: { 'delta.dataSkippingNumIndexedCols': '2' } });
    await unknown.operations.optimize({});
    expect(await rowGroups(unknown)).toEqual([1]);
    expect(JSON.parse((await filesOf(unknown))[0]?.stats ?? '')).toMatchObject({ minValues: { pad: expect.any(String) as unknown } });
  });

  it('stays within partitions, spelled as the log spells them, and under names that mapping gives', async () => {
    const table = await tables.create('parts', `${columns}, p STRING`, {
      partitionBy: ['p'],
      properties: { 'delta.columnMapping.mode': 'name' },
    });
    for (const from of [0, 16_000]) {
      await tables.append(table, `SELECT *, CASE WHEN id % 2 = 0 THEN 'a/b c' END AS p FROM (${rowsSql(from, 16_000)})`);
    }
    const before = await tables.rows(table);
    await table.operations.optimize({});
    expect(await rowGroups(table)).toEqual([2, 2]);
    expect(await tables.rows(table)).toEqual(before);
    const found = await tables.engine.scan(await table.scan(await table.refresh(), { filter: parseExpression("p = 'a/b c' AND id < 10") }));
    expect(await tables.engine.rows(`SELECT count(*) FROM (${found.sql}) WHERE p = 'a/b c' AND id < 10`)).toEqual([[5n]]);
    await found.dispose();
  });

  it('purges and clusters by encoding anew', async () => {
    const table = await tables.create('cluster', columns);
    for (const from of [0, 8_000]) await tables.append(table, rowsSql(from, 8_000));
    await table.operations.optimize({ zOrderBy: ['pad'] });
    expect(await rowGroups(table)).toEqual([1]);
  });

  it('leaves a file that is not the one the log knows to the reader that says so', async () => {
    const table = await tables.create('damaged', columns);
    for (const from of [0, 8_000]) await tables.append(table, rowsSql(from, 8_000));
    const [first] = await filesOf(table);
    const path = `${table.context.localRoot()}/${first?.storedPath ?? ''}`;
    await copyFile(path, `${path}.whole`);
    await truncate(path, (first?.sizeBytes ?? 0) - 100);
    await expect(table.operations.optimize({})).rejects.toThrow();
    expect((await table.refresh()).fileCount).toBe(2);
    await copyFile(`${path}.whole`, path);
    await table.operations.optimize({});
    expect(await rowGroups(table)).toEqual([2]);
  });
});
