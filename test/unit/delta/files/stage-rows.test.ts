import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCommit } from '../../../../src/delta/action-json.ts';
import type { AddFile } from '../../../../src/delta/actions.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { parseDataType } from '../../../../src/expr/parse/parse-type.ts';
import { typeSql } from '../../../../src/expr/sql/engine-sql.ts';
import { LocalTables } from '../../../support/local-tables.ts';

let tables: LocalTables;
let made = 0;

beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(async () => {
  await tables.close();
});

function create(columns: string, options: Parameters<LocalTables['create']>[2] = {}): Promise<DeltaTable> {
  made += 1;
  return tables.create(`t${made}`, columns, options);
}

async function addsOf(table: DeltaTable, version: number): Promise<readonly AddFile[]> {
  const path = commitPath(version);
  const { actions } = parseCommit(await readFile(join(table.location, path)), { file: path, root: '' });
  return actions.filter((action) => action.kind === 'add');
}

describe('partition values', () => {
  const cases: readonly (readonly [type: string, sql: string, text: string | undefined])[] = [
    ['STRING', "'a/b'", 'a/b'],
    ['STRING', "'50% ü+#=:*?'", '50% ü+#=:*?'],
    ['STRING', "'line' || chr(10) || 'two'", 'line\ntwo'],
    ['STRING', "'__HIVE_DEFAULT_PARTITION__'", '__HIVE_DEFAULT_PARTITION__'],
    ['STRING', "repeat('é', 300)", 'é'.repeat(300)],
    ['STRING', "''", undefined],
    ['STRING', 'NULL', undefined],
    ['INT', '-7', '-7'],
    ['BIGINT', '9223372036854775807', '9223372036854775807'],
    ['BOOLEAN', 'true', 'true'],
    ['DECIMAL(38,18)', '12', '12.000000000000000000'],
    ['DECIMAL(10,2)', '-0.5', '-0.50'],
    ['DOUBLE', '1.5', '1.5'],
    ['DOUBLE', "'nan'::DOUBLE", 'NaN'],
    ['DOUBLE', "'-inf'::DOUBLE", '-Infinity'],
    ['FLOAT', '0.1::FLOAT', '0.1'],
    ['DATE', "DATE '0001-01-01'", '0001-01-01'],
    ['DATE', "DATE '9999-12-31'", '9999-12-31'],
    ['TIMESTAMP', "TIMESTAMPTZ '2024-02-29 12:34:56.000001+00'", '2024-02-29T12:34:56.000001Z'],
    ['TIMESTAMP', "TIMESTAMPTZ '0001-01-01 00:00:00+00'", '0001-01-01T00:00:00.000000Z'],
    ['TIMESTAMP_NTZ', "TIMESTAMP '2024-02-29 12:34:56'", '2024-02-29 12:34:56'],
    ['TIMESTAMP_NTZ', "TIMESTAMP '2024-02-29 12:34:56.1'", '2024-02-29 12:34:56.100000'],
  ];

  it.each(cases)('of type %s are spelled exactly and read back: %s', async (type, sql, text) => {
    const table = await create(`id INT, p ${type}`, { partitionBy: ['p'] });
    await tables.append(table, `SELECT 1 AS id, ${sql} AS p`);
    const [add] = await addsOf(table, 1);
    expect(add?.partitionValues).toEqual({ p: text });
    const given = `CAST(nullif(${sql}, ${type === 'STRING' ? "''" : 'NULL'}) AS ${typeSql(parseDataType(type))})`;
    const scan = await tables.engine.scan(await table.scan(await table.refresh()));
    const found = await tables.engine.rows(`SELECT CAST(p AS VARCHAR) FROM (${scan.sql})`);
    await scan.dispose();
    expect(found).toEqual(await tables.engine.rows(`SELECT CAST(${given} AS VARCHAR)`));
  });

  it('divide rows by all partition columns in their order', async () => {
    const table = await create('a INT, v STRING, b STRING', { partitionBy: ['b', 'a'] });
    await tables.append(table, "SELECT 1 AS a, 'v' AS v, 'x' AS b UNION ALL SELECT 2, 'v', 'x' UNION ALL SELECT 1, 'w', 'x'");
    const adds = await addsOf(table, 1);
    expect(adds.map((add) => add.storedPath.replace(/part-.*/, '')).sort()).toEqual(['b=x/a=1/', 'b=x/a=2/']);
    expect(adds[0]?.stats).toContain('"nullCount":{"v":0}');
  });
});

