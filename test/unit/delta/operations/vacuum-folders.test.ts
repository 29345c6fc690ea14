import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const old = new Date(Date.UTC(2020, 0, 1));
const run = { dryRun: false } as const;

describe('vacuum on a file system', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const age = (...paths: readonly string[]) => Promise.all(paths.map((path) => utimes(tables.path(path), old, old)));

  it('removes folders that it emptied or found empty, unless something changed in them lately', async () => {
    const table = await tables.create('t', 'id INT, p STRING', {
      partitionBy: ['p'],
      properties: { 'delta.deletedFileRetentionDuration': 'interval 0 hours' },
    });
    for (const p of ['gone', 'stays']) await tables.append(table, `SELECT 1 AS id, '${p}' AS p`);
    await table.operations.delete({ condition: parseExpression("p = 'gone'") });
    await mkdir(tables.path('t/empty/deep'), { recursive: true });
    await mkdir(tables.path('t/young'));
    await mkdir(tables.path('t/_hidden'));
    await mkdir(tables.path('t/linked'));
    await symlink('/', tables.path('t/linked/root'));
    const removed = [...((await table.context.readCommit(toVersion(3)))?.actions ?? [])].find((action) => action.kind === 'remove');
    await age('t/p=gone', `t/${removed?.storedPath ?? ''}`, 't/empty/deep', 't/empty', 't/_hidden', 't/linked');
    const week = { retentionHours: 168 };
    // The tombstone is young: only the folders that were empty all along go.
    expect(await table.vacuum({ dryRun: true, ...week })).toMatchObject({ paths: ['empty/deep', 'empty'], fileCount: 0, folderCount: 2 });
    expect(await readdir(tables.path('t/empty'))).toEqual(['deep']);
    const result = await table.vacuum(run);
    expect(result.fileCount).toBe(1);
    const left = (await readdir(tables.path('t'))).filter((name) => name !== '_delta_log').sort();
    expect(left).toEqual(expect.arrayContaining(['_hidden', 'linked', 'p=stays']));
    expect(left).not.toContain('empty');
    expect(left).not.toContain('p=gone');
    expect(result.folderCount).toBeGreaterThanOrEqual(3);
    const { version } = await table.refresh();
    expect((await table.context.readCommit(version))?.actions[0]).toMatchObject({
      body: { operation: 'VACUUM END', operationMetrics: { numDeletedFiles: '1', numVacuumedDirectories: '7' } },
    });
  });

  it('clears away what a process that died left of files it was writing', async () => {
    const table = await tables.create('staged', 'id INT');
    await mkdir(tables.path('staged/.tidewater-staging-x'));
    await writeFile(tables.path('staged/.tidewater-staging-x/file.parquet'), 'half');
    expect(await table.vacuum({ ...run, quietWhenIdle: true })).toMatchObject({ fileCount: 0, folderCount: 0 });
    await age('staged/.tidewater-staging-x/file.parquet', 'staged/.tidewater-staging-x');
    expect((await table.vacuum(run)).paths).toEqual(['.tidewater-staging-x/file.parquet', '.tidewater-staging-x']);
    expect(await readdir(tables.path('staged'))).toEqual(['_delta_log']);
  });

  it('keeps folders of files it does not delete', async () => {
    const table = await tables.create('kept', 'id INT');
    await mkdir(tables.path('kept/sub'));
    await writeFile(tables.path('kept/sub/.hidden'), '');
    await age('kept/sub');
    expect(await table.vacuum(run)).toMatchObject({ folderCount: 0 });
    expect(await readdir(tables.path('kept/sub'))).toEqual(['.hidden']);
  });
});
