import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/bigint-json.ts';
import { parseCommit } from '../../../../src/delta/action-json.ts';
import type { Action } from '../../../../src/delta/actions.ts';
import { commitInfoOf } from '../../../../src/delta/delta-snapshot.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { WriteMode, WriteRequest, WriteResult } from '../../../../src/table/row-operations.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

let tables: LocalTables;
let made = 0;

beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(async () => {
  await tables.close();
});

const append: WriteMode = { kind: 'append' };
const overwrite: WriteMode = { kind: 'overwrite' };
const replaceWhere = (condition: string): WriteMode => ({ kind: 'overwrite', replaceWhere: parseExpression(condition) });

function create(columns: string, options: Parameters<LocalTables['create']>[2] = {}): Promise<DeltaTable> {
  made += 1;
  return tables.create(`t${made}`, columns, options);
}

async function write(table: DeltaTable, sql: string, request: Partial<WriteRequest> = {}): Promise<WriteResult> {
  return table.operations.write({ rows: await tables.query(sql), mode: append, ...request });
}

async function actionsOf(table: DeltaTable, version: number): Promise<readonly Action[]> {
  const path = commitPath(version);
  return parseCommit(await readFile(`${table.location}/${path}`), { file: path, root: '' }).actions;
}

async function infoOf(table: DeltaTable, version: number): Promise<JsonObject> {
  return commitInfoOf(await actionsOf(table, version))?.body ?? {};
}

async function dataFiles(table: DeltaTable): Promise<readonly string[]> {
  const found = await readdir(table.location, { recursive: true });
  return found.filter((path) => path.endsWith('.parquet') && !path.includes('_delta_log')).sort();
}

/** Change rows of a version as the feed gives them, as text, in order. */
async function changesOf(table: DeltaTable, version: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { kind, scan } of table.changeScans({ from: toVersion(version), until: toVersion(version) })) {
    const rows = await tables.engine.scan(scan);
    const type = kind === 'recorded' ? '' : `, '${kind}' AS _change_type`;
    for (const [text] of await tables.engine.rows(`SELECT CAST(to_json(r) AS VARCHAR) FROM (SELECT *${type} FROM (${rows.sql})) r`)) {
      found.push(String(text));
    }
    await rows.dispose();
  }
  return found.sort();
}

