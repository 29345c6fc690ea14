import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/index.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Conditions on columns whose files hold a coarser type: as for the values that are read (`TypeWideningAlterTableSuite`, `TestAlterTable`). */

const operators = ['=', '<>', '<', '<=', '>', '>='];

describe('a column that was made wider', () => {
  const directory = temporaryDirectory('widened');
  const session = createSession({
    config: {
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'hadoop',
      'spark.sql.catalog.lake.warehouse': join(directory, 'lake'),
    },
    print: () => undefined,
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });
  const sql = async (text: string) => (await session.sql(text)).collect();

  it.each([
    ['delta', 'FLOAT', 'DOUBLE', ['1.1', '-1.1', '2.5', 'NULL'], ['1.1D', '-1.1D', '2.5D', '1.1F']],
    ['delta', 'INT', 'DOUBLE', ['1', '2', '3', 'NULL'], ['1.5D', '2.5D', '2D']],
    ['delta', 'INT', 'DECIMAL(12, 2)', ['1', '2', '3', 'NULL'], ['1.5', '2.5', '2']],
    ['delta', 'DECIMAL(5, 2)', 'DECIMAL(9, 4)', ['1.25', '2', 'NULL'], ['1.251', '1.2549', '1.25']],
    [
      'delta',
      'DATE',
      'TIMESTAMP_NTZ',
      ["DATE '2024-01-01'", "DATE '2024-01-02'", 'NULL'],
      ["TIMESTAMP_NTZ '2024-01-01 05:00:00'", "TIMESTAMP_NTZ '2024-01-02 00:00:00'"],
    ],
    ['delta', 'INT', 'BIGINT', ['1', '2147483647', 'NULL'], ['2147483647', '2147483648', '4294967297']],
    ['iceberg', 'FLOAT', 'DOUBLE', ['1.1', '-1.1', '2.5', 'NULL'], ['1.1D', '-1.1D', '2.5D', '1.1F']],
    ['iceberg', 'DECIMAL(5, 2)', 'DECIMAL(9, 2)', ['1.25', '999.99', 'NULL'], ['1.25', '999.99', '1000.01', '100001.25']],
  ])('%s: %s to %s', async (format, from, to, values, compared) => {
    const name = `${from}_${to}`.replaceAll(/\W+/g, '_').toLowerCase();
    const table = format === 'delta' ? `delta.\`${join(directory, name)}\`` : `lake.db.${name}`;
    if (format === 'iceberg') await sql('CREATE NAMESPACE IF NOT EXISTS lake.db');
    const properties =
      format === 'delta' ? "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported')" : '';
    await sql(`CREATE TABLE ${table} (id INT, v ${from}, s STRUCT<v: ${from}>) USING ${format} ${properties}`);
    await sql(`INSERT INTO ${table} VALUES ${values.map((value, id) => `(${id}, ${value}, named_struct('v', ${value}))`).join(', ')}`);
    await sql(`ALTER TABLE ${table} ALTER COLUMN v TYPE ${to}`);
    await sql(`ALTER TABLE ${table} ALTER COLUMN s.v TYPE ${to}`);
    const first = compared[0] ?? '';
    await sql(`INSERT INTO ${table} VALUES (10, ${first}, named_struct('v', ${first}))`);

    const conditions = ['v', 's.v'].flatMap((column) => [
      ...compared.flatMap((value) => operators.map((operator) => `${column} ${operator} ${value}`)),
      `${column} IN (${compared.join(', ')})`,
      `NOT ${column} BETWEEN ${first} AND ${compared.at(-1) ?? ''}`,
    ]);
    // What is computed of the rows that were read cannot be rounded.
    const [rows] = [
      await sql(`SELECT id, ${conditions.map((condition, place) => `${condition} AS c${place}`).join(', ')} FROM ${table} ORDER BY id`),
    ];
    const found = await sql(
      conditions.map((condition, place) => `SELECT ${place} AS place, id FROM ${table} WHERE ${condition}`).join(' UNION ALL '),
    );
    const wanted = conditions.map((_, place) => rows.filter((row) => row[`c${place}`] === true).map((row) => row['id']));
    const got = conditions.map((_, place) =>
      found
        .filter((row) => row['place'] === place)
        .map((row) => Number(row['id']))
        .sort((a, b) => a - b),
    );
    expect(got.map((ids, place) => [conditions[place], ids])).toEqual(wanted.map((ids, place) => [conditions[place], ids]));
    expect(wanted.some((ids) => ids.length > 0 && ids.length < rows.length)).toBe(true);
  });

  it('changes exactly the rows that a condition names', async () => {
    const table = `delta.\`${join(directory, 'changed')}\``;
    await sql(`CREATE TABLE ${table} (id INT, v INT) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')`);
    await sql(`INSERT INTO ${table} VALUES (1, 1), (2, 2), (3, 3)`);
    await sql(`ALTER TABLE ${table} ALTER COLUMN v TYPE DOUBLE`);
    await sql(`UPDATE ${table} SET id = id + 10 WHERE v < 2.5D`);
    await sql(`MERGE INTO ${table} t USING (SELECT 2.5D AS v) s ON t.v = s.v WHEN MATCHED THEN DELETE`);
    await sql(`DELETE FROM ${table} WHERE v = 1.5D`);
    expect(await sql(`SELECT * FROM ${table} ORDER BY v`)).toEqual([
      { id: 11, v: 1 },
      { id: 12, v: 2 },
      { id: 3, v: 3 },
    ]);
  });
});
