import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAppCommands } from '../../../src/app/commands.ts';
import { type CliRun, cli } from './cli-support.ts';

/** Stands for every secret: wherever it comes out, one is told. */
const canary = 'canary-hunter2';

const dataDir = mkdtempSync(join(tmpdir(), 'tidewater-secrets-'));
const location = join(dataDir, 't');
const properties = [
  ['app.token', canary],
  ['app.uri', `https://u:${canary}@host/x?password=${canary}`],
].map(([name = '', value = '']) => `'${name}' = '${value}'`);

const yaml = `
pipeline: demo
dataDir: ${dataDir}
kafka:
  brokers: ["127.0.0.1:1"]
  requestTimeout: 1s
  sasl: { mechanism: scram-sha-256, username: u, password: ${canary} }
  ssl: { cert: "-----BEGIN CERTIFICATE-----", key: ${canary}, passphrase: ${canary} }
redis: { url: "redis://:${canary}@127.0.0.1:1" }
catalogs:
  - name: db
    type: jdbc
    uri: "jdbc:postgresql://u:${canary}@127.0.0.1:1/lake?password=${canary}"
    warehouse: lake
    properties: { jdbc.password: ${canary}, s3.access-key-id: ${canary}, s3.secret-access-key: ${canary}, s3.session-token: ${canary} }
  - name: ice
    type: hadoop
    warehouse: ice
  - name: rest
    type: rest
    uri: "http://127.0.0.1:1"
    properties:
      token: ${canary}
      credential: "id:${canary}"
      rest.auth.basic.password: ${canary}
      header.X-Team: ${canary}
      oauth2-server-uri: "https://u:${canary}@auth/token?client_secret=${canary}"
    credentials: { token: ${canary} }
tables:
  - name: t
    path: t
    columns: [{ name: a, type: long }]
    properties: { app.token: ${canary}, app.uri: "https://u:${canary}@host" }
`;

const files = { '/work/tidewater.yaml': yaml };

async function run(args: readonly string[], text = yaml): Promise<CliRun> {
  return cli(['-c', 'tidewater.yaml', ...args], { files: { ...files, '/work/tidewater.yaml': text }, app: createAppCommands() });
}

/** One table of each format. */
const tables = [`delta.\`${location}\``, 'ice.ns.t'];

beforeAll(async () => {
  for (const [index, table] of tables.entries()) {
    const using = ['delta', 'iceberg'][index] ?? '';
    const made = await run(['sql', '-e', `CREATE TABLE ${table} (a BIGINT) USING ${using} TBLPROPERTIES (${properties.join(', ')})`]);
    expect(made.err).toBe('');
    const changed = await run(['sql', '-e', `ALTER TABLE ${table} SET TBLPROPERTIES (${properties.join(', ')})`]);
    expect(changed.err).toBe('');
  }
});

afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

const statements = [
  ...tables.flatMap((table) => [
    `SHOW TBLPROPERTIES ${table}`,
    `SHOW TBLPROPERTIES ${table} ('app.token')`,
    `DESCRIBE EXTENDED ${table}`,
    `DESCRIBE DETAIL ${table}`,
    `DESCRIBE HISTORY ${table}`,
    `SHOW CREATE TABLE ${table}`,
  ]),
  'SET',
  'SET spark.sql.catalog.rest.token',
  'SET spark.sql.catalog.db.uri',
  'SET spark.hadoop.fs.s3a.secret.key=canary-hunter2',
  'SELECT * FROM db.ns.t',
  'SELECT * FROM rest.ns.t',
];

const commands: readonly (readonly string[])[] = [
  ['config', 'print'],
  ['config', 'print', '--explain'],
  ['config', 'validate'],
  ['tables'],
  ['describe', 't'],
  ['history', 't'],
  ['history', location],
  ['history', location, '--canonical'],
  ['history', 'ice.ns.t'],
  ['schema', 't'],
  ['rows', 't'],
  ['rows', 'db.ns.t'],
  ['changes', location],
  ['maintain', 'vacuum', 't', '--dry-run'],
  ['maintain', 'compact', 't', '--dry-run'],
  ['offsets'],
  ['audit'],
  ...statements.map((statement) => ['sql', '-e', statement]),
];

describe('no output of a command shows a secret of the configuration or of a table', () => {
  it.each(commands.flatMap((command) => [{ args: command }, { args: [...command, '--json'] }]))(
    '$args',
    async ({ args }) => {
      const { out, err } = await run(args);
      expect(out + err).not.toContain(canary);
    },
    60_000,
  );
});

describe('no message about a wrong configuration shows a secret', () => {
  it.each([
    ['a value of the wrong kind', yaml.replace('requestTimeout: 1s', `requestTimeout: "https://u:${canary}@host"`)],
    ['a list for a text', yaml.replace(`token: ${canary}`, `token: [${canary}]`)],
    ['a map for a secret', yaml.replace(`passphrase: ${canary}`, `passphrase: { x: ${canary} }`)],
    ['a Redis of another kind', yaml.replace('redis://:', 'amqp://:')],
    ['an address that may hold none', yaml.replace('"http://127', `"http://u:${canary}@127`)],
    ['broken YAML', `${yaml}\n  password: "${canary}`],
    ['a duplicate key', yaml.replace(`token: ${canary}\n`, `token: ${canary}\n      token: ${canary}\n`)],
    ['a reference that is none', `${yaml}\nx: "\${NOT A NAME:-${canary}}"`],
    ['a directory that is a URI', yaml.replace(`dataDir: ${dataDir}`, `dataDir: "https://u:${canary}@host"`)],
  ])('%s', async (_, text) => {
    for (const json of [[], ['--json']]) {
      const { code, out, err } = await run(['config', 'validate', ...json], text);
      expect([code, out]).toEqual([2, '']);
      expect(err).not.toContain(canary);
    }
  });

  it.each([`=${canary}`, `kafka..password=${canary}`, `kafka.sasl.password.x=${canary}`, `kafka.sasl={password: "${canary}`])(
    '--set %s',
    async (override) => {
      const { code, err } = await run(['config', 'validate', '--set', override]);
      expect(code).toBe(2);
      expect(err).not.toContain(canary);
    },
  );
});
