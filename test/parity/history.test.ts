import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeltaTable, type Row } from '../../src/index.ts';
import { deltaBench, textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** What tables tell about themselves, and operations on whole versions: CONVERT, RESTORE and CLONE. */
describe('history and whole versions', () => {
  const bench = deltaBench();

  const textMap = (value: unknown): Readonly<Record<string, string>> => Object.fromEntries(value as ReadonlyMap<string, string>);

  /** Versions: 0 create, 1 and 2 append, 3 update, 4 delete. */
  async function madeWithHistory(name: string): Promise<void> {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a')`);
    await sql(`INSERT INTO ${at(name)} VALUES (2, 'b'), (3, 'c')`);
    await sql(`UPDATE ${at(name)} SET v = 'z' WHERE id = 2`);
    await sql(`DELETE FROM ${at(name)} WHERE id = 3`);
  }

  it('B24: DESCRIBE HISTORY has a row for each version, newest first, with what it did', async () => {
    const { sql, at, session, path } = bench();
    await madeWithHistory('told');
    const frame = await session.sql(`DESCRIBE HISTORY ${at('told')}`);
    expect((await frame.schema).fields.map((field) => field.name)).toEqual([
      ...['version', 'timestamp', 'userId', 'userName', 'operation', 'operationParameters', 'job', 'notebook', 'clusterId'],
      ...['readVersion', 'isolationLevel', 'isBlindAppend', 'operationMetrics', 'userMetadata', 'engineInfo'],
    ]);
    const rows = await frame.collect();
    const shown = rows.map((row) => [row['version'], row['operation'], row['readVersion'], row['isBlindAppend'], row['isolationLevel']]);
    expect(shown).toEqual([
      [4n, 'DELETE', 3n, false, 'Serializable'],
      [3n, 'UPDATE', 2n, false, 'Serializable'],
      [2n, 'WRITE', 1n, true, 'Serializable'],
      [1n, 'WRITE', 0n, true, 'Serializable'],
      [0n, 'CREATE TABLE', null, true, 'Serializable'],
    ]);
    const [deleted = {}, updated = {}, written = {}] = rows;
    expect(textMap(deleted['operationParameters'])).toEqual({ predicate: expect.stringMatching(/^\["\(id(#\d+)? = 3\)"\]$/) as string });
    expect(Object.keys(textMap(deleted['operationMetrics'])).sort()).toEqual([
      ...['executionTimeMs', 'numAddedBytes', 'numAddedChangeFiles', 'numAddedFiles', 'numCopiedRows', 'numDeletedRows'],
      ...['numDeletionVectorsAdded', 'numDeletionVectorsRemoved', 'numDeletionVectorsUpdated', 'numRemovedBytes', 'numRemovedFiles'],
      ...['rewriteTimeMs', 'scanTimeMs'],
    ]);
    expect(textMap(updated['operationMetrics'])).toMatchObject({
      numUpdatedRows: '1',
      numCopiedRows: '1',
      numRemovedFiles: '1',
      numAddedFiles: '1',
    });
    expect(textMap(written['operationParameters'])).toMatchObject({ mode: 'Append', partitionBy: '[]' });
    expect(textMap(written['operationMetrics'])).toMatchObject({ numFiles: '1', numOutputRows: '2' });
    expect(await sql(`DESCRIBE HISTORY '${path('told')}' LIMIT 2`)).toHaveLength(2);
    const table = await DeltaTable.forPath(session, path('told'));
    expect((await table.history(1).collect()).map((row) => row['version'])).toEqual([4n]);
    expect(await table.history().count()).toBe(5);
    const theirs = await bench().oracle?.history('delta-rs', path('told'));
    if (theirs !== undefined) expect(theirs.map((row) => row['operation'])).toEqual(rows.map((row) => row['operation']).reverse());
    await bench().agree('told', { allowOrphans: true });
  });

  it('B24: DESCRIBE DETAIL and SHOW TBLPROPERTIES say what the table is', async () => {
    const { sql, at, session, path } = bench();
    await sql(`CREATE TABLE shown (id INT, p STRING) USING delta PARTITIONED BY (p) COMMENT 'a table' LOCATION '${path('shown')}'
      TBLPROPERTIES (delta.enableChangeDataFeed = true)`);
    await sql("INSERT INTO shown VALUES (1, 'x'), (2, 'y')");
    const [detail = {}] = await sql('DESCRIBE DETAIL shown');
    expect(detail).toMatchObject({
      ...{ format: 'delta', name: 'spark_catalog.default.shown', description: 'a table', location: `file:${path('shown')}` },
      ...{ partitionColumns: ['p'], clusteringColumns: [], numFiles: 2n, minReaderVersion: 1, minWriterVersion: 7 },
      tableFeatures: ['appendOnly', 'changeDataFeed', 'invariants'],
    });
    expect(textMap(detail['properties'])).toEqual({ 'delta.enableChangeDataFeed': 'true' });
    expect(Number(detail['sizeInBytes'])).toBeGreaterThan(0);
    const [byPath] = await sql(`DESCRIBE DETAIL ${at('shown')}`);
    expect(byPath).toEqual({ ...detail, name: null });
    expect(await (await DeltaTable.forName(session, 'shown')).detail().collect()).toEqual([detail]);
    expect(await sql('SHOW TBLPROPERTIES shown')).toEqual([
      { key: 'delta.enableChangeDataFeed', value: 'true' },
      { key: 'delta.feature.appendOnly', value: 'supported' },
      { key: 'delta.feature.changeDataFeed', value: 'supported' },
      { key: 'delta.feature.invariants', value: 'supported' },
      { key: 'delta.minReaderVersion', value: '1' },
      { key: 'delta.minWriterVersion', value: '7' },
    ]);
    expect(await sql("SHOW TBLPROPERTIES shown ('delta.minWriterVersion')")).toEqual([{ key: 'delta.minWriterVersion', value: '7' }]);
  });

  it('B24: places without a table are named', async () => {
    const { sql, path, at } = bench();
    for (const statement of ['DESCRIBE HISTORY', 'DESCRIBE DETAIL']) {
      expect(await refusalOf(sql(`${statement} ${at('nothing')}`))).toMatchObject({
        errorClass: 'DELTA_TABLE_ONLY_OPERATION',
        sqlState: '0AKDD',
        message: `\`${path('nothing')}\` is not a Delta table. ${statement} is only supported for Delta tables.`,
      });
    }
    expect(await refusalOf(sql('SHOW TBLPROPERTIES nothing'))).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
  });

  it('B24: RESTORE brings an earlier version back as a new one, by number and by time, in SQL and by DeltaTable', async () => {
    const { sql, at, session, path } = bench();
    await madeWithHistory('restored');
    const [result = {}] = await sql(`RESTORE TABLE ${at('restored')} TO VERSION AS OF 2`);
    expect(Object.keys(result)).toEqual([
      ...['table_size_after_restore', 'num_of_files_after_restore', 'num_removed_files', 'num_restored_files'],
      ...['removed_files_size', 'restored_files_size'],
    ]);
    expect(result).toMatchObject({ num_of_files_after_restore: 2n, num_removed_files: 1n, num_restored_files: 1n });
    expect(await bench().rows('restored')).toEqual([
      { id: 1, v: 'a' },
      { id: 2, v: 'b' },
      { id: 3, v: 'c' },
    ]);
    const entry = await bench().lastEntry('restored');
    expect(entry).toMatchObject({ version: 5n, operation: 'RESTORE', readVersion: 4n, isBlindAppend: false });
    expect(textMap(entry['operationParameters'])).toMatchObject({ version: '2' });
    expect(Object.keys(textMap(entry['operationMetrics'])).sort()).toEqual([
      ...[
        'numOfFilesAfterRestore',
        'numRemovedFiles',
        'numRestoredFiles',
        'removedFilesSize',
        'restoredFilesSize',
        'tableSizeAfterRestore',
      ],
    ]);
    await bench().agree('restored', { allowOrphans: true });
    const table = await DeltaTable.forPath(session, path('restored'));
    await table.restoreToVersion(4);
    expect((await bench().rows('restored')).map((row) => row['v'])).toEqual(['a', 'z']);
    const history = await sql(`DESCRIBE HISTORY ${at('restored')}`);
    const first = textIn(
      history.find((row) => row['version'] === 1n),
      'timestamp',
    );
    await table.restoreToTimestamp(first);
    expect(await bench().rows('restored')).toEqual([{ id: 1, v: 'a' }]);
    await sql(`RESTORE TABLE ${at('restored')} TO TIMESTAMP AS OF '${first}'`);
    expect(await bench().rows('restored')).toEqual([{ id: 1, v: 'a' }]);
    expect(await refusalOf(sql(`RESTORE TABLE ${at('restored')} TO VERSION AS OF 77`))).toMatchObject({
      errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION',
      sqlState: '22003',
      message: expect.stringMatching(/^Cannot restore table to version 77\. Available versions: \[0, \d\]\.$/) as string,
    });
  });

  it('B24: RESTORE to a version whose files were vacuumed is refused', async () => {
    const { sql, at, path, commit } = bench();
    await madeWithHistory('vacuumed');
    rmSync(join(path('vacuumed'), String(commit('vacuumed', 2).find((action) => 'add' in action)?.['add']?.['path'])));
    expect((await refusalOf(sql(`RESTORE TABLE ${at('vacuumed')} TO VERSION AS OF 2`))).errorClass).toBe('DELTA_RESTORE_MISSING_FILES');
    expect(await bench().version('vacuumed')).toBe(4);
  });

  it('B24: CONVERT TO DELTA makes a table of Parquet files where they are, partitioned or not', async () => {
    const { sql, session, path, at } = bench();
    const files = session.createDataFrame(
      [1, 2, 3].map((id) => ({ id, v: `v${id}`, p: id % 2 === 0 ? 'even' : 'odd' })),
      'id INT, v STRING, p STRING',
    );
    await files.drop('p').write.format('parquet').save(path('plain'));
    await sql(`CONVERT TO DELTA parquet.\`${path('plain')}\``);
    expect(await bench().rows('plain')).toEqual([
      { id: 1, v: 'v1' },
      { id: 2, v: 'v2' },
      { id: 3, v: 'v3' },
    ]);
    const entry = await bench().lastEntry('plain');
    expect(entry).toMatchObject({ version: 0n, operation: 'CONVERT' });
    expect(textMap(entry['operationMetrics'])).toMatchObject({ numConvertedFiles: '1' });
    await bench().agree('plain');
    await files.write.format('parquet').partitionBy('p').save(path('parted'));
    const converted = await DeltaTable.convertToDelta(session, `parquet.\`${path('parted')}\``, 'p STRING');
    expect((await converted.toDF().orderBy('id').collect()).map((row) => row['p'])).toEqual(['odd', 'even', 'odd']);
    await sql(`DELETE FROM ${at('parted')} WHERE p = 'odd'`);
    expect(await bench().rows('parted')).toEqual([{ id: 2, v: 'v2', p: 'even' }]);
    await bench().agree('parted', { allowOrphans: true });
    await refusalOf(sql(`CONVERT TO DELTA parquet.\`${path('nowhere')}\``));
    await files.write.format('parquet').partitionBy('p').save(path('wrong'));
    const refused = await refusalOf(sql(`CONVERT TO DELTA parquet.\`${path('wrong')}\` PARTITIONED BY (q STRING)`));
    expect(refused.errorClass).toMatch(/^DELTA_UNEXPECTED_/);
    expect(existsSync(join(path('wrong'), '_delta_log'))).toBe(false);
  });

  it('B24: SHALLOW CLONE shares the files of a version, and goes ways of its own', async () => {
    const { sql, at, path } = bench();
    await madeWithHistory('source');
    const [result = {}] = await sql(`CREATE TABLE ${at('clone')} SHALLOW CLONE ${at('source')} VERSION AS OF 2`);
    expect(result).toMatchObject({ source_num_of_files: 2n, num_removed_files: 0n, num_copied_files: 0n });
    expect(readdirSync(path('clone'))).toEqual(['_delta_log']);
    expect((await bench().rows('clone')).map((row) => row['v'])).toEqual(['a', 'b', 'c']);
    expect(await bench().lastEntry('clone')).toMatchObject({ version: 0n, operation: 'CLONE' });
    // The check looks for files below the table; those of a clone are the source's.
    const theirs = await bench().oracle?.rows('delta-rs', path('clone'));
    if (theirs !== undefined) expect(theirs).toHaveLength(3);
    await sql(`DELETE FROM ${at('clone')} WHERE id = 1`);
    await sql(`INSERT INTO ${at('source')} VALUES (9, 'i')`);
    expect((await bench().rows('clone')).map((row: Row) => row['id'])).toEqual([2, 3]);
    expect((await bench().rows('source')).map((row) => row['id'])).toEqual([1, 2, 9]);
    expect((await refusalOf(sql(`CREATE TABLE ${at('deep')} DEEP CLONE ${at('source')}`))).message).toContain('DEEP CLONE');
    expect((await refusalOf(sql(`CREATE TABLE ${at('clone')} SHALLOW CLONE ${at('source')}`))).errorClass).toBe('DELTA_PATH_EXISTS');
  });
});
