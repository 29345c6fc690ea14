import { join } from 'node:path';
import { expect, it } from 'vitest';
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
