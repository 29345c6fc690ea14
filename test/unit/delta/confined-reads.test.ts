import { copyFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeltaTable } from '../../../src/delta/delta-table.ts';
import { LocalTables } from '../../support/local-tables.ts';

const refused = { code: 'FILE_OUTSIDE_TABLE', hint: expect.stringContaining('tidewater.delta.allowedLocations') as string };

describe('a Delta table whose log names a victim’s file', () => {
  let tables: LocalTables;
  let victim: string;
  let sizeBytes: number;
  let cases = 0;

  beforeAll(async () => {
    tables = await LocalTables.open();
    const secret = await tables.create('victim', 'id INT');
    await tables.append(secret, 'SELECT 42 AS id');
    const [file] = [...(await secret.refresh()).files()];
    victim = join(tables.path('victim'), file?.storedPath ?? '');
    sizeBytes = file?.sizeBytes ?? 0;
  });

  afterAll(async () => {
    await tables.close();
  });

  const naming = async (path: string): Promise<DeltaTable> => {
    cases += 1;
    const name = `hostile${cases}`;
    const table = await tables.create(name, 'id INT', { properties: { 'delta.enableChangeDataFeed': 'true' } });
    const add = { path, partitionValues: {}, size: sizeBytes, modificationTime: 1, dataChange: true, stats: '{"numRecords":1}' };
    const log = join(tables.path(name), '_delta_log');
    await mkdir(log, { recursive: true });
    const text = JSON.stringify({ add });
    await writeFile(join(log, '00000000000000000001.json'), `${text}\n`);
    await table.refresh();
    return table;
  };

  it.each(['file', 'FILE', 'encoded'] as const)('by an absolute URI (%s) is not read, by queries, feeds or maintenance', async (how) => {
    const uri = pathToFileURL(victim).href;
    const path = how === 'FILE' ? uri.replace('file://', 'FILE:') : how === 'encoded' ? uri.replace('victim', '%76ictim') : uri;
    const table = await naming(path);
    await expect(tables.rows(table)).rejects.toMatchObject(refused);
    await expect(table.rowsAt((await table.refresh()).version)).rejects.toMatchObject(refused);
    await expect(table.changesOf((await table.refresh()).version)).rejects.toMatchObject(refused);
    // To take every row away no file is read, and afterwards nothing names the file any more: it stays all the same.
    await table.operations.delete({});
    await table.vacuum({ dryRun: false, retentionHours: 0, allowShortRetention: true });
    expect((await readdir(tables.path('victim'))).some((name) => victim.endsWith(name))).toBe(true);
  });

  it('sees a commit that is a link to a file in its directory, and names one that leads out', async () => {
    const table = await tables.create('linked', 'id INT');
    await tables.append(table, 'SELECT 1 AS id');
    const log = join(tables.path('linked'), '_delta_log');
    const commit = join(log, '00000000000000000001.json');
    await rename(commit, join(log, 'moved'));
    await symlink('moved', commit);
    const reopened = async (): Promise<string> => {
      const opened = await tables.driver().open('linked', tables.path('linked'));
      return String((await opened?.refresh())?.version);
    };
    expect(await reopened()).toBe('1');
    await rename(join(log, 'moved'), join(tables.path('victim'), 'moved'));
    await rm(commit);
    await symlink(join(tables.path('victim'), 'moved'), commit);
    const outside = { code: 'STORAGE_PATH_INVALID', message: expect.stringContaining('00000000000000000001.json') as string };
    await expect(reopened()).rejects.toMatchObject(outside);
  });

  it('through a link in its directory is not read', async () => {
    const table = await naming('link.parquet');
    await symlink(victim, join(tables.path(`hostile${cases}`), 'link.parquet'));
    await expect(tables.rows(table)).rejects.toMatchObject({ ...refused, message: expect.stringContaining('victim') as string });
    const below = await naming('folder/part.parquet');
    await symlink(tables.path('victim'), join(tables.path(`hostile${cases}`), 'folder'));
    await copyFile(victim, join(tables.path('victim'), 'part.parquet'));
    await expect(tables.rows(below)).rejects.toMatchObject(refused);
  });

  it('is read when the directory is allowed', async () => {
    await naming(pathToFileURL(victim).href);
    const name = `hostile${cases}`;
    const opened = await tables.driver(undefined, undefined, [tables.path('victim')]).open(name, tables.path(name));
    if (!(opened instanceof DeltaTable)) throw new TypeError('no table');
    expect(await tables.rows(opened)).toEqual(['{"id":42}']);
  });

  it('reads a table that is opened through a link', async () => {
    const table = await tables.create('moved', 'id INT');
    await tables.append(table, 'SELECT 7 AS id');
    await rename(tables.path('moved'), tables.path('real'));
    await symlink(tables.path('real'), tables.path('moved'));
    expect(await tables.rows(await tables.open('moved'))).toEqual(['{"id":7}']);
  });
});
