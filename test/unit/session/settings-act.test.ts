import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../../src/app/session.ts';
import { SessionConf } from '../../../src/session/conf/session-conf.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const formats = ['delta', 'iceberg'] as const;

async function count(session: Session, table: string): Promise<number> {
  return session.table(table).count();
}

describe('settings of a session', () => {
  it.each([
    ['spark.sql.legacy.charVarcharAsString', 'true'],
    ['spark.sql.crossJoin.enabled', 'false'],
    ['spark.sql.files.ignoreCorruptFiles', 'true'],
    ['spark.sql.iceberg.compression-codec', 'gzip'],
    ['spark.sql.iceberg.merge-schema', 'true'],
    ['spark.databricks.delta.stats.collect', 'false'],
    ['spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled', 'true'],
    ['spark.delta.logStore.s3.impl', 'io.delta.storage.S3DynamoDBLogStore'],
  ])('%s = %s is refused by name with the cure', (key, value) => {
    expect(() => new SessionConf([[key, value]])).toThrow(
      expect.objectContaining({
        errorClass: 'UNSUPPORTED_FEATURE',
        message: expect.stringContaining(key) as string,
        hint: expect.any(String) as string,
      }),
    );
  });

  it.each([
    ['spark.sql.legacy.charVarcharAsString', 'false'],
    ['spark.sql.shuffle.partitions', '8'],
    ['spark.sql.iceberg.vectorization.enabled', 'false'],
    ['spark.delta.logStore.s3.impl', 'io.delta.storage.S3SingleDriverLogStore'],
  ])('%s = %s is taken', (key, value) => {
    expect(new SessionConf([[key, value]]).get(key)).toBe(value);
  });

  it('refuses an unknown key of Iceberg with the nearest one', () => {
    expect(() => new SessionConf([['spark.sql.iceberg.check-orderin', 'true']])).toThrow(
      expect.objectContaining({ errorClass: 'UNKNOWN_CONFIGURATION_KEY', hint: 'did you mean "spark.sql.iceberg.check-ordering"?' }),
    );
  });

  it.each(formats)('txnAppId and txnVersion keep rows that are written twice once, by whatever statement, in %s', async (format) => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql(`CREATE TABLE t (id INT) USING ${format}`);
    session.conf.set('spark.databricks.delta.write.txnAppId', 'job');
    session.conf.set('spark.databricks.delta.write.txnVersion', 1);
    await session.sql('INSERT INTO t VALUES (1)');
    await session.sql('INSERT INTO t VALUES (1)');
    await session
      .createDataFrame([{ id: 1 }], 'id INT')
      .write.mode('append')
      .saveAsTable('t');
    expect(await count(session, 't')).toBe(1);
    session.conf.set('spark.databricks.delta.write.txnVersion', 2);
    await session.sql('INSERT INTO t VALUES (2)');
    expect(await count(session, 't')).toBe(2);
  });

  it('a mark that resets itself is for one write', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    session.conf.set('spark.databricks.delta.write.txnAppId', 'job');
    session.conf.set('spark.databricks.delta.write.txnVersion.autoReset.enabled', true);
    session.conf.set('spark.databricks.delta.write.txnVersion', 1);
    await session.sql('INSERT INTO t VALUES (1)');
    await session.sql('INSERT INTO t VALUES (2)');
    expect(await count(session, 't')).toBe(2);
  });

  it('properties of snapshots come from the session', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING iceberg');
    session.conf.set('spark.sql.iceberg.snapshot-property.team', 'blue');
    await session.sql('INSERT INTO t VALUES (1)');
    const [row] = await (await session.sql("SELECT summary['team'] AS team FROM t.snapshots")).collect();
    expect(row).toEqual({ team: 'blue' });
  });

  it('takes unknown properties below delta. only when it is told to', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const text = "CREATE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.unknown' = '1')";
    await expect(session.sql(text)).rejects.toMatchObject({ errorClass: 'DELTA_UNKNOWN_CONFIGURATION' });
    session.conf.set('spark.databricks.delta.allowArbitraryProperties.enabled', true);
    await session.sql(text);
    await session.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.other' = '2')");
    await session.sql("ALTER TABLE t UNSET TBLPROPERTIES ('delta.unknown')");
    const properties = await (await session.sql('SHOW TBLPROPERTIES t')).collect();
    expect(properties).toContainEqual({ key: 'delta.other', value: '2' });
    expect(properties).not.toContainEqual({ key: 'delta.unknown', value: '1' });
  });

  it.each([
    ['the session', 'SET spark.databricks.delta.optimize.minFileSize = 1'],
    ['the table', "ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '1')"],
  ])('OPTIMIZE leaves files alone that are large enough by %s', async (_, setting) => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    for (const id of [1, 2]) await session.sql(`INSERT INTO t VALUES (${id})`);
    await session.sql(setting);
    const [left] = await (await session.sql('OPTIMIZE t')).collect();
    expect(left).toMatchObject({ metrics: { numFilesRemoved: 0n } });
  });

  it.each([
    ['delta', 'delta.randomizeFilePrefixes', 'true'],
    ['iceberg', 'write.location-provider.impl', 'com.example.Places'],
    ['iceberg', 'encryption.key-id', 'k'],
  ])('a property of %s tables that would be ignored is refused by name: %s', async (format, key, value) => {
    await using made = await temporarySession();
    const refused = made.session.sql(`CREATE TABLE t (id INT) USING ${format} TBLPROPERTIES ('${key}' = '${value}')`);
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(key) as string, hint: expect.any(String) as string });
  });
});

