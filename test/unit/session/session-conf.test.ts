import { describe, expect, it } from 'vitest';
import { createSession, Session } from '../../../src/app/session.ts';
import { SessionConf } from '../../../src/session/conf/session-conf.ts';

describe('SessionConf', () => {
  it('takes keys under their other names', () => {
    const conf = new SessionConf([['tidewater.delta.schema.autoMerge.enabled', 'true']]);
    expect(conf.get('spark.databricks.delta.schema.autoMerge.enabled')).toBe('true');
    conf.set('tidewater.sql.defaultCatalog', 'c');
    expect(conf.find('spark.sql.defaultCatalog')).toBe('c');
    conf.unset('spark.sql.defaultCatalog');
    expect(conf.find('tidewater.sql.defaultCatalog')).toBeUndefined();
  });

  it('keeps other keys of Spark as they are', () => {
    const conf = new SessionConf([['spark.sql.shuffle.partitions', '8']]);
    expect(conf.get('spark.sql.shuffle.partitions')).toBe('8');
    expect(conf.get('spark.absent', 'fallback')).toBe('fallback');
    expect(() => conf.get('spark.absent')).toThrow('The SQL config "spark.absent" cannot be found.');
  });

  it.each([
    ['spark.databricks.delta.schema.autoMerge.enable', 'true', 'did you mean "spark.databricks.delta.schema.autoMerge.enabled"?'],
    ['tidewater.engine.memorylimit', '1g', 'did you mean "tidewater.engine.memoryLimit"?'],
  ])('refuses the unknown key %s with the nearest one', (key, value, hint) => {
    expect(() => new SessionConf([[key, value]])).toThrow(expect.objectContaining({ errorClass: 'UNKNOWN_CONFIGURATION_KEY', hint }));
  });

  it.each([
    ['spark.databricks.delta.schema.autoMerge.enabled', 'yes'],
    ['spark.databricks.delta.autoCompact.minNumFiles', 'many'],
    ['tidewater.engine.memoryLimit', 'a lot'],
  ])('refuses a value of the wrong kind for %s', (key, value) => {
    expect(() => new SessionConf([[key, value]])).toThrow(expect.objectContaining({ errorClass: 'INVALID_CONF_VALUE.TYPE_MISMATCH' }));
  });

  it.each([
    ['spark.sql.ansi.enabled', 'false', 'true'],
    ['spark.sql.caseSensitive', 'true', 'false'],
    ['spark.sql.storeAssignmentPolicy', 'LEGACY', 'ansi'],
    ['spark.sql.timestampType', 'TIMESTAMP_NTZ', 'TIMESTAMP_LTZ'],
  ])('refuses by name the value of %s that it would ignore: %s', (key, value, done) => {
    const conf = new SessionConf([[key, done]]);
    expect(conf.get(key)).toBe(done);
    expect(() => {
      conf.set(key, value);
    }).toThrow(
      expect.objectContaining({ errorClass: 'UNSUPPORTED_FEATURE', message: `the value "${value}" of "${key}" is not supported` }),
    );
    expect(conf.get(key)).toBe(done);
  });

  it.each([
    ['512', 512],
    ['1k', 1024],
    ['1.5 MB', 1.5 * 1024 ** 2],
    ['2GiB', 2 * 1024 ** 3],
  ])('reads %s as a size', (text, bytes) => {
    expect(new SessionConf([['tidewater.engine.memoryLimit', text]]).bytes('tidewater.engine.memoryLimit')).toBe(bytes);
  });

  it('knows the classes of extensions and catalogs, and no others', () => {
    const conf = new SessionConf([
      ['spark.sql.extensions', 'io.delta.sql.DeltaSparkSessionExtension'],
      ['spark.sql.catalog.spark_catalog', 'org.apache.spark.sql.delta.catalog.DeltaCatalog'],
    ]);
    expect(() => {
      conf.set('spark.sql.catalog.spark_catalog', 'com.example.Catalog');
    }).toThrow(expect.objectContaining({ errorClass: 'CANNOT_LOAD_CLASS' }));
  });
});

describe('Session.builder', () => {
  it('gives the session that runs, with the new configuration, until it is stopped', async () => {
    const first = await Session.builder().master('local[2]').appName('test').config('spark.some.key', 'a').getOrCreate();
    const second = await Session.builder().config({ 'spark.some.key': 'b' }).getOrCreate();
    expect(second).toBe(first);
    expect(first.conf.get('spark.some.key')).toBe('b');
    await first.stop();
    const third = await Session.builder().getOrCreate();
    expect(third).not.toBe(first);
    await third.stop();
  });

  it('refuses catalogs that it cannot open', () => {
    const refused = (config: Readonly<Record<string, string>>, message: RegExp): void => {
      expect(() => createSession({ config })).toThrow(message);
    };
    refused({ 'spark.sql.catalog.c.type': 'rest', 'spark.sql.catalog.c.warehouse': '/tmp/x' }, /catalog "c" has no http or https uri/);
    refused({ 'spark.sql.catalog.c.type': 'hive', 'spark.sql.catalog.c.uri': 'thrift://h' }, /"hive"/);
    refused({ 'spark.sql.catalog.c.type': 'hadoop' }, /catalog "c" .*warehouse/);
    refused({ 'spark.sql.catalog.c.type': 'hadoop', 'spark.sql.catalog.c.warehouses': '/tmp/x' }, /warehouses/);
    expect(() => createSession({ config: { 'spark.sql.defaultCatalog': 'nowhere' } })).toThrow(
      expect.objectContaining({ errorClass: 'CATALOG_NOT_FOUND' }),
    );
  });
});
