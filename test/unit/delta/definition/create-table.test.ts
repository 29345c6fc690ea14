import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { asDeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { DuckdbEngine } from '../../../../src/engine/duckdb-engine.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalObjectStore } from '../../../../src/storage/local-object-store.ts';
import type { Relation } from '../../../../src/table/relation.ts';
import type { QueryableTable } from '../../../../src/table/table.ts';
import type { CreateRequest } from '../../../../src/table/table-formats.ts';
import { DefinitionBench, definitionOf, fieldOf, protocolOf, structOf, text } from './definition-bench.ts';

const schema = structOf(fieldOf('id'), fieldOf('v', text));
const rows: Relation = { sql: "SELECT * FROM (VALUES (1::BIGINT, 'a'), (2, 'b'), (3, NULL)) t(id, v)", schema };
const refused = (errorClass: string): Error => expect.objectContaining({ name: 'AnalysisException', errorClass }) as Error;

function requestOf(more: Partial<CreateRequest> = {}): CreateRequest {
  return { name: 't', location: 'memory://t', definition: definitionOf(schema), mode: 'create', ...more };
}

describe('CREATE TABLE', () => {
  it('makes version 0 with what the history shows', async () => {
    const bench = new DefinitionBench();
    const properties = { 'DELTA.enableChangeDataFeed': 'true' };
    await bench.create(definitionOf(schema, properties, ['V']), { comment: 'ours', managed: true });
    const { info, actions } = await bench.commit(0);
    expect(info).toMatchObject({
      operation: 'CREATE TABLE',
      operationParameters: {
        partitionBy: '["v"]',
        clusterBy: '[]',
        description: 'ours',
        isManaged: 'true',
        properties: '{"delta.enableChangeDataFeed":"true"}',
      },
      isolationLevel: 'Serializable',
      isBlindAppend: true,
      operationMetrics: {},
    });
    expect(info).not.toHaveProperty('readVersion');
    expect(actions.map((action) => action.kind).toSorted()).toEqual(['metaData', 'protocol']);
  });

  it('gives the first version its own time where the table has such times', async () => {
    const bench = new DefinitionBench();
    const table = await bench.create(definitionOf(schema, { 'delta.enableInCommitTimestamps': 'true' }));
    const { info } = await bench.commit(0);
    expect(info['inCommitTimestamp']).toBe(bench.clock.now());
    expect((await table.refresh()).properties).toEqual({ 'delta.enableInCommitTimestamps': 'true' });
  });

  it.each<[string, Partial<CreateRequest>]>([
    ['DELTA_TABLE_ALREADY_EXISTS', {}],
    ['DELTA_PATH_EXISTS', { rows }],
    ['DELTA_CREATE_TABLE_SCHEME_MISMATCH', { mode: 'create-if-absent', definition: definitionOf(structOf(fieldOf('x'))) }],
    ['DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING', { takeOver: true, definition: definitionOf(schema, {}, ['v']) }],
    ['DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY', { takeOver: true, definition: definitionOf(schema, { 'delta.appendOnly': 'true' }) }],
  ])('refuses a place that is taken with %s', async (errorClass, more) => {
    const bench = new DefinitionBench();
    await bench.create(definitionOf(schema));
    await expect(bench.tables.createTable(requestOf(more))).rejects.toThrow(refused(errorClass));
  });

  it('leaves a table that is there as it is, when that is what was asked for', async () => {
    const bench = new DefinitionBench();
    await bench.create(definitionOf(schema));
    const nothing = definitionOf(structOf());
    for (const more of [{ mode: 'create-if-absent' }, { takeOver: true }, { takeOver: true, definition: nothing }] as const) {
      const { created, table } = await bench.tables.createTable(requestOf(more));
      expect([created, (await table.refresh()).version]).toEqual([false, 0]);
    }
  });

  it('has one winner among racing creators; the others hear of the table', async () => {
    const bench = new DefinitionBench();
    const racers = [1, 2, 3].map(() => bench.tables.createTable(requestOf({ mode: 'create-if-absent' })));
    const created = (await Promise.all(racers)).map((result) => result.created);
    expect(created.toSorted()).toEqual([false, false, true]);
  });

  it('refuses to replace what is not there', async () => {
    await expect(new DefinitionBench().tables.createTable(requestOf({ mode: 'replace' }))).rejects.toThrow(
      refused('TABLE_OR_VIEW_NOT_FOUND'),
    );
  });

  it('replaces definition and files, and keeps identity, history, protocol and column ids', async () => {
    const bench = new DefinitionBench();
    const first = await bench.create(definitionOf(schema, { 'delta.columnMapping.mode': 'name', 'delta.enableRowTracking': 'true' }));
    const before = asDeltaSnapshot(await first.refresh());
    const { table } = await bench.tables.createTable(
      requestOf({
        mode: 'create-or-replace',
        definition: definitionOf(structOf(fieldOf('other')), { 'delta.columnMapping.mode': 'name' }),
      }),
    );
    const after = asDeltaSnapshot(await table.refresh());
    expect([after.version, after.tableId, after.protocol]).toEqual([1, before.tableId, before.protocol]);
    expect(after.schema.fields).toMatchObject([{ name: 'other', metadata: { 'delta.columnMapping.id': 3 } }]);
    expect(after.properties).toEqual({ 'delta.columnMapping.mode': 'name', 'delta.columnMapping.maxColumnId': '3' });
    const { info, actions } = await bench.commit(1);
    expect(info).toMatchObject({ operation: 'CREATE OR REPLACE TABLE', readVersion: 0, isBlindAppend: false });
    expect(protocolOf(actions)).toBeUndefined();
  });
});

describe('CREATE TABLE … AS SELECT', () => {
  let engine: DuckdbEngine;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'create-table-'));
    const ids = new RandomIdSource(new SeededRandom(9));
    engine = await DuckdbEngine.open({ memoryLimitBytes: 256 * 2 ** 20, threads: 1, temporaryDirectory: directory, ids });
  });

  afterAll(async () => {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  });

  function benchAt(folder: string): DefinitionBench {
    const store = new LocalObjectStore({ directory: join(directory, folder), ids: new RandomIdSource(new SeededRandom(8)) });
    return new DefinitionBench({ store, engine: () => Promise.resolve(engine) });
  }

  async function rowsOf(table: QueryableTable): Promise<readonly (readonly unknown[])[]> {
    const held = await engine.scan(await table.scan(await table.refresh()));
    const found = await engine.rows(`${held.sql} ORDER BY ALL`);
    await held.dispose();
    return found;
  }

  it('writes the rows with version 0', async () => {
    const bench = benchAt('ctas');
    const { table, written } = await bench.tables.createTable(requestOf({ rows, definition: definitionOf(schema, {}, ['v']) }));
    expect(written).toMatchObject({ version: 0, rowCount: 3, fileCount: 3 });
    expect(await rowsOf(table)).toEqual([
      [1n, 'a'],
      [2n, 'b'],
      [3n, null],
    ]);
    expect((await bench.commit(0)).info).toMatchObject({
      operation: 'CREATE TABLE AS SELECT',
      operationMetrics: { numFiles: '3', numOutputRows: '3', numOutputBytes: String(written?.sizeBytes) },
    });
  });

  it('replaces the rows of a table that is there, in one version', async () => {
    const bench = benchAt('replace');
    await bench.tables.createTable(requestOf({ rows }));
    const fewer: Relation = { sql: 'SELECT 7::BIGINT AS only', schema: structOf(fieldOf('only')) };
    const { table } = await bench.tables.createTable(
      requestOf({ mode: 'create-or-replace', rows: fewer, definition: definitionOf(fewer.schema) }),
    );
    expect(await rowsOf(table)).toEqual([[7n]]);
    const { info } = await bench.commit(1);
    expect(info).toMatchObject({
      operation: 'CREATE OR REPLACE TABLE AS SELECT',
      operationMetrics: { numRemovedFiles: '1', numFiles: '1' },
    });
  });

  it('is a WRITE to the history when a DataFrame is saved to a path', async () => {
    const bench = benchAt('saved');
    await bench.tables.createTable(requestOf({ rows, savedAs: 'Overwrite' }));
    expect((await bench.commit(0)).info).toMatchObject({
      operation: 'WRITE',
      operationParameters: { mode: 'Overwrite', partitionBy: '[]' },
    });
  });

  it('writes once what carries a mark', async () => {
    const bench = benchAt('once');
    const idempotency = { appId: 'app', version: 3n };
    const request = requestOf({ mode: 'create-or-replace', rows, idempotency });
    await bench.tables.createTable(request);
    const again = await bench.tables.createTable(request);
    expect([again.created, again.written?.version, (await again.table.refresh()).version]).toEqual([false, undefined, 0]);
  });

  it('checks the rows that are there before it adds a constraint, and counts those that break it', async () => {
    const bench = benchAt('constraint');
    const { table } = await bench.tables.createTable(requestOf({ rows }));
    const add = (name: string, condition: string): Promise<unknown> =>
      table.operations.alter({ kind: 'add-constraint', name, condition: parseExpression(condition), text: condition });
    await expect(add('c', "v < 'b'")).rejects.toThrow(
      expect.objectContaining({
        errorClass: 'DELTA_NEW_CHECK_CONSTRAINT_VIOLATION',
        sqlState: '23512',
        message: "2 rows in t violate the new CHECK constraint (v < 'b')",
      }) as Error,
    );
    await expect(add('c', 'nope > 0')).rejects.toThrow(refused('UNRESOLVED_COLUMN.WITH_SUGGESTION'));
    expect(await add('Positive', 'id > 0')).toBe(1);
    const snapshot = asDeltaSnapshot(await table.refresh());
    expect(snapshot.properties).toEqual({ 'delta.constraints.positive': 'id > 0' });
    expect(snapshot.protocol).toEqual({ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 3 });
    expect((await bench.commit(1)).info).toMatchObject({
      operation: 'ADD CONSTRAINT',
      operationParameters: { name: 'Positive', expr: 'id > 0' },
      isBlindAppend: false,
    });
    await expect(add('POSITIVE', 'id > 1')).rejects.toThrow(refused('DELTA_CONSTRAINT_ALREADY_EXISTS'));
    await table.operations.alter({ kind: 'drop-constraint', name: 'positive', ifExists: false });
    expect((await bench.commit(2)).info).toMatchObject({
      operation: 'DROP CONSTRAINT',
      operationParameters: { name: 'positive', expr: 'id > 0', existed: 'true' },
    });
    expect(await table.operations.alter({ kind: 'drop-constraint', name: 'positive', ifExists: true })).toBeUndefined();
  });
});