describe('options', () => {
  it('merge-schema adds columns as mergeSchema does', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql("CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')");
    await session
      .createDataFrame([{ id: 1, v: 'a' }], 'id INT, v STRING')
      .writeTo('t')
      .option('merge-schema', 'true')
      .append();
    expect(await session.table('t').collect()).toEqual([{ id: 1, v: 'a' }]);
  });

  it.each(formats)('compression of a write to a %s table is refused: the table says it', async (format) => {
    await using made = await temporarySession();
    const rows = made.session.createDataFrame([{ id: 1 }], 'id INT');
    const written = rows.write.format(format).option('compression', 'gzip').saveAsTable('t');
    await expect(written).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_FEATURE',
      hint: expect.stringContaining('compression') as string,
    });
  });

  it('patterns of dates in CSV are those of Java', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    const path = join(directory, 'dates');
    mkdirSync(path);
    writeFileSync(join(path, 'a.csv'), '29/02/2024\n');
    const read = session.read.schema('d DATE').option('dateFormat', 'dd/MM/yyyy').csv(path);
    expect(await read.collect()).toEqual([{ d: '2024-02-29' }]);
    const unknown = session.read.schema('d DATE').option('dateFormat', 'GGGG').csv(path);
    await expect(unknown.collect()).rejects.toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION' });
  });

  it('excludeRegex leaves files out of a stream', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    await session.sql('CREATE TABLE t (id INT, p STRING) USING delta PARTITIONED BY (p)');
    await session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    const streamed = session.readStream.option('excludeRegex', 'p=a/').table('t');
    const query = await streamed.writeStream
      .format('memory')
      .queryName('seen')
      .trigger({ availableNow: true })
      .option('checkpointLocation', join(directory, 'checkpoint'))
      .start();
    await query.awaitTermination();
    expect(await session.table('seen').collect()).toEqual([{ id: 2, p: 'b' }]);
    expect(() => session.readStream.option('excludeRegex', '(').table('t')).toThrow(
      expect.objectContaining({ errorClass: 'DELTA_REGEX_OPT_SYNTAX_ERROR' }),
    );
    await session.sql('CREATE TABLE i (id INT) USING iceberg');
    const other = session.readStream.option('excludeRegex', 'x').table('i');
    await expect(other.writeStream.format('memory').queryName('none').start()).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
  });

  it('a stream keeps its place below the checkpoint location of the session, by its name', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    session.conf.set('spark.sql.streaming.checkpointLocation', join(directory, 'places'));
    const query = await session.readStream.table('t').writeStream.queryName('copy').trigger({ availableNow: true }).toTable('u');
    await query.awaitTermination();
    expect(readdirSync(join(directory, 'places'))).toEqual(['copy']);
  });

  it('of another sink are unknown to a stream', async () => {
    await using made = await temporarySession();
    const { session, directory } = made;
    await session.sql('CREATE TABLE t (id INT) USING delta');
    const writer = session.readStream.table('t').writeStream.option('numRows', 5).option('checkpointLocation', join(directory, 'c'));
    await expect(writer.toTable('u')).rejects.toMatchObject({ errorClass: 'UNKNOWN_OPTION' });
  });
});