describe('append', () => {
  it('makes one version with one file for each partition, and says what it did as Spark does', async () => {
    const table = await create('id BIGINT, p STRING', { partitionBy: ['p'] });
    const result = await write(table, "SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'a b' END AS p FROM range(4) r(i)");
    const actions = await actionsOf(table, 1);
    const adds = actions.filter((action) => action.kind === 'add');
    expect(result).toEqual({ version: 1, rowCount: 4, fileCount: 2, sizeBytes: adds.reduce((sum, add) => sum + add.sizeBytes, 0) });
    expect(adds.map((add) => [add.path.replace(/part-.*$/, ''), add.partitionValues, add.stats]).sort()).toEqual([
      [
        'p=__HIVE_DEFAULT_PARTITION__/',
        { p: undefined },
        '{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":3},"nullCount":{"id":0}}',
      ],
      ['p=a%20b/', { p: 'a b' }, '{"numRecords":2,"minValues":{"id":0},"maxValues":{"id":2},"nullCount":{"id":0}}'],
    ]);
    expect(adds[0]?.path).toMatch(/part-00000-[0-9a-f-]{36}\.c000\.zstd\.parquet$/);
    expect(await infoOf(table, 1)).toMatchObject({
      operation: 'WRITE',
      operationParameters: { mode: 'Append', partitionBy: '[]' },
      operationMetrics: { numFiles: '2', numOutputRows: '4', numOutputBytes: String(result.sizeBytes) },
      readVersion: 0,
      isolationLevel: 'Serializable',
      isBlindAppend: true,
    });
    expect(await tables.rows(table)).toEqual(['{"id":0,"p":"a b"}', '{"id":1,"p":null}', '{"id":2,"p":"a b"}', '{"id":3,"p":null}']);
  });

  it('takes missing columns as null and matches names ignoring case', async () => {
    const table = await create('id BIGINT, v STRING');
    await write(table, 'SELECT CAST(1 AS BIGINT) AS "ID"');
    expect(await tables.rows(table)).toEqual(['{"id":1,"v":null}']);
  });

  it('commits nothing for no rows', async () => {
    const table = await create('id BIGINT');
    expect(await write(table, 'SELECT CAST(1 AS BIGINT) AS id WHERE false')).toMatchObject({ version: undefined, rowCount: 0 });
    expect((await table.refresh()).version).toBe(0);
  });

  it('refuses a column the table lacks, with both schemas in the words of old, and leaves the table as it is', async () => {
    const table = await create('id INT, s STRUCT<a: INT>');
    const refused = write(table, "SELECT 1 AS id, {'a': 1} AS s, true AS flag");
    const { tableId } = await table.refresh();
    await expect(refused).rejects.toMatchObject({
      errorClass: 'DELTA_METADATA_MISMATCH',
      alias: '_LEGACY_ERROR_TEMP_DELTA_0007',
      message: [
        `A schema mismatch detected when writing to the Delta table (Table ID: ${tableId}).`,
        'To enable schema migration using DataFrameWriter or DataStreamWriter, please set:',
        `'.option("mergeSchema", "true")'.`,
        'For other operations, set the session configuration',
        'spark.databricks.delta.schema.autoMerge.enabled to "true". See the documentation',
        'specific to the operation for details.',
        '',
        'Table schema:',
        'root',
        '-- id: integer (nullable = true)',
        '-- s: struct (nullable = true)',
        '    |-- a: integer (nullable = true)',
        '',
        '',
        'Data schema:',
        'root',
        '-- id: integer (nullable = true)',
        '-- s: struct (nullable = true)',
        '    |-- a: integer (nullable = true)',
        '-- flag: boolean (nullable = true)',
        '',
      ].join('\n'),
    });
    expect((await table.refresh()).version).toBe(0);
    expect(await dataFiles(table)).toEqual([]);
  });

  it('takes overwriteSchema without effect', async () => {
    const table = await create('id INT');
    await expect(write(table, 'SELECT 1 AS id, 2 AS more', { overwriteSchema: true })).rejects.toMatchObject({
      errorClass: 'DELTA_METADATA_MISMATCH',
    });
  });

  it('refuses another type and another partitioning', async () => {
    const table = await create('id INT, p STRING', { partitionBy: ['p'] });
    await expect(write(table, "SELECT 'x' AS id, 'p' AS p")).rejects.toMatchObject({
      errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS',
      sqlState: '22005',
      message: "Failed to merge fields 'id' and 'id'",
    });
    await expect(write(table, "SELECT 1 AS id, 'p' AS p", { partitionBy: ['id'] })).rejects.toMatchObject({
      errorClass: 'DELTA_METADATA_MISMATCH',
      message: 'Partition columns do not match the partition columns of the table.\nGiven: [`id`]\nTable: [`p`]\n',
    });
  });

  it('refuses the columns of the change feed where the table has one', async () => {
    const table = await create('id INT', { properties: { 'delta.enableChangeDataFeed': 'true' } });
    await expect(write(table, "SELECT 1 AS id, 'insert' AS _change_type", { mergeSchema: true })).rejects.toMatchObject({
      errorClass: 'RESERVED_CDC_COLUMNS_ON_WRITE',
      sqlState: '42939',
    });
  });

  it('writes once for an application and a version', async () => {
    const table = await create('id INT');
    const idempotency = { appId: 'loader', version: 7n };
    expect(await write(table, 'SELECT 1 AS id', { idempotency })).toMatchObject({ version: 1 });
    expect(await write(table, 'SELECT 1 AS id', { idempotency })).toMatchObject({ version: undefined });
    expect(await write(table, 'SELECT 1 AS id', { idempotency: { ...idempotency, version: 6n } })).toMatchObject({ version: undefined });
    expect(await write(table, 'SELECT 2 AS id', { idempotency: { ...idempotency, version: 8n } })).toMatchObject({ version: 2 });
    expect(await tables.rows(table)).toEqual(['{"id":1}', '{"id":2}']);
    expect((await actionsOf(table, 2)).find((action) => action.kind === 'txn')).toMatchObject({ appId: 'loader', version: 8n });
  });

  it('names a stream’s batch in the history', async () => {
    const table = await create('id INT');
    const idempotency = { appId: 'query-1', version: 3n };
    await write(table, 'SELECT 1 AS id', { idempotency, operation: 'STREAMING UPDATE', userMetadata: 'note' });
    expect(await infoOf(table, 1)).toMatchObject({
      operation: 'STREAMING UPDATE',
      operationParameters: { outputMode: 'Append', queryId: 'query-1', epochId: '3' },
      operationMetrics: { numAddedFiles: '1', numRemovedFiles: '0', numOutputRows: '1' },
      userMetadata: 'note',
    });
  });
});

