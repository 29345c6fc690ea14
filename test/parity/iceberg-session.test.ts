import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSession, Session } from '../../src/index.ts';
import { directoryCatalog, icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';
import { withTemporaryDirectory } from '../support/servers.ts';

/** Sessions with Iceberg catalogs, the names in them, and their databases. */
describe('sessions with Iceberg catalogs', () => {
  const bench = icebergBench();

  it('A01: a session set up with the extension and a catalog of directories writes and reads tables', async () => {
    await withTemporaryDirectory(async (directory) => {
      await using session = await Session.builder().appName('parity').config(directoryCatalog(directory)).create();
      await session.sql('CREATE DATABASE IF NOT EXISTS db');
      await session.sql("CREATE TABLE db.people USING iceberg AS SELECT 1L AS id, 'ann' AS name");
      expect(await session.table('ice.db.people').collect()).toEqual([{ id: 1n, name: 'ann' }]);
      expect(existsSync(join(directory, 'ice', 'db', 'people', 'metadata', 'v1.metadata.json'))).toBe(true);
    });
  });

  it('A01: the same keys are accepted below the prefix of this program, and catalog-impl for type', async () => {
    await using session = createSession({
      config: {
        'tidewater.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
        'tidewater.sql.catalog.lake.catalog-impl': 'org.apache.iceberg.hadoop.HadoopCatalog',
        'tidewater.sql.catalog.lake.warehouse': join(bench().directory, 'lake'),
        'tidewater.sql.defaultCatalog': 'lake',
      },
    });
    await session.sql('CREATE DATABASE sales');
    await session.range(3).write.format('iceberg').saveAsTable('sales.orders');
    expect(await session.table('lake.sales.orders').count()).toBe(3);
  });

  it('A01: defaults and overrides of table properties, and settings of stores, go to the catalog', async () => {
    const session = bench().another({
      'spark.sql.catalog.ice.table-default.write.format.default': 'avro',
      'spark.sql.catalog.ice.table-override.write.metadata.previous-versions-max': '7',
      'spark.sql.catalog.ice.s3.endpoint': 'http://localhost:1',
    });
    await session.sql("CREATE TABLE db.defaults (id INT) USING iceberg TBLPROPERTIES ('write.metadata.previous-versions-max' = '3')");
    expect(bench().metadata('defaults')['properties']).toMatchObject({
      'write.format.default': 'avro',
      'write.metadata.previous-versions-max': '7',
    });
  });

  it.each([
    [
      'an unknown key',
      { 'spark.sql.catalog.ice.warehose': '/x' },
      'catalog "ice" has the key "warehose", which a catalog of this kind does not have',
    ],
    ['an unknown type', { 'spark.sql.catalog.ice.type': 'hive' }, 'catalog "ice" has type "hive", which this version does not have'],
    [
      'a catalog without its place',
      { 'spark.sql.catalog.other': 'org.apache.iceberg.spark.SparkCatalog' },
      'catalog "other" has no warehouse',
    ],
    ['a REST catalog without its address', { 'spark.sql.catalog.ice.type': 'rest' }, 'catalog "ice" has no http or https uri'],
  ])('A01: %s is refused by name', async (_what, config, message) => {
    const attempt = (): Promise<unknown> => Promise.resolve(bench().another(config));
    expect(await refusalOf(attempt)).toMatchObject({ errorClass: 'CATALOG_CONFIGURATION_INVALID', message });
  });

  it('A02: tables are found by catalog, database and name, by the default catalog, and by quoted identifiers', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE ice.db.named (id INT) USING iceberg');
    await sql('INSERT INTO db.named VALUES (1)');
    for (const name of ['ice.db.named', 'db.named', '`ice`.`db`.`named`', '`db`.named']) {
      expect(await sql(`SELECT * FROM ${name}`)).toEqual([{ id: 1 }]);
      expect(await session.table(name).collect()).toEqual([{ id: 1 }]);
    }
    expect(await session.read.format('iceberg').load('db.named').collect()).toEqual([{ id: 1 }]);
    await sql('CREATE TABLE db.`odd name` (`a b` INT, `sel``ect` INT) USING iceberg');
    await sql('INSERT INTO db.`odd name` VALUES (1, 2)');
    expect(await sql('SELECT `a b`, `sel``ect` FROM ice.db.`odd name`')).toEqual([{ 'a b': 1, 'sel`ect': 2 }]);
  });

  it('A02: USE changes what shorter names mean', async () => {
    const session = bench().another({
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.warehouse': join(bench().directory, 'used'),
    });
    await session.sql('CREATE DATABASE ice.used');
    await session.sql('USE ice.used');
    await session.sql('CREATE TABLE here (id INT) USING iceberg');
    expect(existsSync(join(bench().directory, 'ice', 'used', 'here', 'metadata'))).toBe(true);
    await session.sql('CREATE DATABASE lake.db');
    await session.sql('USE lake.db');
    await session.sql('CREATE TABLE t (id INT) USING iceberg');
    expect(await session.table('lake.db.t').count()).toBe(0);
    expect(await refusalOf(session.table('here').count())).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
    expect(await session.table('ice.used.here').count()).toBe(0);
    await session.sql('USE ice');
    expect((await (await session.sql('SHOW DATABASES')).collect()).map((row) => row['namespace'])).toContain('used');
  });

  it('A02: a name that is not there is refused as Spark refuses it', async () => {
    const refused = await refusalOf(bench().sql('SELECT * FROM ice.nope.nothing'));
    expect(refused).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
    expect(refused.message).toMatch(/^The table or view `ice`\.`nope`\.`nothing` cannot be found\. Verify the spelling/);
    expect(await refusalOf(bench().sql('SELECT * FROM nowhere.db.t'))).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('A03: databases are made, shown and dropped', async () => {
    const { sql, directory } = bench();
    await sql('CREATE DATABASE IF NOT EXISTS made');
    await sql('CREATE DATABASE IF NOT EXISTS made');
    await sql('CREATE NAMESPACE second');
    await sql('CREATE SCHEMA IF NOT EXISTS ice.third');
    expect(readdirSync(join(directory, 'ice'))).toEqual(expect.arrayContaining(['made', 'second', 'third']));
    const names = (await sql('SHOW DATABASES')).map((row) => row['namespace']);
    expect(names).toEqual(expect.arrayContaining(['db', 'made', 'second', 'third']));
    expect(await sql("SHOW NAMESPACES LIKE 'sec*'")).toEqual([{ namespace: 'second' }]);
    expect(await refusalOf(sql('CREATE DATABASE made'))).toMatchObject({
      errorClass: 'SCHEMA_ALREADY_EXISTS',
      sqlState: '42P06',
      message: 'Cannot create schema `made` because it already exists.',
    });
    for (const name of ['made', 'second', 'third']) await sql(`DROP DATABASE ${name}`);
    await sql('DROP DATABASE IF EXISTS made');
    expect(await refusalOf(sql('DROP DATABASE made'))).toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND', sqlState: '42704' });
  });

  it('A03: SHOW TABLES, and DROP TABLE with and without PURGE', async () => {
    const { sql, directory } = bench();
    await sql('CREATE DATABASE dropped');
    for (const name of ['a', 'b']) await sql(`CREATE TABLE dropped.${name} USING iceberg AS SELECT 1 AS id`);
    expect(await sql('SHOW TABLES IN dropped')).toEqual([
      { namespace: 'dropped', tableName: 'a', isTemporary: false },
      { namespace: 'dropped', tableName: 'b', isTemporary: false },
    ]);
    const refused = await refusalOf(sql('DROP DATABASE dropped'));
    expect(refused).toMatchObject({ errorClass: 'SCHEMA_NOT_EMPTY', sqlState: '2BP01' });
    await sql('DROP TABLE dropped.a');
    await sql('DROP TABLE dropped.b PURGE');
    expect(await sql('SHOW TABLES IN dropped')).toEqual([]);
    expect(existsSync(join(directory, 'ice', 'dropped', 'b'))).toBe(false);
    await sql('DROP TABLE IF EXISTS dropped.a');
    const missing = await refusalOf(sql('DROP TABLE ice.dropped.a'));
    expect(missing).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
    expect(missing.message).toMatch(/^The table or view `ice`\.`dropped`\.`a` cannot be found\./);
    await sql('DROP DATABASE dropped');
  });

  it('A27: a SQL catalog on SQLite keeps names, properties and the place of each table', async () => {
    const directory = join(bench().directory, 'sqlite');
    const config = {
      'spark.sql.catalog.lite': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lite.type': 'jdbc',
      'spark.sql.catalog.lite.uri': `jdbc:sqlite:${bench().directory}/catalog.db`,
      'spark.sql.catalog.lite.warehouse': directory,
      'spark.sql.defaultCatalog': 'lite',
    };
    const session = bench().another(config);
    await session.sql('CREATE DATABASE db');
    await session.sql('CREATE TABLE db.t (id INT, v STRING) USING iceberg');
    await session.sql("INSERT INTO db.t VALUES (1, 'a')");
    await session.sql("UPDATE db.t SET v = 'b'");
    expect(
      readdirSync(join(directory, 'db', 't', 'metadata')).filter((name) => /^0000\d-[0-9a-f-]{36}\.metadata\.json$/.test(name)),
    ).toHaveLength(3);
    const other = bench().another(config);
    expect(await other.table('lite.db.t').collect()).toEqual([{ id: 1, v: 'b' }]);
    await other.sql('ALTER TABLE db.t RENAME TO db.renamed');
    expect((await (await session.sql('SHOW TABLES IN db')).collect()).map((row) => row['tableName'])).toEqual(['renamed']);
    expect(await session.table('db.renamed').collect()).toEqual([{ id: 1, v: 'b' }]);
    expect(await refusalOf(session.sql('CREATE TABLE db.renamed (id INT) USING iceberg'))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    const [newest] = await (
      await session.sql('SELECT file FROM db.renamed.metadata_log_entries ORDER BY timestamp DESC LIMIT 1')
    ).collect();
    await session.sql('DROP TABLE db.renamed');
    expect(await (await session.sql('SHOW TABLES IN db')).collect()).toEqual([]);
    // Its files stay: the catalog has forgotten the name only.
    expect(existsSync(join(directory, 'db', 't', 'metadata'))).toBe(true);
    const registered = await session.sql(
      `CALL lite.system.register_table(table => 'db.again', metadata_file => '${textIn(newest, 'file')}')`,
    );
    const folder = join(directory, 'db', 't');
    expect(
      (await refusalOf(session.sql(`CALL lite.system.register_table(table => 'db.third', metadata_file => '${folder}')`))).message,
    ).toContain(`metadata_file "${folder}" is a directory`);
    expect(await registered.collect()).toMatchObject([{ total_records_count: 1n, total_data_files_count: 1n }]);
    expect(await other.table('db.again').collect()).toEqual([{ id: 1, v: 'b' }]);
    await session.sql('DROP TABLE db.again PURGE');
    expect(
      readdirSync(join(directory, 'db', 't'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    ).toEqual([]);
    await session.sql('DROP DATABASE db');
  });

  it('A27: sessions that write to one table of a SQL catalog at once lose no commit', async () => {
    const config = {
      'spark.sql.catalog.busy': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.busy.catalog-impl': 'org.apache.iceberg.jdbc.JdbcCatalog',
      'spark.sql.catalog.busy.uri': `jdbc:sqlite:${bench().directory}/busy.db`,
      'spark.sql.catalog.busy.warehouse': join(bench().directory, 'busy'),
      'tidewater.engine.threads': 1,
    };
    const sessions = Array.from({ length: 4 }, () => bench().another(config));
    await sessions[0]?.sql('CREATE DATABASE busy.db');
    await sessions[0]?.sql("CREATE TABLE busy.db.t (id INT) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '50')");
    await Promise.all(sessions.map((session, id) => session.sql(`INSERT INTO busy.db.t VALUES (${id})`)));
    expect(await sessions[0]?.table('busy.db.t').orderBy('id').collect()).toEqual([0, 1, 2, 3].map((id) => ({ id })));
  });
});
