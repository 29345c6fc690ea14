import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSession, Session } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Sessions are configured as Spark's are. */

const deltaKeys = {
  'spark.sql.extensions': 'io.delta.sql.DeltaSparkSessionExtension',
  'spark.sql.catalog.spark_catalog': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
};

describe('session configuration', () => {
  const bench = deltaBench();

  it('B01: a session set up with the extension and the catalog of Delta writes and reads tables', async () => {
    const warehouse = bench().path('configured');
    await using session = await Session.builder()
      .appName('parity')
      .master('local[*]')
      .config('spark.sql.extensions', deltaKeys['spark.sql.extensions'])
      .config('spark.sql.catalog.spark_catalog', deltaKeys['spark.sql.catalog.spark_catalog'])
      .config({ 'spark.sql.warehouse.dir': warehouse, 'tidewater.engine.threads': 1 })
      .create();
    await session.sql('CREATE TABLE people (id BIGINT, name STRING) USING delta');
    await session.sql("INSERT INTO people VALUES (1, 'ann'), (2, 'bob')");
    expect(await session.table('people').orderBy('id').collect()).toEqual([
      { id: 1n, name: 'ann' },
      { id: 2n, name: 'bob' },
    ]);
    expect(existsSync(join(warehouse, 'people', '_delta_log', '00000000000000000000.json'))).toBe(true);
    expect(session.conf.get('spark.app.name')).toBe('parity');
    expect(session.conf.get('spark.sql.extensions')).toBe('io.delta.sql.DeltaSparkSessionExtension');
    await bench().agree('configured/people');
  });

  it('B01: a catalog may be configured by name and be the default', async () => {
    const session = bench().another({
      ...deltaKeys,
      'spark.sql.catalog.lake': 'org.apache.spark.sql.delta.catalog.DeltaCatalog',
      'spark.sql.catalog.lake.type': 'hadoop',
      'spark.sql.catalog.lake.warehouse': bench().path('lake'),
      'spark.sql.defaultCatalog': 'lake',
    });
    await session.sql('CREATE DATABASE sales');
    await session.range(3).write.saveAsTable('sales.orders');
    expect(await session.table('lake.sales.orders').count()).toBe(3);
    expect(await refusalOf(session.table('spark_catalog.sales.orders').count())).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
  });

  it('B01: the same keys are accepted below the prefix of this program', async () => {
    await using session = createSession({
      config: {
        'tidewater.sql.extensions': deltaKeys['spark.sql.extensions'],
        'tidewater.sql.catalog.spark_catalog': deltaKeys['spark.sql.catalog.spark_catalog'],
        'tidewater.delta.optimizeWrite.enabled': true,
      },
    });
    expect(session.conf.get('spark.sql.catalog.spark_catalog')).toBe(deltaKeys['spark.sql.catalog.spark_catalog']);
    expect(session.conf.get('spark.databricks.delta.optimizeWrite.enabled')).toBe('true');
    expect(session.conf.get('tidewater.sql.extensions')).toBe(deltaKeys['spark.sql.extensions']);
  });

  it.each([
    ['an extension of another kind', 'spark.sql.extensions', 'com.example.Nope', 'CANNOT_LOAD_CLASS', '46103'],
    [
      'a known and an unknown extension',
      'spark.sql.extensions',
      'io.delta.sql.DeltaSparkSessionExtension,a.B',
      'CANNOT_LOAD_CLASS',
      '46103',
    ],
    ['a session catalog of another kind', 'spark.sql.catalog.spark_catalog', 'com.example.Catalog', 'CANNOT_LOAD_CLASS', '46103'],
    ['a catalog without a warehouse', 'spark.sql.catalog.lake', 'a.Catalog', 'CATALOG_CONFIGURATION_INVALID', '42000'],
    ['an unknown default catalog', 'spark.sql.defaultCatalog', 'nope', 'CATALOG_NOT_FOUND', '42P08'],
    ['an unknown key of Delta', 'spark.databricks.delta.optimizeWrites.enabled', 'true', 'UNKNOWN_CONFIGURATION_KEY', '42K0I'],
    ['an unknown key of this program', 'tidewater.engine.thread', '1', 'UNKNOWN_CONFIGURATION_KEY', '42K0I'],
    ['a value of the wrong kind', 'spark.databricks.delta.optimizeWrite.enabled', 'yes', 'INVALID_CONF_VALUE.TYPE_MISMATCH', '22022'],
    ['a number that is none', 'tidewater.engine.threads', 'two', 'INVALID_CONF_VALUE.TYPE_MISMATCH', '22022'],
  ])('B01: what cannot be meant is refused when the session is made: %s', async (_case, key, value, errorClass, sqlState) => {
    const refusal = await refusalOf(
      Session.builder()
        .config({ ...deltaKeys, [key]: value })
        .create(),
    );
    expect(refusal).toMatchObject({ errorClass, sqlState });
    const [culprit = key] = /nope|lake/.exec(`${value} ${key}`) ?? [];
    expect(refusal.message).toContain(culprit);
  });

  it('B01: refusals name the nearest key, and the classes there are', async () => {
    const builder = Session.builder();
    const key = await refusalOf(builder.config('spark.databricks.delta.optimizeWrites.enabled', true).create());
    expect(key.hint).toBe('did you mean "spark.databricks.delta.optimizeWrite.enabled"?');
    const extension = await refusalOf(builder.config('spark.sql.extensions', 'com.example.Nope').create());
    expect(extension.message).toBe('"spark.sql.extensions" names the class "com.example.Nope", which is not one this session knows');
    expect(extension.hint).toContain('io.delta.sql.DeltaSparkSessionExtension');
    const value = await refusalOf(builder.config('spark.databricks.delta.optimizeWrite.enabled', 'yes').create());
    expect(value.message).toBe(
      `The value 'yes' in the config "spark.databricks.delta.optimizeWrite.enabled" is invalid. It should be true or false.`,
    );
  });

  it('B01: keys are set, shown and reset by statements and by the configuration object', async () => {
    const session = bench().another(deltaKeys);
    const key = 'spark.databricks.delta.schema.autoMerge.enabled';
    const sql = async (text: string) => (await session.sql(text)).collect();
    expect(await sql(`SET ${key}`)).toEqual([{ key, value: '<undefined>' }]);
    expect(await sql(`SET ${key} = true`)).toEqual([{ key, value: 'true' }]);
    expect(session.conf.get(key)).toBe('true');
    session.conf.set(key, false);
    expect(await sql(`SET ${key}`)).toEqual([{ key, value: 'false' }]);
    await sql(`RESET ${key}`);
    expect(await refusalOf(() => Promise.resolve(session.conf.get(key)))).toMatchObject({
      errorClass: 'SQL_CONF_NOT_FOUND',
      sqlState: '42K0I',
    });
    expect(session.conf.get(key, 'fallback')).toBe('fallback');
    expect(await refusalOf(session.sql(`SET ${key} = maybe`))).toMatchObject({ errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH' });
    expect(await sql('SET')).toContainEqual({ key: 'spark.sql.extensions', value: deltaKeys['spark.sql.extensions'] });
  });

  it('B01: a stopped session refuses everything, and the builder makes another one', async () => {
    const first = await Session.builder().config(deltaKeys).getOrCreate();
    expect(await Session.builder().config('spark.app.name', 'again').getOrCreate()).toBe(first);
    expect(first.conf.get('spark.app.name')).toBe('again');
    await first.stop();
    expect(await refusalOf(first.range(1).collect())).toMatchObject({ errorClass: 'SESSION_STOPPED', sqlState: '08003' });
    expect(await refusalOf(async () => first.sql('SELECT 1'))).toMatchObject({ errorClass: 'SESSION_STOPPED' });
    const second = await Session.builder().config(deltaKeys).getOrCreate();
    expect(second).not.toBe(first);
    await second.stop();
  });
});
