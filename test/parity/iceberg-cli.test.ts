import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTable } from '../../src/app/commands/read-command.ts';
import { createSession } from '../../src/index.ts';
import { directoryCatalog } from '../support/iceberg/parity-bench.ts';
import { withTemporaryDirectory } from '../support/servers.ts';
import { type CliRun, cli } from '../unit/cli/cli-support.ts';

it('A06: tables of a catalog are made, read and explored on the command line', async () => {
  await withTemporaryDirectory(async (directory) => {
    const openSession = (config: Readonly<Record<string, string>>) =>
      createSession({ config: { 'spark.sql.warehouse.dir': join(directory, 'other'), 'tidewater.engine.threads': 1, ...config } });
    const conf = Object.entries(directoryCatalog(directory)).flatMap(([key, value]) => ['--conf', `${key}=${String(value)}`]);
    const sql = (statements: string): Promise<CliRun> =>
      cli(['sql', ...conf, '--format', 'csv', '-e', statements], { app: { openSession } });
    expect(
      await sql("CREATE DATABASE db; CREATE TABLE db.t USING iceberg AS SELECT 1 AS id, 'a' AS v; INSERT INTO db.t VALUES (2, 'b')"),
    ).toMatchObject({ code: 0, err: '' });
    expect((await sql('SELECT * FROM db.t ORDER BY id')).out).toBe('id,v\r\n1,a\r\n2,b\r\n');
    expect((await sql('SELECT operation FROM db.t.snapshots')).out).toBe('operation\r\nappend\r\nappend\r\n');
    expect((await sql("CALL ice.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))")).out).toMatch(
      /^rewritten_data_files_count,.*\r\n2,1,/,
    );
    const refused = await sql('SELECT * FROM db.nothing');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('The table or view `db`.`nothing` cannot be found.');
  });
});

it('A27: rows, schema, history and changes know tables by their names in catalogs, of a configuration or of none', async () => {
  await withTemporaryDirectory(async (directory) => {
    const database = `jdbc:sqlite:${join(directory, 'catalog.db')}`;
    const warehouse = join(directory, 'warehouse');
    const files = {
      '/work/tidewater.yaml': `
pipeline: demo
catalogs: [{ name: lake, type: jdbc, uri: "${database}", warehouse: "${warehouse}" }]
tables: [{ name: orders, format: iceberg, catalog: lake, identifier: shop.orders, columns: [{ name: id, type: long }] }]
`,
    };
    const openSession = (config: Readonly<Record<string, string>>) =>
      createSession({ config: { 'spark.sql.warehouse.dir': join(directory, 'other'), 'tidewater.engine.threads': 1, ...config } });
    const configured = (...command: readonly string[]): Promise<CliRun> =>
      cli(['-c', 'tidewater.yaml', ...command], { app: { openSession, readTable }, files });
    const made = await configured(
      'sql',
      '-e',
      'CREATE DATABASE lake.shop; CREATE TABLE lake.shop.orders USING iceberg AS SELECT 1L AS id; INSERT INTO lake.shop.orders VALUES (2)',
    );
    expect(made).toMatchObject({ code: 0, err: '' });
    for (const name of ['orders', 'lake.shop.orders', 'lake.`shop`.orders']) {
      expect((await configured('rows', name, '--canonical')).out).toBe('{"id":1}\n{"id":2}\n');
      expect((await configured('rows', name, '--version', '1')).out).toBe('{"id":1}\n');
      expect((await configured('rows', name, '--ref', 'main', '--limit', '1')).out).toMatch(/^\{"id":[12]\}\n$/);
      expect((await configured('schema', name)).out).toContain('"name":"id","type":"bigint"');
      expect((await configured('changes', name, '--from', '2')).out).toContain('{"id":2,"_change_type":"INSERT"');
    }
    expect((await configured('history', 'lake.shop.orders')).out.match(/"operation":"append"/g)).toHaveLength(2);
    const conf = { '': 'org.apache.iceberg.spark.SparkCatalog', '.type': 'jdbc', '.uri': database, '.warehouse': warehouse };
    const flags = Object.entries(conf).flatMap(([key, value]) => ['--conf', `spark.sql.catalog.lake${key}=${value}`]);
    expect((await cli(['rows', 'lake.shop.orders', '--canonical', ...flags], { app: { readTable }, files: {} })).out).toBe(
      '{"id":1}\n{"id":2}\n',
    );
    const never = await configured('rows', 'orders', '--version', '3');
    expect([never.code, never.err]).toEqual([1, expect.stringMatching(/version 3\b/)]);
    const absent = await configured('rows', 'lake.shop.nothing');
    expect(absent.err).toContain('catalog "lake" has no table "shop.nothing"');
    const unknown = await configured('rows', 'shop.orders');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('it has: orders, lake.<namespace>.<table>')]);
    const moved = await configured('rows', 'orders', '--path-base', '.');
    expect([moved.code, moved.err]).toEqual([2, expect.stringContaining('--path-map and --path-base are for tables by path')]);
  });
});
