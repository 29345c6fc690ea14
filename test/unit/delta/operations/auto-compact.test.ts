import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import type { OperationContext } from '../../../../src/delta/operations/operation-context.ts';
import { autoCompact } from '../../../../src/delta/operations/optimize/auto-compact.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('autoCompact', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const filled = async (name: string, options: Parameters<LocalTables['create']>[2] = {}): Promise<DeltaTable> => {
    const table = await tables.create(name, 'id INT, p STRING', { partitionBy: ['p'], ...options });
    for (const p of ['a', 'a', 'a', 'b']) await tables.append(table, `SELECT 1 AS id, '${p}' AS p`);
    return table;
  };
  const filesOf = async (table: DeltaTable): Promise<readonly (string | undefined)[]> =>
    [...(await table.refresh()).files()].map((file) => file.partitionValues['p']).sort();

  it('is off unless the session or the table says otherwise', async () => {
    const table = await filled('off');
    const run = (enabled?: boolean) => autoCompact(table.context, toVersion(4), [{ p: 'a' }], { enabled, minNumFiles: 2 });
    expect(await run()).toBeUndefined();
    expect(await run(false)).toBeUndefined();
    expect(await run(true)).toMatchObject({ filesRemoved: { totalFiles: 3 } });
  });

  it('looks at the partitions the commit touched alone, and only when they hold enough small files', async () => {
    const table = await filled('touched');
    const run = (p: string, minNumFiles: number) => autoCompact(table.context, toVersion(4), [{ p }], { enabled: true, minNumFiles });
    expect(await run('b', 1)).toBeUndefined();
    expect(await run('a', 4)).toBeUndefined();
    expect(await run('a', 3)).toMatchObject({ version: 5, partitionsOptimized: 1 });
    expect(await filesOf(table)).toEqual(['a', 'b']);
    expect((await table.context.readCommit(toVersion(5)))?.actions[0]).toMatchObject({
      body: { operation: 'OPTIMIZE', operationParameters: { predicate: '[]', zOrderBy: '[]', auto: true } },
    });
  });

  it('follows an append by the table’s property once, and never itself', async () => {
    const table = await tables.create('property', 'id INT', { properties: { 'delta.autoOptimize.autoCompact': 'true' } });
    for (let file = 0; file < 51; file++) await tables.append(table, `SELECT ${file} AS id`);
    const history = await table.history({});
    expect(history.filter((entry) => entry.operation === 'OPTIMIZE').length).toBe(1);
    expect(await table.refresh()).toMatchObject({ rowCount: 51, fileCount: 2 });
  });

  it('never fails the commit it follows', async () => {
    const table = await filled('failing');
    const broken: OperationContext = {
      ...table.context,
      engine: () => Promise.reject(new ServiceError({ code: 'ENGINE_OUT_OF_MEMORY', kind: 'unavailable', message: 'full' })),
    };
    expect(await autoCompact(broken, toVersion(4), [{ p: 'a' }], { enabled: true, minNumFiles: 2 })).toBeUndefined();
    expect((await table.refresh()).version).toBe(4);
  });
});
