import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { spread } from '../../../../src/rows/order/z-order.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('spread', () => {
  it('puts the bits of each column in turn, the first column highest', () => {
    const place = (range: number, index: number) => spread(range, { index, bits: 3, columns: 2 });
    expect([place(0b111, 0), place(0b111, 1)]).toEqual([0b101010n, 0b010101n]);
    expect(place(0b101, 0) | place(0b010, 1)).toBe(0b100110n);
  });
});

describe('optimize with Z-order', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const boundsOf = async (table: DeltaTable): Promise<readonly (readonly [number, number, number, number])[]> =>
    [...(await table.refresh()).files()].map((file) => {
      const numbers = [...(file.stats ?? '').matchAll(/"[ab]":(\d+)/g)].map(([, text]) => Number(text));
      const [minA = -1, minB = -1, maxA = -1, maxB = -1] = numbers;
      return [minA, maxA, minB, maxB];
    });

  it('makes files that hold small ranges of every column, nested ones too, and does it all again the next time', async () => {
    const table = await tables.create('grid', 'a INT, s STRUCT<b: INT>');
    await tables.append(
      table,
      "SELECT CAST(i % 256 AS INT) AS a, {'b': CAST(i // 256 AS INT)} AS s FROM range(65536) t(i) ORDER BY hash(i)",
    );
    const before = await tables.rows(table);
    const [whole] = [...(await table.refresh()).files()];
    const targetFileBytes = Math.ceil((whole?.sizeBytes ?? 0) / 16);
    const result = await table.operations.optimize({ zOrderBy: ['A', 's.b'], targetFileBytes });
    expect(result.filesAdded.totalFiles).toBe(16);
    expect(await tables.rows(table)).toEqual(before);
    const files = await boundsOf(table);
    // A small square of the grid touches few of the files.
    const touched = files.filter(([minA, maxA, minB, maxB]) => maxA >= 40 && minA <= 44 && maxB >= 40 && minB <= 44);
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.length).toBeLessThanOrEqual(4);
    const again = await table.operations.optimize({ zOrderBy: ['a', 's.b'], targetFileBytes });
    expect(again).toMatchObject({ bins: 1, filesRemoved: { totalFiles: files.length } });
    const { version } = await table.refresh();
    const info = (await table.context.readCommit(version))?.actions[0];
    expect(info).toMatchObject({ body: { operation: 'OPTIMIZE', operationParameters: { zOrderBy: '["a","s.b"]' } } });
  });

  it.each([
    ['STRING', "'k' || (hash(i) % 5000)"],
    ['DOUBLE', "CASE i % 4 WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN NULL ELSE hash(i) / 7.0 END"],
    ['DECIMAL(20,3)', '(hash(i) % 100000) / 8'],
    ['DATE', "DATE '1900-01-01' + CAST(hash(i) % 90000 AS INT)"],
    ['TIMESTAMP', "TIMESTAMPTZ '1960-01-01 00:00:00+00' + to_microseconds(CAST(hash(i) % 9000000000000000 AS BIGINT))"],
    ['TIMESTAMP_NTZ', "TIMESTAMP '1960-01-01 00:00:00' + to_microseconds(CAST(hash(i) % 9000000000000000 AS BIGINT))"],
    ['BOOLEAN', 'hash(i) % 2 = 0'],
  ])('clusters by a column of type %s with all its values', async (type, sql) => {
    const name = `typed-${type.replaceAll(/\W/g, '')}`;
    const table = await tables.create(name, `v ${type}, z0 INT`);
    await tables.append(table, `SELECT ${sql} AS v, CAST(i AS INT) AS z0 FROM range(5000) t(i)`);
    const before = await tables.rows(table);
    expect(await table.operations.optimize({ zOrderBy: ['v', 'z0'] })).toMatchObject({ bins: 1 });
    expect(await tables.rows(table)).toEqual(before);
  });

  it('keeps the order within partitions', async () => {
    const table = await tables.create('ordered', 'a INT, p STRING', { partitionBy: ['p'] });
    await tables.append(table, "SELECT CAST(i AS INT) AS a, 'x/' || (i % 2) AS p FROM range(200000) t(i) ORDER BY hash(i)");
    expect(await table.operations.optimize({ zOrderBy: ['a'] })).toMatchObject({ bins: 2, partitionsOptimized: 2 });
    const snapshot = await table.refresh();
    expect([...snapshot.files()].map((file) => file.partitionValues['p']).sort()).toEqual(['x/0', 'x/1']);
    for (const file of snapshot.files()) {
      const path = tables.text(tables.path(`ordered/${file.storedPath}`));
      const turns = `SELECT count(*) FROM (SELECT a < lag(a) OVER (ORDER BY file_row_number) AS back FROM read_parquet(${path})) WHERE back`;
      expect(await tables.engine.rows(turns)).toEqual([[0n]]);
    }
  });

  it('refuses columns that are not there, partition the table, or have no statistics', async () => {
    const table = await tables.create('refused', 'a INT, b INT, p STRING', {
      partitionBy: ['p'],
      properties: { 'delta.dataSkippingNumIndexedCols': '1' },
    });
    const refused = (zOrderBy: readonly string[]) => expect(table.operations.optimize({ zOrderBy })).rejects;
    await refused(['nope']).toMatchObject({ errorClass: 'DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST', sqlState: '42703' });
    await refused(['P']).toMatchObject({ errorClass: 'DELTA_ZORDERING_ON_PARTITION_COLUMN', sqlState: '42P10' });
    await refused(['a', 'b']).toMatchObject({ errorClass: 'DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS', parameters: { cols: '[b]' } });
  });
});