describe('schema evolution', () => {
  it('adds columns and members at the end and leaves old rows null', async () => {
    const table = await create('id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<a: INT>>');
    await write(table, "SELECT 1 AS id, {'a': 1} AS s, [{'a': 1}] AS l");
    await write(table, "SELECT 2 AS id, {'b': 'x', 'a': 2} AS s, [{'a': 2, 'c': true}] AS l, DATE '2024-01-01' AS d", {
      mergeSchema: true,
    });
    expect(await tables.rows(table)).toEqual([
      '{"id":1,"s":{"a":1,"b":null},"l":[{"a":1,"c":null}],"d":null}',
      '{"id":2,"s":{"a":2,"b":"x"},"l":[{"a":2,"c":true}],"d":"2024-01-01"}',
    ]);
    expect(await infoOf(table, 2)).toMatchObject({ operationParameters: { canMergeSchema: true }, isBlindAppend: true });
    await write(table, 'SELECT 3 AS id');
    expect((await actionsOf(table, 3)).map((action) => action.kind)).toEqual(['commitInfo', 'add']);
  });

  it('replaces schema and partitioning with the rows when told to, and keeps the table what it is', async () => {
    const table = await create('id INT, p STRING', { partitionBy: ['p'] });
    await write(table, "SELECT 1 AS id, 'x' AS p");
    const { tableId } = await table.refresh();
    await expect(write(table, 'SELECT 2.5 AS other', { mode: overwrite })).rejects.toMatchObject({
      message: expect.stringContaining('To overwrite your schema or change partitioning, please set:') as string,
    });
    await write(table, "SELECT 'y' AS q, 2::DOUBLE AS other", { mode: overwrite, overwriteSchema: true, partitionBy: ['q'] });
    expect(await tables.rows(table)).toEqual(['{"q":"y","other":2.0}']);
    const snapshot = await table.refresh();
    expect([snapshot.tableId, snapshot.partitionColumns, snapshot.fileCount]).toEqual([tableId, ['q'], 1]);
    expect(await infoOf(table, 2)).toMatchObject({
      operationParameters: { mode: 'Overwrite', partitionBy: '["q"]', canOverwriteSchema: true },
      operationMetrics: { numRemovedFiles: '1' },
      isBlindAppend: false,
    });
    expect(await tables.rows(table, toVersion(1))).toEqual(['{"id":1,"p":"x"}']);
  });

  it('widens types with mergeSchema where the table allows it', async () => {
    const plain = await create('n INT');
    await expect(write(plain, 'SELECT CAST(1 AS BIGINT) AS n', { mergeSchema: true })).rejects.toMatchObject({
      errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS',
    });
    const table = await create('n INT, f FLOAT, l ARRAY<INT>', { properties: { 'delta.enableTypeWidening': 'true' } });
    await write(table, 'SELECT 1 AS n, 0.5::FLOAT AS f, [1]::INT[] AS l');
    await write(table, 'SELECT 5000000000 AS n, 0.1::DOUBLE AS f, [5000000000] AS l', { mergeSchema: true });
    expect(await tables.rows(table)).toEqual(['{"n":1,"f":0.5,"l":[1]}', '{"n":5000000000,"f":0.1,"l":[5000000000]}']);
    expect((await table.refresh()).schema.fields.map((field) => field.metadata?.['delta.typeChanges'])).toEqual([
      [{ toType: 'long', fromType: 'integer' }],
      [{ toType: 'double', fromType: 'float' }],
      [{ toType: 'long', fromType: 'integer', fieldPath: 'element' }],
    ]);
  });

  it('gives columns added to a mapped table names and ids of their own', async () => {
    const table = await create('id INT, `a b` STRING', { properties: { 'delta.columnMapping.mode': 'name' }, partitionBy: ['a b'] });
    await write(table, 'SELECT 1 AS id, \'x\' AS "a b", 5 AS "new one"', { mergeSchema: true });
    await write(table, 'SELECT 2 AS id, \'y\' AS "a b", 6 AS "new one"');
    expect(await tables.rows(table)).toEqual(['{"id":1,"a b":"x","new one":5}', '{"id":2,"a b":"y","new one":6}']);
    const { schema, properties } = await table.refresh();
    expect(schema.fields.map((field) => field.metadata?.['delta.columnMapping.id'])).toEqual([1, 2, 3]);
    expect(properties['delta.columnMapping.maxColumnId']).toBe('3');
    const [add] = (await actionsOf(table, 2)).filter((action) => action.kind === 'add');
    const physical = schema.fields.map((field) => String(field.metadata?.['delta.columnMapping.physicalName']));
    expect(add?.partitionValues).toEqual({ [physical[1] ?? '']: 'y' });
    expect(add?.stats).toContain(`"${physical[0] ?? ''}":2`);
  });
});

