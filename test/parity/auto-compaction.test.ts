import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Row, Session } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/** A small OPTIMIZE after a write, when property, option or session ask for it. */

const enabled = 'spark.databricks.delta.autoCompact.enabled';
const minNumFiles = 'spark.databricks.delta.autoCompact.minNumFiles';

describe('auto compaction', () => {
  const bench = deltaBench();

  /** Writes one file a time; gives the history's operations, newest first, and the number of files left. */
  async function append(
    session: Session,
    name: string,
    times: number,
    option?: boolean,
  ): Promise<{ readonly operations: readonly unknown[]; readonly files: unknown; readonly newest: Row }> {
    const { at, path } = bench();
    for (let id = 0; id < times; id += 1) {
      const writer = session
        .createDataFrame([{ id, p: 'x' }], 'id INT, p STRING')
        .write.format('delta')
        .mode('append');
      await (option === undefined ? writer : writer.option('autoCompact', option)).save(path(name));
    }
    const history = await (await session.sql(`DESCRIBE HISTORY ${at(name)}`)).collect();
    const [detail] = await (await session.sql(`DESCRIBE DETAIL ${at(name)}`)).collect();
    return { operations: history.map((entry) => entry['operation']), files: detail?.['numFiles'], newest: history[0] ?? {} };
  }

  const create = (name: string, properties: string = ''): Promise<unknown> =>
    bench().sql(`CREATE TABLE ${bench().at(name)} (id INT, p STRING) USING delta ${properties}`);

  it('B14: is off unless it is asked for', async () => {
    const session = bench().another({ [minNumFiles]: 2 });
    await create('off');
    expect(await append(session, 'off', 4)).toMatchObject({ operations: ['WRITE', 'WRITE', 'WRITE', 'WRITE', 'CREATE TABLE'], files: 4n });
  });

  it('B14: the session setting asks for it, with the number of files it begins at, and it is a version of its own', async () => {
    const session = bench().another({ [enabled]: true, [minNumFiles]: 3 });
    await create('session');
    const { operations, files, newest } = await append(session, 'session', 3);
    expect(operations).toEqual(['OPTIMIZE', 'WRITE', 'WRITE', 'WRITE', 'CREATE TABLE']);
    expect(files).toBe(1n);
    expect(Object.fromEntries(newest['operationParameters'] as ReadonlyMap<string, string>)).toMatchObject({
      auto: 'true',
      zOrderBy: '[]',
    });
    expect(Object.fromEntries(newest['operationMetrics'] as ReadonlyMap<string, string>)).toMatchObject({
      numRemovedFiles: '3',
      numAddedFiles: '1',
    });
    expect((await bench().rows('session')).map((row) => row['id'])).toEqual([0, 1, 2]);
    await bench().agree('session', { allowOrphans: true });
  });

  it('B14: the table property asks for it, at fifty files where nothing else is said', async () => {
    const { session, another } = bench();
    await create('property', 'TBLPROPERTIES (delta.autoOptimize.autoCompact = true)');
    expect((await append(session, 'property', 4)).files).toBe(4n);
    const sooner = another({ [minNumFiles]: 5 });
    expect(await append(sooner, 'property', 1)).toMatchObject({ files: 1n, newest: { operation: 'OPTIMIZE' } });
    await bench().agree('property', { allowOrphans: true });
  });

  it('B14: the option of a write counts more than the session, and the session more than the table', async () => {
    const on = bench().another({ [enabled]: true, [minNumFiles]: 2 });
    const off = bench().another({ [enabled]: false, [minNumFiles]: 2 });
    await create('order', 'TBLPROPERTIES (delta.autoOptimize.autoCompact = true)');
    expect((await append(off, 'order', 3)).files).toBe(3n);
    expect((await append(on, 'order', 1, false)).files).toBe(4n);
    expect((await append(off, 'order', 1, true)).files).toBe(1n);
  });

  it('B14: SQL statements are followed by it, in the partitions they wrote to alone', async () => {
    const { at } = bench();
    const session = bench().another({ [enabled]: 'auto', [minNumFiles]: 2 });
    await create('parts', 'PARTITIONED BY (p)');
    await bench().sql(`INSERT INTO ${at('parts')} VALUES (1, 'x')`);
    await bench().sql(`INSERT INTO ${at('parts')} VALUES (2, 'x')`);
    await bench().sql(`INSERT INTO ${at('parts')} VALUES (3, 'y')`);
    await session.sql(`INSERT INTO ${at('parts')} VALUES (4, 'y')`);
    const [detail] = await bench().sql(`DESCRIBE DETAIL ${at('parts')}`);
    expect(detail?.['numFiles']).toBe(3n);
    await session.sql(`UPDATE ${at('parts')} SET id = id + 10 WHERE p = 'x'`);
    expect((await bench().rows('parts')).map((row) => [row['id'], row['p']])).toEqual([
      [3, 'y'],
      [4, 'y'],
      [11, 'x'],
      [12, 'x'],
    ]);
    await bench().agree('parts', { allowOrphans: true });
  });

  it('B14: gives no change rows', async () => {
    const { session, path } = bench();
    await create('feed', 'TBLPROPERTIES (delta.enableChangeDataFeed = true)');
    await append(bench().another({ [enabled]: true, [minNumFiles]: 2 }), 'feed', 2);
    const changes = session.read.option('readChangeFeed', true).option('startingVersion', 0).load(path('feed'));
    expect((await changes.orderBy('id').collect()).map((row) => [row['id'], row['_change_type'], row['_commit_version']])).toEqual([
      [0, 'insert', 1n],
      [1, 'insert', 2n],
    ]);
  });

  it('B14: it never fails the write it follows', async () => {
    const { path, commit, at, sql } = bench();
    await create('broken');
    await sql(`INSERT INTO ${at('broken')} VALUES (1, 'x')`);
    // The file that compaction would read is gone; an append has no need of it.
    rmSync(join(path('broken'), String(commit('broken', 1).find((action) => 'add' in action)?.['add']?.['path'])));
    const { operations } = await append(bench().another({ [enabled]: true, [minNumFiles]: 2 }), 'broken', 1);
    expect(operations).toEqual(['WRITE', 'WRITE', 'CREATE TABLE']);
  });
});
