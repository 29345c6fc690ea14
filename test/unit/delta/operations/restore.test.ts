import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('restore', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  it('brings back rows, schema and properties of an older version as a version of its own, which readers of changes see', async () => {
    const table = await tables.create('back', 'id INT, s STRING', { properties: { 'delta.enableChangeDataFeed': 'true', note: 'old' } });
    await tables.append(table, "SELECT 1 AS id, 'a' AS s UNION ALL SELECT 2, 'b'");
    const before = await tables.rows(table);
    await tables.append(table, "SELECT 3 AS id, 'c' AS s");
    await table.operations.delete({ condition: parseExpression('id = 1') });
    await table.operations.alter({ kind: 'set-properties', properties: { note: 'new' } });
    await table.operations.alter({
      kind: 'add-columns',
      columns: [{ parent: [], field: { name: 'n', type: { kind: 'long' }, nullable: true } }],
    });
    const now = await table.refresh();
    const result = await table.operations.restore({ version: toVersion(1) });
    const restored = await table.refresh();
    expect(result).toMatchObject({
      version: now.version + 1,
      numOfFilesAfterRestore: restored.fileCount,
      tableSizeAfterRestore: restored.sizeBytes,
    });
    expect(await tables.rows(table)).toEqual(before);
    expect(restored.schema.fields.map((field) => field.name)).toEqual(['id', 's']);
    expect(restored.properties['note']).toBe('old');
    expect(restored.tableId).toBe(now.tableId);
    const actions = (await table.context.readCommit(restored.version))?.actions ?? [];
    expect(actions[0]).toMatchObject({
      body: {
        operation: 'RESTORE',
        operationParameters: { version: 1, timestamp: null },
        isBlindAppend: false,
        operationMetrics: {
          numRestoredFiles: String(result.numRestoredFiles),
          numRemovedFiles: String(result.numRemovedFiles),
          removedFilesSize: String(result.removedFilesSize),
          restoredFilesSize: String(result.restoredFilesSize),
          numOfFilesAfterRestore: String(restored.fileCount),
          tableSizeAfterRestore: String(restored.sizeBytes),
        },
      },
    });
    for (const action of actions) if (action.kind === 'add' || action.kind === 'remove') expect(action.dataChange).toBe(true);
  });

  it('commits nothing for the newest version', async () => {
    const table = await tables.create('same', 'id INT');
    await tables.append(table, 'SELECT 1 AS id');
    expect(await table.operations.restore({ version: toVersion(1) })).toMatchObject({
      version: 1,
      numRemovedFiles: 0,
      numRestoredFiles: 0,
    });
    expect((await table.refresh()).version).toBe(1);
  });

  it('never weakens the protocol', async () => {
    const table = await tables.create('protocol', 'id INT');
    await tables.append(table, 'SELECT 1 AS id');
    await table.operations.alter({ kind: 'set-properties', properties: { 'delta.enableDeletionVectors': 'true' } });
    const { protocol } = await table.refresh();
    await table.operations.restore({ version: toVersion(0) });
    const restored = await table.refresh();
    expect(restored.protocol).toEqual(protocol);
    expect([restored.fileCount, restored.properties['delta.enableDeletionVectors']]).toEqual([0, undefined]);
  });

  it('refuses unknown versions, and versions whose files are gone unless it may', async () => {
    const table = await tables.create('gone', 'id INT');
    await tables.append(table, 'SELECT 1 AS id');
    await tables.append(table, 'SELECT 2 AS id');
    const [file] = [...(await table.snapshotAt(toVersion(1))).files()];
    await table.operations.truncate();
    await expect(table.operations.restore({ version: toVersion(77) })).rejects.toMatchObject({
      errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION',
      sqlState: '22003',
      message: 'Cannot restore table to version 77. Available versions: [0, 3].',
    });
    await rm(tables.path(`gone/${file?.storedPath ?? ''}`));
    await expect(table.operations.restore({ version: toVersion(2) })).rejects.toMatchObject({
      errorClass: 'DELTA_RESTORE_MISSING_FILES',
      parameters: { missedFiles: file?.path },
    });
    expect(await table.operations.restore({ version: toVersion(2) }, { ignoreMissingFiles: true })).toMatchObject({ numRestoredFiles: 2 });
  });
});

describe('truncate', () => {
  it('removes all rows in one version, and commits nothing for an empty table', async () => {
    const tables = await LocalTables.open();
    try {
      const table = await tables.create('t', 'id INT');
      await tables.append(table, 'SELECT i AS id FROM range(5) t(i)');
      expect(await table.operations.truncate()).toMatchObject({ version: 2, deletedRows: 5n });
      expect(await tables.rows(table)).toEqual([]);
      expect((await table.context.readCommit(toVersion(2)))?.actions[0]).toMatchObject({
        body: { operation: 'TRUNCATE', operationParameters: {}, operationMetrics: { numRemovedFiles: '1' } },
      });
      expect((await table.operations.truncate()).version).toBeUndefined();
    } finally {
      await tables.close();
    }
  });
});