describe('overwrite', () => {
  it('removes every row and adds the new ones in one version', async () => {
    const table = await create('id INT', { properties: { 'delta.enableChangeDataFeed': 'true' } });
    await write(table, 'SELECT 1 AS id');
    await write(table, 'SELECT 2 AS id');
    await write(table, 'SELECT 3 AS id', { mode: overwrite });
    expect(await tables.rows(table)).toEqual(['{"id":3}']);
    expect(await infoOf(table, 3)).toMatchObject({
      operationParameters: { mode: 'Overwrite', partitionBy: '[]' },
      operationMetrics: { numFiles: '1', numRemovedFiles: '2', numOutputRows: '1' },
    });
    const removes = (await actionsOf(table, 3)).filter((action) => action.kind === 'remove');
    expect(removes).toMatchObject([
      { dataChange: true, extendedFileMetadata: true, partitionValues: {} },
      { dataChange: true, extendedFileMetadata: true, partitionValues: {} },
    ]);
    expect(await changesOf(table, 3)).toEqual([
      '{"id":1,"_change_type":"delete"}',
      '{"id":2,"_change_type":"delete"}',
      '{"id":3,"_change_type":"insert"}',
    ]);
  });

  it('is refused where rows may only be added', async () => {
    const table = await create('id INT', { properties: { 'delta.appendOnly': 'true' } });
    await write(table, 'SELECT 1 AS id');
    await expect(write(table, 'SELECT 2 AS id', { mode: overwrite })).rejects.toMatchObject({
      errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY',
      sqlState: '42809',
    });
  });

  it('replaces the partitions that the rows have, whatever their values are spelled like', async () => {
    const table = await create('id INT, p STRING, at TIMESTAMP', { partitionBy: ['p', 'at'] });
    const at = "TIMESTAMPTZ '2024-01-01 10:00:00+00'";
    await write(table, `SELECT 1 AS id, 'a' AS p, ${at} AS at UNION ALL SELECT 2, 'b', ${at} UNION ALL SELECT 3, NULL, ${at}`);
    await write(table, `SELECT 10 AS id, 'a' AS p, ${at} AS at UNION ALL SELECT 30, NULL, ${at} UNION ALL SELECT 40, 'd', NULL`, {
      mode: { kind: 'overwrite-partitions' },
    });
    expect((await tables.rows(table)).map((row) => row.slice(0, row.indexOf(',"at"')))).toEqual([
      '{"id":10,"p":"a"',
      '{"id":2,"p":"b"',
      '{"id":30,"p":null',
      '{"id":40,"p":"d"',
    ]);
    expect(await infoOf(table, 2)).toMatchObject({
      operationParameters: { mode: 'Overwrite', partitionBy: '[]', isDynamicPartitionOverwrite: true },
      operationMetrics: { numFiles: '3', numRemovedFiles: '2' },
    });
    expect(
      await write(table, `SELECT 1 AS id, 'a' AS p, ${at} AS at WHERE false`, { mode: { kind: 'overwrite-partitions' } }),
    ).toMatchObject({
      version: undefined,
    });
  });
});

