import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeltaTable } from '../../../src/session/delta-table-handle.ts';
import { col, lit } from '../../../src/session/functions.ts';
import type { Session } from '../../../src/session/session.ts';
import { temporarySession } from '../../support/temporary-session.ts';

async function rows(session: Session, text: string, parameters?: Parameters<Session['sql']>[1]) {
  return (await session.sql(text, parameters)).collect();
}

describe('Session.sql on Delta tables', () => {
  it('goes through the life of a table with the versions and change rows of the reference', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE DATABASE db');
    await session.sql(
      'CREATE TABLE db.t (id BIGINT, v STRING, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES (delta.enableChangeDataFeed = true)',
    );
    await session.sql("INSERT INTO db.t VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')");
    expect(await rows(session, "UPDATE db.t SET v = concat(v, '!')")).toEqual([{ num_affected_rows: 3n }]);
    expect(await rows(session, 'DELETE FROM db.t WHERE id = 2')).toEqual([{ num_affected_rows: 1n }]);
    expect(await rows(session, "DELETE FROM db.t WHERE p = 'y'")).toEqual([{ num_affected_rows: 1n }]);
    const merge =
      "MERGE INTO db.t t USING (SELECT 1 AS id, 'm' AS v, 'x' AS p UNION ALL SELECT 9, 'i', 'z') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *";
    expect(await rows(session, merge)).toEqual([
      { num_affected_rows: 2n, num_updated_rows: 1n, num_deleted_rows: 0n, num_inserted_rows: 1n },
    ]);
    expect(await rows(session, 'SELECT id, v, p FROM db.t ORDER BY id')).toEqual([
      { id: 1n, v: 'm', p: 'x' },
      { id: 9n, v: 'i', p: 'z' },
    ]);
    const counts = await rows(
      session,
      "SELECT _commit_version AS version, _change_type AS kind, count(*) AS n FROM table_changes('db.t', 0) GROUP BY 1, 2 ORDER BY 1, 2",
    );
    expect(counts).toEqual([
      { version: 1n, kind: 'insert', n: 3n },
      { version: 2n, kind: 'update_postimage', n: 3n },
      { version: 2n, kind: 'update_preimage', n: 3n },
      { version: 3n, kind: 'delete', n: 1n },
      { version: 4n, kind: 'delete', n: 1n },
      { version: 5n, kind: 'insert', n: 1n },
      { version: 5n, kind: 'update_postimage', n: 1n },
      { version: 5n, kind: 'update_preimage', n: 1n },
    ]);
    const byOption = session.read.option('readChangeFeed', true).option('startingVersion', 5).table('db.t');
    expect(await byOption.count()).toBe(3);
  });

  it('travels in time by clause, option and path, and names the range when it cannot', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 't');
    await session.range(1).write.save(path);
    await session.range(2).write.mode('overwrite').save(path);
    expect(await rows(session, `SELECT count(*) AS n FROM delta.\`${path}\` VERSION AS OF 0`)).toEqual([{ n: 1n }]);
    expect(await session.read.option('versionAsOf', 0).load(path).count()).toBe(1);
    expect(await session.read.load(`${path}@v0`).count()).toBe(1);
    expect(await session.read.load(path).count()).toBe(2);
    await expect(session.read.option('versionAsOf', 9).load(path).count()).rejects.toMatchObject({
      errorClass: 'DELTA_VERSION_NOT_FOUND',
      sqlState: '22003',
      message: 'Cannot time travel Delta table to version 9. Available versions: [0, 1].',
    });
    await expect(session.read.option('versionAsOf', -1).load(path).count()).rejects.toMatchObject({
      errorClass: 'DELTA_VERSION_NOT_FOUND',
    });
    await expect(session.read.option('timestampAsOf', '2100-01-01').load(path).count()).rejects.toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
    });
    await expect(session.read.option('timestampAsOf', '2001-01-01').load(path).count()).rejects.toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION',
    });
    await expect(session.read.option('versionAsOf', 'x').load(path).count()).rejects.toThrow(
      'versionAsOf needs to be a valid begin value.',
    );
    expect(() => session.read.options({ versionAsOf: 0, timestampAsOf: '2024-01-01' }).load(path)).toThrow(/either provide/);
    expect(() => session.read.option('timestampAsOf', 'yesterday-ish').load(path)).toThrow(/'yesterday-ish'/);
  });

  it('refuses change ranges as the reference does', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 't');
    await session.range(1).write.option('delta.enableChangeDataFeed', true).save(path);
    await session.range(1).write.mode('append').save(path);
    const feed = (options: Readonly<Record<string, string>>) => session.read.option('readChangeFeed', 'true').options(options).load(path);
    expect(() => feed({})).toThrow('No startingVersion or startingTimestamp provided for CDC read.');
    await expect(feed({ startingVersion: '99' }).count()).rejects.toMatchObject({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
      message: 'Start version 99 for change data feed exceeds the latest table version 1.',
    });
    await expect(feed({ startingVersion: '1', endingVersion: '0' }).count()).rejects.toMatchObject({
      errorClass: 'DELTA_INVALID_CDC_RANGE',
      message: 'CDC range from start 1 to end 0 was invalid. End cannot be before start.',
    });
    expect(await feed({ startingVersion: '0', endingVersion: '50' }).count()).toBe(2);
    expect(await feed({ startingTimestamp: '2001-01-01' }).count()).toBe(2);
    await expect(feed({ startingTimestamp: '2100-01-01' }).count()).rejects.toMatchObject({
      errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
    });
    session.conf.set('spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled', true);
    expect(await feed({ startingVersion: '99' }).count()).toBe(0);
    expect(await feed({ startingTimestamp: '2100-01-01' }).count()).toBe(0);
  });

  it('reaches file pruning from conditions above projections and aliases, in both languages', async () => {
    await using made = await temporarySession();
    const { session } = made;
    for (const part of ['x', 'y', 'z']) {
      await session.range(2).withColumn('p', lit(part)).write.partitionBy('p').mode('append').saveAsTable('t');
    }
    const frame = session.table('t').select(col('p').alias('q'), 'id').alias('a').where("a.q = 'y' AND a.id >= 0");
    const [read] = (await frame.explanation()).tables;
    expect(read).toMatchObject({ filesConsidered: 3, filesSelected: 1 });
    const [bySql] = (await (await session.sql("SELECT q FROM (SELECT p AS q FROM t) WHERE q = 'y'")).explanation()).tables;
    expect(bySql).toMatchObject({ filesConsidered: 3, filesSelected: 1 });
    expect(await frame.count()).toBe(2);
    await frame.explain();
    expect(made.printed.join('')).toContain('files: 3 considered, 2 pruned, 1 read');
  });

  it('refuses rows of another schema, and evolves when asked', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.range(1).write.saveAsTable('t');
    const wider = session.range(1).withColumn('extra', lit('e'));
    await expect(wider.write.mode('append').saveAsTable('t')).rejects.toMatchObject({
      errorClass: 'DELTA_METADATA_MISMATCH',
      alias: '_LEGACY_ERROR_TEMP_DELTA_0007',
    });
    expect(await session.table('t').count()).toBe(1);
    await wider.write.mode('append').option('mergeSchema', true).saveAsTable('t');
    expect(await session.table('t').orderBy('extra').collect()).toEqual([
      { id: 0n, extra: null },
      { id: 0n, extra: 'e' },
    ]);
    await session
      .createDataFrame([{ z: 1 }], 'z INT')
      .write.mode('overwrite')
      .option('overwriteSchema', true)
      .saveAsTable('t');
    expect(await session.table('t').collect()).toEqual([{ z: 1 }]);
  });

  it('honours save modes, replaceWhere and dynamic partition overwrite', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 't');
    const frame = (id: number, p: string) => session.createDataFrame([{ id, p }], 'id INT, p STRING');
    await frame(1, 'a').union(frame(2, 'b')).write.partitionBy('p').save(path);
    await expect(frame(1, 'a').write.save(path)).rejects.toMatchObject({ errorClass: 'DELTA_PATH_EXISTS', sqlState: '42K04' });
    expect(await frame(1, 'a').write.mode('ignore').save(path)).toBeUndefined();
    await frame(3, 'a').write.mode('overwrite').option('replaceWhere', "p = 'a'").save(path);
    await frame(4, 'b').write.mode('overwrite').option('partitionOverwriteMode', 'dynamic').save(path);
    expect(await session.read.load(path).orderBy('id').collect()).toEqual([
      { id: 3, p: 'a' },
      { id: 4, p: 'b' },
    ]);
    expect(() => frame(1, 'a').write.mode('upsert')).toThrow(/save modes/);
    await expect(frame(1, 'a').write.option('mergeSchemas', true).mode('append').save(path)).rejects.toMatchObject({
      errorClass: 'UNKNOWN_OPTION',
      hint: 'did you mean "mergeSchema"?',
    });
  });

  it('writes once under an idempotency mark', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const write = () => session.range(1).write.mode('append').options({ txnAppId: 'app', txnVersion: 1 }).saveAsTable('t');
    await session.sql('CREATE TABLE t (id BIGINT) USING delta');
    await write();
    await write();
    expect(await session.table('t').count()).toBe(1);
  });

  it('does to every write what the session asks for', async () => {
    await using made = await temporarySession({
      'spark.databricks.delta.autoCompact.enabled': true,
      'spark.databricks.delta.autoCompact.minNumFiles': '2',
      'spark.databricks.delta.schema.autoMerge.enabled': true,
      'spark.databricks.delta.commitInfo.userMetadata': 'nightly',
      'spark.databricks.delta.properties.defaults.enableChangeDataFeed': true,
    });
    const { session } = made;
    await session.range(1).write.saveAsTable('t');
    await session.range(1).withColumn('extra', lit(1)).write.mode('append').saveAsTable('t');
    const table = await DeltaTable.forName(session, 't');
    expect(await table.history().select('operation', 'userMetadata').collect()).toEqual([
      { operation: 'OPTIMIZE', userMetadata: null },
      { operation: 'WRITE', userMetadata: 'nightly' },
      { operation: 'CREATE TABLE AS SELECT', userMetadata: 'nightly' },
    ]);
    const properties = await rows(session, "SHOW TBLPROPERTIES t ('delta.enableChangeDataFeed')");
    expect(properties).toEqual([{ key: 'delta.enableChangeDataFeed', value: 'true' }]);
  });

  it('binds parameters as values, whatever is in them', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const hostile = "x'; DROP TABLE t; --";
    await session.createDataFrame([{ v: hostile }], 'v STRING').write.saveAsTable('t');
    expect(await rows(session, 'SELECT v FROM t WHERE v = :v', { v: hostile })).toEqual([{ v: hostile }]);
    expect(await rows(session, 'SELECT ? AS a, ? AS b', [1n, null])).toEqual([{ a: 1n, b: null }]);
    await session.sql('INSERT INTO t VALUES (:v)', { v: '"' });
    expect(await rows(session, 'DELETE FROM t WHERE v = :v', { v: '"' })).toEqual([{ num_affected_rows: 1n }]);
  });

  it('answers DESCRIBE, SHOW and SET', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql(
      "CREATE TABLE t (id INT NOT NULL COMMENT 'key', v STRING) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)",
    );
    expect(await rows(session, 'DESCRIBE t')).toEqual([
      { col_name: 'id', data_type: 'int', comment: 'key' },
      { col_name: 'v', data_type: 'string', comment: null },
    ]);
    expect(await rows(session, 'SHOW TBLPROPERTIES t')).toEqual([
      { key: 'delta.enableChangeDataFeed', value: 'true' },
      { key: 'delta.feature.appendOnly', value: 'supported' },
      { key: 'delta.feature.changeDataFeed', value: 'supported' },
      { key: 'delta.feature.invariants', value: 'supported' },
      { key: 'delta.minReaderVersion', value: '1' },
      { key: 'delta.minWriterVersion', value: '7' },
    ]);
    expect(await rows(session, 'SHOW TABLES')).toEqual([{ namespace: 'default', tableName: 't', isTemporary: false }]);
    expect(await rows(session, 'SHOW COLUMNS IN t')).toEqual([{ col_name: 'id' }, { col_name: 'v' }]);
    const [created] = await rows(session, 'SHOW CREATE TABLE t');
    expect(created?.['createtab_stmt']).toContain("id INT NOT NULL COMMENT 'key',\n  v STRING)\nUSING delta\nLOCATION 'file:");
    const history = await (await session.sql('DESCRIBE HISTORY t')).select('version', 'operation').collect();
    expect(history).toEqual([{ version: 0n, operation: 'CREATE TABLE' }]);
    expect(await (await session.sql('DESCRIBE DETAIL t')).select('format', 'numFiles').collect()).toEqual([
      { format: 'delta', numFiles: 0n },
    ]);
    expect(await rows(session, 'SET spark.sql.shuffle.partitions = 4')).toEqual([{ key: 'spark.sql.shuffle.partitions', value: '4' }]);
  });

  it('sees temporary views as they were when a query was given', async () => {
    await using made = await temporarySession();
    const { session } = made;
    session.range(2).createOrReplaceTempView('v');
    const first = await session.sql('SELECT * FROM v');
    await session.sql('CREATE OR REPLACE TEMPORARY VIEW v AS SELECT id + 10 AS id FROM v');
    expect(await session.table('v').collect()).toEqual([{ id: 10n }, { id: 11n }]);
    expect(await first.count()).toBe(2);
    expect(await first.collect()).toEqual([{ id: 0n }, { id: 1n }]);
    expect(session.dropTempView('v')).toBe(true);
    await expect(session.sql('SELECT * FROM v')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
  });

  it('fails at once for unknown names and bad text', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await expect(session.sql('SELECT nope FROM (SELECT 1 AS id)')).rejects.toMatchObject({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    });
    await expect(session.sql('SELEC 1')).rejects.toMatchObject({ errorClass: 'PARSE_SYNTAX_ERROR' });
    await expect(session.sql('DESCRIBE HISTORY delta.`/nothing/here`')).rejects.toMatchObject({ errorClass: 'DELTA_TABLE_ONLY_OPERATION' });
    await expect(session.sql('SELECT * FROM delta.`/nothing/here`')).rejects.toMatchObject({
      errorClass: 'PATH_NOT_FOUND',
      sqlState: '42K03',
    });
    await expect(session.sql('USE nowhere')).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
  });

  it('reads what other names in the warehouse hide from it only by catalog', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    await session.sql('CREATE DATABASE One');
    await session.sql('CREATE TABLE one.T (id INT) USING delta');
    await expect(session.sql('CREATE TABLE ONE.t (id INT) USING delta')).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    await expect(session.sql('DROP DATABASE one')).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_EMPTY' });
    const path = join(directory, 'outside');
    await mkdir(path);
    await session.sql(`CREATE TABLE one.ext (id INT) USING delta LOCATION '${path}'`);
    await session.sql('INSERT INTO one.ext VALUES (1)');
    await session.sql('DROP TABLE one.ext');
    expect(await session.read.load(path).count()).toBe(1);
    await session.sql(`CREATE TABLE one.again USING delta LOCATION '${path}'`);
    expect(await session.table('one.again').count()).toBe(1);
    await session.sql('DROP DATABASE one CASCADE');
    expect(await session.read.load(path).count()).toBe(1);
    await expect(session.sql('SELECT * FROM one.t')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });
});