describe('statistics', () => {
  it('are those of the first columns from the left, as many as the table says', async () => {
    const table = await create('a INT, s STRUCT<b: INT, c: INT>, d INT', { properties: { 'delta.dataSkippingNumIndexedCols': '2' } });
    await tables.append(table, "SELECT 1 AS a, {'b': 2, 'c': 3} AS s, 4 AS d");
    expect((await addsOf(table, 1))[0]?.stats).toBe(
      '{"numRecords":1,"minValues":{"a":1,"s":{"b":2}},"maxValues":{"a":1,"s":{"b":2}},"nullCount":{"a":0,"s":{"b":0}}}',
    );
  });

  it('are those of the columns the table names', async () => {
    const table = await create('a INT, s STRUCT<b: INT, c: INT>, d INT', { properties: { 'delta.dataSkippingStatsColumns': 'S.c, `d`' } });
    await tables.append(table, "SELECT 1 AS a, {'b': 2, 'c': 3} AS s, 4 AS d");
    expect((await addsOf(table, 1))[0]?.stats).toBe(
      '{"numRecords":1,"minValues":{"s":{"c":3},"d":4},"maxValues":{"s":{"c":3},"d":4},"nullCount":{"s":{"c":0},"d":0}}',
    );
  });

  it('are those of clustering columns wherever they stand', async () => {
    const table = await create('a INT, b INT, c INT', { properties: { 'delta.dataSkippingNumIndexedCols': '1' } });
    await table.operations.alter({ kind: 'cluster-by', columns: [['c']] });
    await tables.append(table, 'SELECT 1 AS a, 2 AS b, 3 AS c');
    expect((await addsOf(table, 2))[0]?.stats).toContain('"nullCount":{"a":0,"c":0}');
  });

  it('are marked exact where deletion vectors may come', async () => {
    const table = await create('a INT', { properties: { 'delta.enableDeletionVectors': 'true' } });
    await tables.append(table, 'SELECT 1 AS a');
    expect((await addsOf(table, 1))[0]?.stats).toContain('"tightBounds":true');
  });

  it('have bounds that hold for long texts, and none where a NaN takes part', async () => {
    const table = await create('s STRING, f DOUBLE, t TIMESTAMP');
    const values = "SELECT repeat('z', 100) AS s, 'nan'::DOUBLE AS f, TIMESTAMPTZ '2024-01-01 00:00:00.000001+00' AS t";
    await tables.append(table, `${values} UNION ALL SELECT 'a', 1, TIMESTAMPTZ '2024-01-01 00:00:00.000001+00'`);
    const stats = (await addsOf(table, 1))[0]?.stats ?? '';
    expect(stats).toContain('"minValues":{"s":"a","t":"2024-01-01T00:00:00.000Z"}');
    expect(stats).toContain(`"maxValues":{"s":"${'z'.repeat(32)}\u007f","t":"2024-01-01T00:00:00.001Z"}`);
  });
});

describe('files of a table that maps columns', () => {
  it('hold physical names and field ids', async () => {
    const table = await create('id INT, s STRUCT<a: INT>', { properties: { 'delta.columnMapping.mode': 'id' } });
    await tables.append(table, "SELECT 1 AS id, {'a': 2} AS s");
    const [add] = await addsOf(table, 1);
    const path = join(table.location, add?.storedPath ?? '').replaceAll("'", "''");
    const stored = await tables.engine.rows(
      `SELECT name, field_id FROM parquet_schema('${path}') WHERE field_id IS NOT NULL ORDER BY field_id`,
    );
    const names = (await table.refresh()).schema.fields.map((field) => field.metadata?.['delta.columnMapping.physicalName']);
    expect(stored.map(([, id]) => Number(id))).toEqual([1, 2, 3]);
    expect([stored[0]?.[0], stored[1]?.[0]]).toEqual(names);
    expect(await tables.rows(table)).toEqual(['{"id":1,"s":{"a":2}}']);
  });
});

describe('codecs', () => {
  it.each([
    ['snappy', '.c000.snappy.parquet'],
    ['gzip', '.c000.gz.parquet'],
    ['uncompressed', '.c000.parquet'],
    ['lz4_raw', '.c000.lz4raw.parquet'],
  ])('%s is what the table asks for and the file name says', async (codec, suffix) => {
    const table = await create('a INT', { properties: { 'delta.parquet.compression.codec': codec } });
    await tables.append(table, 'SELECT 1 AS a');
    expect((await addsOf(table, 1))[0]?.storedPath.endsWith(suffix)).toBe(true);
    expect(await tables.rows(table)).toEqual(['{"a":1}']);
  });
});