describe('replaceWhere', () => {
  it('takes whole partitions without reading them', async () => {
    const table = await create('id INT, p STRING', { partitionBy: ['p'] });
    await write(table, "SELECT 1 AS id, 'a' AS p UNION ALL SELECT 2, 'b' UNION ALL SELECT 3, 'b'");
    await write(table, "SELECT 20 AS id, 'b' AS p", { mode: replaceWhere("p = 'b'") });
    expect(await tables.rows(table)).toEqual(['{"id":1,"p":"a"}', '{"id":20,"p":"b"}']);
    expect(await infoOf(table, 2)).toMatchObject({
      operationParameters: { mode: 'Overwrite', partitionBy: '[]', predicate: "p = 'b'" },
      operationMetrics: {
        numFiles: '1',
        numRemovedFiles: '1',
        numCopiedRows: '0',
        numAddedChangeFiles: '0',
        numDeletedRows: '2',
        numOutputRows: '1',
      },
    });
  });

  it('refuses rows outside the condition', async () => {
    const table = await create('id INT, p STRING', { partitionBy: ['p'] });
    await write(table, "SELECT 1 AS id, 'b' AS p");
    const message =
      "Written data does not conform to partial table overwrite condition or constraint 'p = 'b''.\n" +
      "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint EXPRESSION((p = 'b')) (p = 'b') violated by row with values:\n - p : z";
    await expect(write(table, "SELECT 1 AS id, 'z' AS p", { mode: replaceWhere("p = 'b'") })).rejects.toMatchObject({
      errorClass: 'DELTA_REPLACE_WHERE_MISMATCH',
      sqlState: '44000',
      message,
    });
    expect((await table.refresh()).version).toBe(1);
  });

  it('rewrites files of which some rows go, and records every change when the table has a feed', async () => {
    const table = await create('id INT, v INT', { properties: { 'delta.enableChangeDataFeed': 'true' } });
    await write(table, 'SELECT i::INT AS id, (i * 10)::INT AS v FROM range(4) r(i)');
    await write(table, 'SELECT i::INT AS id, (i * 10)::INT AS v FROM range(4, 6) r(i)');
    await write(table, 'SELECT 9 AS id, 25 AS v', { mode: replaceWhere('v >= 20 and v < 30') });
    expect(await tables.rows(table)).toEqual([
      '{"id":0,"v":0}',
      '{"id":1,"v":10}',
      '{"id":3,"v":30}',
      '{"id":4,"v":40}',
      '{"id":5,"v":50}',
      '{"id":9,"v":25}',
    ]);
    expect(await infoOf(table, 3)).toMatchObject({
      operationMetrics: { numCopiedRows: '3', numDeletedRows: '1', numRemovedFiles: '1', numAddedChangeFiles: '1', numOutputRows: '1' },
    });
    expect(await changesOf(table, 3)).toEqual(['{"id":2,"v":20,"_change_type":"delete"}', '{"id":9,"v":25,"_change_type":"insert"}']);
  });

  it('keeps rows for which the condition is neither true nor false', async () => {
    const table = await create('id INT, v INT');
    await write(table, 'SELECT 1 AS id, 5 AS v UNION ALL SELECT 2, NULL');
    await write(table, 'SELECT 3 AS id, 6 AS v', { mode: replaceWhere('v > 0') });
    expect(await tables.rows(table)).toEqual(['{"id":2,"v":null}', '{"id":3,"v":6}']);
  });
});

describe('after the commit', () => {
  it('the log gets its checkpoint when it is due', async () => {
    const table = await create('id INT', { properties: { 'delta.checkpointInterval': '2' } });
    for (let id = 0; id < 2; id += 1) await write(table, `SELECT ${id} AS id`);
    expect(await readdir(`${table.location}/_delta_log`)).toContain('00000000000000000002.checkpoint.parquet');
  });

  it('many small files are compacted where the table or the write asks for it', async () => {
    const table = await create('id INT', { properties: { 'delta.autoOptimize.autoCompact': 'true' } });
    for (let id = 0; id < 49; id += 1) await write(table, `SELECT ${id} AS id`);
    expect(await write(table, 'SELECT 49 AS id', { autoCompact: { enabled: false } })).toMatchObject({ version: 50 });
    expect((await table.refresh()).fileCount).toBe(50);
    expect(await write(table, 'SELECT 50 AS id')).toMatchObject({ version: 51 });
    const snapshot = await table.refresh();
    expect([snapshot.version, snapshot.fileCount]).toEqual([52, 1]);
    expect(await infoOf(table, 52)).toMatchObject({ operation: 'OPTIMIZE', operationParameters: { auto: true } });
  }, 60_000);
});

describe('a write that fails', () => {
  it('leaves no file behind', async () => {
    const table = await create('id INT NOT NULL, p STRING', { partitionBy: ['p'] });
    await expect(write(table, "SELECT CASE WHEN i < 3 THEN i::INT END AS id, 'x' AS p FROM range(4) r(i)")).rejects.toMatchObject({
      errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
      sqlState: '23502',
      message: 'NOT NULL constraint violated for column: id.',
    });
    expect(await dataFiles(table)).toEqual([]);
  });

  it('leaves no file behind when it is cancelled or its rows cannot be computed', async () => {
    const table = await create('id INT');
    await expect(write(table, 'SELECT 1 AS id', { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
    await expect(
      write(table, "SELECT CASE WHEN i = 300000 THEN error('boom') ELSE i END::INT AS id FROM range(400000) r(i)"),
    ).rejects.toThrow();
    expect(await dataFiles(table)).toEqual([]);
    expect((await table.refresh()).version).toBe(0);
  });
});
