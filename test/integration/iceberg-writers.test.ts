import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/app/session.ts';
import { privatePostgres } from '../support/postgres.ts';
import { privateRestCatalog } from '../support/rest-catalog.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

const run = promisify(execFile);
const support = fileURLToPath(new URL('../support/', import.meta.url));
const directory = temporaryDirectory('iceberg-writers');
const postgres = await privatePostgres();
const rest = await privateRestCatalog();
const sessions: Session[] = [];
afterAll(async () => {
  for (const session of sessions) await session.stop();
  await postgres?.[Symbol.asyncDispose]();
  await rest?.[Symbol.asyncDispose]();
  removeDirectory(directory);
});

const processes = 4;
/** `WRITER_ROWS=100` for longer. */
const rowsOfEach = Number(process.env['WRITER_ROWS'] ?? '10');

type Settings = Readonly<Record<string, string>>;

/** The catalogs that this machine has servers for, by name. */
const catalogs: Readonly<Record<string, Settings>> = {
  directories: { type: 'hadoop', warehouse: join(directory, 'hadoop') },
  sqlite: { type: 'jdbc', uri: `jdbc:sqlite:file:${join(directory, 'catalog.db')}`, warehouse: join(directory, 'sqlite') },
  ...(postgres === undefined
    ? {}
    : {
        postgres: {
          type: 'jdbc',
          uri: `jdbc:postgresql://${postgres.server.address}/postgres`,
          'jdbc.user': postgres.server.user,
          'jdbc.password': postgres.server.password,
          warehouse: join(directory, 'postgres'),
        },
      }),
  ...(rest === undefined ? {} : { rest: { type: 'rest', uri: rest.server.uri } }),
};
const names = Object.keys(catalogs);
/** Directories have the fewest guarantees and the most to read: they have tests of their own. */
const appended = Object.fromEntries(Object.entries(catalogs).filter(([name]) => name !== 'directories'));

function open(): Session {
  const entries = Object.entries(catalogs).flatMap(([name, settings]) => [
    [`spark.sql.catalog.${name}`, 'org.apache.iceberg.spark.SparkCatalog'] as const,
    ...Object.entries(settings).map(([key, value]) => [`spark.sql.catalog.${name}.${key}`, value] as const),
  ]);
  const session = createSession({
    config: { ...Object.fromEntries(entries), 'spark.sql.warehouse.dir': join(directory, 'own'), 'tidewater.engine.threads': '1' },
  });
  sessions.push(session);
  return session;
}

const rowsOf = async (session: Session, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await session.sql(text)).collect();

/** Whoever is not first tries again for as long as it takes. */
const patient = "'commit.retry.num-retries' = '1000', 'commit.retry.min-wait-ms' = '5', 'commit.retry.max-wait-ms' = '200'";

beforeAll(async () => {
  const session = open();
  for (const name of names) {
    await rowsOf(session, `CREATE DATABASE ${name}.db`);
    await rowsOf(session, `CREATE TABLE ${name}.db.appended (writer INT, n INT) USING iceberg TBLPROPERTIES (${patient})`);
  }
});

describe('writers of Iceberg tables', () => {
  it('in four processes lose and double no row, whatever the catalog', { timeout: 420_000 }, async () => {
    const outputs = await Promise.all(
      Array.from({ length: processes }, (_, writer) =>
        run(process.execPath, [
          '--import',
          join(support, 'run-typescript.mjs'),
          join(support, 'iceberg-appender.ts'),
          String(writer),
          String(rowsOfEach),
          JSON.stringify(appended),
        ]),
      ),
    );
    for (const { stdout } of outputs) expect(JSON.parse(stdout)).toEqual([]);
    const session = open();
    for (const name of Object.keys(appended)) {
      const rows = await rowsOf(session, `SELECT writer, n FROM ${name}.db.appended ORDER BY writer, n`);
      const expected = Array.from({ length: processes * rowsOfEach }, (_, index) => ({
        writer: Math.floor(index / rowsOfEach),
        n: index % rowsOfEach,
      }));
      expect([name, rows]).toEqual([name, expected]);
      const snapshots = await rowsOf(
        session,
        `SELECT count(*) AS n, count(DISTINCT parent_id) AS parents FROM ${name}.db.appended.snapshots`,
      );
      expect([name, snapshots]).toEqual([name, [{ n: BigInt(processes * rowsOfEach), parents: BigInt(processes * rowsOfEach - 1) }]]);
    }
  });

  it.each(names.flatMap((name) => [[name, 'copy-on-write'] as const, [name, 'merge-on-read'] as const]))(
    'of %s that update one row %s add to it once for each that succeeds; the others are refused',
    async (name, mode) => {
      const table = `${name}.db.counted_${mode.replaceAll('-', '_')}`;
      const counters = [open(), open(), open()];
      const appender = open();
      await rowsOf(
        appender,
        `CREATE TABLE ${table} USING iceberg TBLPROPERTIES (${patient}, 'write.update.mode' = '${mode}') AS SELECT 1 AS id, 0 AS n`,
      );
      let done = 0;
      const refusals: unknown[] = [];
      const count = async (session: Session): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          await rowsOf(session, `UPDATE ${table} SET n = n + 1 WHERE id = 1`).then(
            () => {
              done += 1;
            },
            (error: unknown) => refusals.push(error),
          );
        }
      };
      const append = async (session: Session): Promise<void> => {
        for (let round = 0; round < 3; round++) await rowsOf(session, `INSERT INTO ${table} VALUES (${round + 10}, 0)`);
      };
      await Promise.all([...counters.map(count), append(appender)]);
      for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'conflict', name: 'ValidationException' });
      expect(await rowsOf(open(), `SELECT id, n FROM ${table} ORDER BY id`)).toEqual([
        { id: 1, n: done },
        { id: 10, n: 0 },
        { id: 11, n: 0 },
        { id: 12, n: 0 },
      ]);
      expect(done).toBeGreaterThan(0);
    },
  );
});
