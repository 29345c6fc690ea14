import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { CloneRequest } from '../../../../src/table/table-formats.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('clone', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const clone = async (source: string, name: string, options: Partial<CloneRequest> = {}) => {
    const target = { name, location: tables.path(name) };
    await tables.driver().clone({ source: await tables.open(source), target, mode: 'create', ...options });
    return tables.open(name);
  };

  it('refers to the source’s files, vectors included, and goes its own way afterwards', async () => {
    const source = await tables.create('src', 'id INT, p STRING', {
      partitionBy: ['p'],
      properties: { 'delta.enableDeletionVectors': 'true', note: 'kept' },
    });
    await tables.append(source, "SELECT CAST(i AS INT) AS id, 'a b' AS p FROM range(10) t(i)");
    await source.operations.delete({ condition: parseExpression('id = 3') });
    const before = await tables.rows(source);
    const copy = await clone('src', 'copy', { properties: { mine: 'x' } });
    const snapshot = await copy.refresh();
    expect(snapshot.version).toBe(0);
    expect(snapshot.tableId).not.toBe((await source.refresh()).tableId);
    expect(snapshot.properties).toMatchObject({ note: 'kept', mine: 'x' });
    const [file] = [...snapshot.files()];
    expect(file?.path).toMatch(/^file:\/\/\/.*\/src\/p=a%20b\/part-.*\.parquet$/);
    expect(file?.deletionVector).toMatchObject({ storageType: 'p', cardinality: 1 });
    expect(await tables.rows(copy)).toEqual(before);
    expect((await copy.context.readCommit(toVersion(0)))?.actions[0]).toMatchObject({
      body: {
        operation: 'CLONE',
        operationParameters: { source: `delta.\`${source.context.store.root}\``, sourceVersion: 2 },
        operationMetrics: { sourceNumOfFiles: '1', numCopiedFiles: '0', copiedFilesSize: '0', numRemovedFiles: '0', removedFilesSize: '0' },
      },
    });
    await copy.operations.update({ condition: parseExpression('id = 4'), assignments: [{ target: ['id'], value: parseExpression('40') }] });
    await tables.append(copy, "SELECT 99 AS id, 'c' AS p");
    expect(await tables.rows(source)).toEqual(before);
    expect((await tables.rows(copy)).length).toBe(10);
    await copy.operations.optimize({ purge: true });
    await copy.vacuum({ dryRun: false, retentionHours: 0, allowShortRetention: true });
    expect((await tables.rows(copy)).length).toBe(10);
    expect(await tables.rows(source)).toEqual(before);
  });

  it('clones an older version, into an empty table too, and refuses others', async () => {
    const source = await tables.create('old', 'id INT');
    await tables.append(source, 'SELECT 1 AS id');
    await tables.append(source, 'SELECT 2 AS id');
    const copy = await clone('old', 'old-copy', { version: toVersion(1) });
    expect(await tables.rows(copy)).toEqual(['{"id":1}']);
    await expect(clone('old', 'old-copy')).rejects.toMatchObject({ errorClass: 'DELTA_TABLE_ALREADY_EXISTS' });
    await expect(clone('old', 'old-copy', { mode: 'create-or-replace' })).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_NON_EMPTY_CLONE',
    });
    await copy.operations.truncate();
    await clone('old', 'old-copy', { mode: 'create-or-replace' });
    expect(await tables.rows(await tables.open('old-copy'))).toEqual(['{"id":1}', '{"id":2}']);
    await clone('old', 'old-copy', { mode: 'create-if-absent', version: toVersion(0) });
    expect((await (await tables.open('old-copy')).refresh()).version).toBe(2);
    await expect(clone('old', 'absent', { mode: 'replace' })).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });
});