describe('DeltaTable', () => {
  it('changes rows and tells how many', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 't');
    expect(await DeltaTable.isDeltaTable(session, path)).toBe(false);
    await session.range(4).withColumn('v', lit('a')).write.save(path);
    const table = await DeltaTable.forPath(session, path);
    expect(await (await table.update({ condition: 'id = 1', set: { v: "'b'" } })).collect()).toEqual([{ num_affected_rows: 1n }]);
    expect(await (await table.update(col('id').eq(2), { v: lit('c') })).collect()).toEqual([{ num_affected_rows: 1n }]);
    expect(await (await table.delete('id = 0')).collect()).toEqual([{ num_affected_rows: 1n }]);
    const source = session
      .createDataFrame(
        [
          { id: 3, v: 'm' },
          { id: 7, v: 'n' },
        ],
        'id BIGINT, v STRING',
      )
      .alias('s');
    await table.alias('t').merge(source, 't.id = s.id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute();
    expect(await table.toDF().orderBy('id').collect()).toEqual([
      { id: 1n, v: 'b' },
      { id: 2n, v: 'c' },
      { id: 3n, v: 'm' },
      { id: 7n, v: 'n' },
    ]);
    await (await table.restoreToVersion(0)).collect();
    expect(await table.toDF().where("v = 'a'").count()).toBe(4);
    expect(await table.history(2).select('operation').collect()).toEqual([{ operation: 'RESTORE' }, { operation: 'MERGE' }]);
    const metrics = await (await table.optimize().executeCompaction()).select('metrics.numFilesAdded').collect();
    expect(metrics).toHaveLength(1);
  });

  it('is built step by step', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const built = await DeltaTable.create(session)
      .tableName('built')
      .addColumn('id', 'BIGINT', { nullable: false })
      .addColumn('p', 'STRING', { comment: 'part' })
      .partitionedBy('p')
      .property('delta.appendOnly', 'true')
      .execute();
    expect(await built.detail().select('partitionColumns').collect()).toEqual([{ partitionColumns: ['p'] }]);
    await expect(DeltaTable.create(session).tableName('built').addColumn('id', 'INT').execute()).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    await expect(DeltaTable.forName(session, 'absent')).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });
});
