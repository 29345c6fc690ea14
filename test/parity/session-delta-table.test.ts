import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { col, DeltaTable, type Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** The table object. Row operations, optimize and vacuum have tests of their own beside this one. */

const ids = (...values: readonly number[]) => values.map((id) => ({ id: BigInt(id) }));

describe('DeltaTable', () => {
  const bench = deltaBench();

  it('B07: forPath, forName and isDeltaTable find tables', async () => {
    const { session, path, at } = bench();
    await session.range(2).write.format('delta').save(path('found'));
    await session.range(2).write.saveAsTable('found_by_name');
    for (const table of [
      await DeltaTable.forPath(session, path('found')),
      await DeltaTable.forPath(session, `file:${path('found')}`),
      await DeltaTable.forName(session, at('found')),
      await DeltaTable.forName(session, 'found_by_name'),
      await DeltaTable.forName(session, 'spark_catalog.default.found_by_name'),
    ]) {
      expect(await table.toDF().orderBy('id').collect()).toEqual(ids(0, 1));
    }
    await session.range(1).write.format('parquet').save(path('plain'));
    expect(await DeltaTable.isDeltaTable(session, path('found'))).toBe(true);
    expect(await DeltaTable.isDeltaTable(session, path('plain'))).toBe(false);
    expect(await DeltaTable.isDeltaTable(session, path('nothing'))).toBe(false);
    const refusal = await refusalOf(DeltaTable.forPath(session, path('plain')));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_MISSING_DELTA_TABLE', sqlState: '42P01' });
    expect(refusal.message).toBe(`\`${path('plain')}\` is not a Delta table.`);
    expect(await refusalOf(DeltaTable.forName(session, 'nothing_there'))).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('B07: toDF follows the table, alias qualifies its columns', async () => {
    const { session, path } = bench();
    await session.range(2).write.format('delta').save(path('followed'));
    const table = await DeltaTable.forPath(session, path('followed'));
    const frame = table.toDF();
    const joined = table
      .alias('a')
      .toDF()
      .join(table.as('b').toDF(), col('a.id').eq(col('b.id')))
      .select('a.id');
    expect(await joined.orderBy('a.id').collect()).toEqual(ids(0, 1));
    await session.range(2, 3).write.format('delta').mode('append').save(path('followed'));
    expect(await frame.orderBy('id').collect()).toEqual(ids(0, 1, 2));
    expect(await joined.count()).toBe(3);
  });

  it('B07: history has a row for each version, newest first, as DESCRIBE HISTORY', async () => {
    const { session, path, sql, at } = bench();
    const started = Date.now();
    await session.range(2).write.format('delta').option('userMetadata', 'first').save(path('history'));
    const table = await DeltaTable.forPath(session, path('history'));
    await table.delete('id = 0');
    const rows = await table.history().collect();
    expect(await sql(`DESCRIBE HISTORY ${at('history')}`)).toEqual(rows);
    expect(await table.history(1).collect()).toEqual(rows.slice(0, 1));
    expect(await sql(`DESCRIBE HISTORY ${at('history')} LIMIT 1`)).toEqual(rows.slice(0, 1));
    expect(await table.history().columns).toEqual([
      ...['version', 'timestamp', 'userId', 'userName', 'operation', 'operationParameters', 'job', 'notebook', 'clusterId'],
      ...['readVersion', 'isolationLevel', 'isBlindAppend', 'operationMetrics', 'userMetadata', 'engineInfo'],
    ]);
    expect(rows.map(({ version, operation, readVersion, userMetadata }) => [version, operation, readVersion, userMetadata])).toEqual([
      [1n, 'DELETE', 0n, null],
      [0n, 'WRITE', null, 'first'],
    ]);
    expect(rows.map(({ isBlindAppend }) => isBlindAppend)).toEqual([false, true]);
    expect(Date.parse(textOf(rows[0], 'timestamp'))).toBeGreaterThanOrEqual(started - 1000);
    expect(rows[0]?.['engineInfo']).toMatch(/^Tidewater\//);
    const others = await bench().oracle?.history('delta-rs', path('history'));
    if (others !== undefined)
      expect(others.map(({ version, operation }) => [version, operation])).toEqual([
        [0, 'WRITE'],
        [1, 'DELETE'],
      ]);
  });

  it('B07: detail has one row about the table, as DESCRIBE DETAIL', async () => {
    const { session, path, sql, at } = bench();
    const table = await DeltaTable.create(session)
      .location(path('detail'))
      .addColumns('id BIGINT, p STRING')
      .partitionedBy('p')
      .comment('what it is for')
      .property('owner', 'me')
      .execute();
    await session
      .createDataFrame([{ id: 1, p: 'x' }], 'id BIGINT, p STRING')
      .write.format('delta')
      .mode('append')
      .save(path('detail'));
    const rows = await table.detail().collect();
    expect(await sql(`DESCRIBE DETAIL ${at('detail')}`)).toEqual(rows);
    const [add] = bench()
      .commit('detail', 1)
      .flatMap((action) => (action['add'] === undefined ? [] : [action['add']]));
    const [metadata] = bench()
      .commit('detail', 0)
      .flatMap((action) => (action['metaData'] === undefined ? [] : [action['metaData']]));
    expect(rows).toEqual([
      {
        format: 'delta',
        id: metadata?.['id'],
        name: null,
        description: 'what it is for',
        location: `file:${path('detail')}`,
        createdAt: rows[0]?.['createdAt'],
        lastModified: rows[0]?.['lastModified'],
        partitionColumns: ['p'],
        clusteringColumns: [],
        numFiles: 1n,
        sizeInBytes: BigInt(Number(add?.['size'])),
        properties: new Map([['owner', 'me']]),
        minReaderVersion: 1,
        minWriterVersion: 2,
        tableFeatures: ['appendOnly', 'invariants'],
      },
    ]);
  });

  it('B07: create makes a table once, createIfNotExists leaves the one that is there', async () => {
    const { session, path } = bench();
    const builder = (make: typeof DeltaTable.create) =>
      make(session)
        .location(path('made'))
        .addColumn('id', 'BIGINT', { nullable: false, comment: 'the key' })
        .addColumn('ts', 'TIMESTAMP')
        .addColumn('day', 'DATE', { generatedAlwaysAs: 'CAST(ts AS DATE)' })
        .property('delta.enableChangeDataFeed', 'true');
    const table = await builder((each) => DeltaTable.create(each)).execute();
    expect((await table.toDF().schema).fields.map(({ name, nullable, metadata }) => [name, nullable, metadata?.['comment']])).toEqual([
      ['id', false, 'the key'],
      ['ts', true, undefined],
      ['day', true, undefined],
    ]);
    await session
      .createDataFrame([{ id: 1, ts: '2024-02-29T23:00:00Z' }], 'id BIGINT, ts TIMESTAMP')
      .write.format('delta')
      .mode('append')
      .save(path('made'));
    expect(await table.toDF().select('id', 'day').collect()).toEqual([{ id: 1n, day: '2024-02-29' }]);
    const again = await refusalOf(builder((each) => DeltaTable.create(each)).execute());
    expect(again).toMatchObject({ errorClass: 'DELTA_PATH_EXISTS', sqlState: '42K04' });
    await builder((each) => DeltaTable.createIfNotExists(each)).execute();
    expect(await bench().version('made')).toBe(1);
    await bench().agree('made');
  });

  it('B07: replace and createOrReplace give a table another definition, with its history', async () => {
    const { session } = bench();
    const replaced = (make: typeof DeltaTable.replace, columns: string) =>
      make(session).tableName('redefined').addColumns(columns).execute();
    expect(await refusalOf(replaced((each) => DeltaTable.replace(each), 'a INT'))).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await replaced((each) => DeltaTable.createOrReplace(each), 'a INT');
    await session.sql('INSERT INTO redefined VALUES (1)');
    await replaced((each) => DeltaTable.replace(each), 'b STRING');
    expect(await session.table('redefined').columns).toEqual(['b']);
    expect(await session.table('redefined').count()).toBe(0);
    await replaced((each) => DeltaTable.createOrReplace(each), 'c DATE');
    const history = await (await DeltaTable.forName(session, 'redefined')).history().select('operation').collect();
    expect(history.map(({ operation }) => operation)).toEqual([
      'CREATE OR REPLACE TABLE',
      'REPLACE TABLE',
      'WRITE',
      'CREATE OR REPLACE TABLE',
    ]);
    expect(await session.read.option('versionAsOf', 1).table('redefined').collect()).toEqual([{ a: 1 }]);
    await bench().agree('warehouse/redefined');
  });

  it('B07: convertToDelta takes Parquet files in, partitioned ones with the types of their partitions', async () => {
    const { session, path } = bench();
    await session.range(3).write.format('parquet').save(path('files'));
    const table = await DeltaTable.convertToDelta(session, `parquet.\`${path('files')}\``);
    expect(await table.toDF().orderBy('id').collect()).toEqual(ids(0, 1, 2));
    expect(await bench().lastEntry('files')).toMatchObject({ version: 0n, operation: 'CONVERT' });
    await bench().agree('files');
    await session.range(4).selectExpr('id', 'CAST(id % 2 AS INT) AS p').write.format('parquet').partitionBy('p').save(path('parts'));
    const parts = await DeltaTable.convertToDelta(session, `parquet.\`${path('parts')}\``, 'p INT');
    expect(await parts.toDF().where('p = 1').orderBy('id').collect()).toEqual([
      { id: 1n, p: 1 },
      { id: 3n, p: 1 },
    ]);
    await bench().agree('parts');
    expect(await refusalOf(DeltaTable.convertToDelta(session, 'some_table'))).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
  });

  it('B07: restoreToVersion and restoreToTimestamp make an earlier version the newest', async () => {
    const { session, path } = bench();
    await session.range(2).write.format('delta').save(path('restored'));
    await session.range(2, 4).write.format('delta').mode('append').save(path('restored'));
    const table = await DeltaTable.forPath(session, path('restored'));
    await table.delete('id = 0');
    const size = (version: number) => sumOf(bench().commit('restored', version), 'add');
    const [numbers] = await (await table.restoreToVersion(1)).collect();
    expect(numbers).toEqual({
      table_size_after_restore: size(0) + size(1),
      num_of_files_after_restore: 2n,
      num_removed_files: 1n,
      num_restored_files: 1n,
      removed_files_size: size(2),
      restored_files_size: size(0),
    });
    expect(await bench().rows('restored')).toEqual(ids(0, 1, 2, 3));
    const entry = await bench().lastEntry('restored');
    expect(entry).toMatchObject({ version: 3n, operation: 'RESTORE', readVersion: 2n });
    expect(entry['operationParameters']).toEqual(
      new Map([
        ['version', '1'],
        ['timestamp', null],
      ]),
    );
    const first = textOf((await table.history().collect()).at(-1), 'timestamp');
    await table.restoreToTimestamp(first);
    expect(await bench().rows('restored')).toEqual(ids(0, 1));
    expect((await bench().lastEntry('restored'))['operationParameters']).toEqual(
      new Map([
        ['version', null],
        ['timestamp', first],
      ]),
    );
    const refusal = await refusalOf(table.restoreToVersion(77));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION', sqlState: '22003' });
    expect(refusal.message).toBe('Cannot restore table to version 77. Available versions: [0, 4].');
    expect((await refusalOf(table.restoreToVersion(-1))).message).toBe('Cannot restore table to version -1. Available versions: [0, 4].');
    await bench().agree('restored');
  });

  it('B07: generate writes manifests for each partition', async () => {
    const { session, path, sql, at } = bench();
    await session.range(4).selectExpr('id', 'id % 2 AS p').write.format('delta').partitionBy('p').save(path('manifests'));
    await (await DeltaTable.forPath(session, path('manifests'))).generate('symlink_format_manifest');
    const manifest = readFileSync(join(path('manifests'), '_symlink_format_manifest', 'p=1', 'manifest'), 'utf8');
    expect(manifest).toMatch(new RegExp(`^file://${path('manifests')}/p=1/[^/\n]+\\.parquet\n?$`));
    await sql(`GENERATE symlink_format_manifest FOR TABLE ${at('manifests')}`);
    expect(existsSync(join(path('manifests'), '_symlink_format_manifest', 'p=0', 'manifest'))).toBe(true);
    expect(await refusalOf(sql(`GENERATE something FOR TABLE ${at('manifests')}`))).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
  });

  it('B07: upgradeTableProtocol, addFeatureSupport and dropFeatureSupport change the protocol', async () => {
    const { session, path } = bench();
    await session.range(2).write.format('delta').save(path('protocol'));
    const table = await DeltaTable.forPath(session, path('protocol'));
    const protocol = async (): Promise<readonly unknown[]> => {
      const [{ minReaderVersion, minWriterVersion, tableFeatures } = {}] = await table.detail().collect();
      return [minReaderVersion, minWriterVersion, tableFeatures];
    };
    expect(await protocol()).toEqual([1, 2, ['appendOnly', 'invariants']]);
    await table.upgradeTableProtocol(1, 3);
    expect(await protocol()).toEqual([1, 3, ['appendOnly', 'checkConstraints', 'invariants']]);
    expect(await bench().lastEntry('protocol')).toMatchObject({ version: 1n, operation: 'UPGRADE PROTOCOL' });
    await table.addFeatureSupport('deletionVectors');
    expect(await protocol()).toEqual([3, 7, ['appendOnly', 'checkConstraints', 'deletionVectors', 'invariants']]);
    await table.addFeatureSupport('v2Checkpoint');
    await bench().agree('protocol', { engines: ['delta-rs'] });
    await table.dropFeatureSupport('checkConstraints');
    expect(((await protocol())[2] as readonly string[]).includes('checkConstraints')).toBe(false);
    const unknown = await refusalOf(table.addFeatureSupport('nonsense'));
    expect(unknown.message).toContain('nonsense');
    const [held, version] = [await protocol(), await bench().version('protocol')];
    await table.upgradeTableProtocol(1, 2);
    await bench().sql(`ALTER TABLE ${bench().at('protocol')} SET TBLPROPERTIES ('delta.minWriterVersion' = '2')`);
    expect([await protocol(), await bench().version('protocol')]).toEqual([held, version + 1]);
  });

  it('B07: update, delete, merge, optimize and vacuum answer with rows, and a stopped session refuses them', async () => {
    const session = bench().another();
    const path = bench().path('answers');
    await session.range(4).write.format('delta').save(path);
    const table = await DeltaTable.forPath(session, path);
    const merging = table.alias('t').merge(session.range(3, 6).alias('s'), 't.id = s.id').whenMatchedDelete().whenNotMatchedInsertAll();
    expect(await (await table.update('id = 0', { id: 'id + 100' })).collect()).toEqual([{ num_affected_rows: 1n }]);
    expect(await (await table.delete('id = 100')).collect()).toEqual([{ num_affected_rows: 1n }]);
    expect(await (await merging.execute()).collect()).toEqual([
      { num_affected_rows: 3n, num_updated_rows: 0n, num_deleted_rows: 1n, num_inserted_rows: 2n },
    ]);
    const [optimized] = await (await table.optimize().executeCompaction()).collect();
    expect(optimized?.['path']).toBe(`file:${path}`);
    expect(await (await table.vacuum()).collect()).toEqual([{ path: `file:${path}` }]);
    expect(await bench().rows('answers')).toEqual(ids(1, 2, 4, 5));
    await bench().agree('answers', { allowOrphans: true });
    await session.stop();
    for (const attempt of [
      () => table.delete(),
      () => table.vacuum(),
      () => table.optimize().executeCompaction(),
      () => merging.execute(),
    ]) {
      expect(await refusalOf(async () => attempt())).toMatchObject({ errorClass: 'SESSION_STOPPED' });
    }
  });
});

function textOf(row: Row | undefined, column: string): string {
  const value = row?.[column];
  return typeof value === 'string' ? value : '';
}

function sumOf(actions: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[], kind: string): bigint {
  return actions.reduce((sum, action) => sum + BigInt(Number(action[kind]?.['size'] ?? 0)), 0n);
}
