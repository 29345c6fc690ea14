import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { missingTool, obtainEngines } from '../engines/engines.ts';
import { type CanonicalRow, Oracle } from '../engines/oracle.ts';
import { consume, type Received } from '../support/checks-feed.ts';
import { privateConnect, startConnector } from '../support/connect.ts';
import { privatePostgres } from '../support/postgres.ts';
import { eventually, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/*
 * A database that changes, a real Debezium that tells of it and is killed, a process that is killed, a table from which the database can be made again, and two
 * tables with one row for each key that equal it, for other engines too, as do the folds of their feeds. One of these goes by the order of the database and
 * remembers what was deleted, the other goes by the order of the topic. After its kill Debezium tells again what it has told before.
 */

const postgres = await privatePostgres(['wal_level=logical']);
const connect = postgres === undefined ? undefined : await privateConnect(kafkaBrokers());
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const firstRows = 20;
const transactions = 150;
const alteredAt = 60;
const debeziumKilledAt = 75;
const killedAt = 90;
/** While no process of ours runs. */
const alteredAgainAt = 100;
const markerId = 1_000_000;
/** Rows from this id on have a large name, which their updates leave as it is: their events do not have it, and only keyed tables know it. */
const largeFrom = 100;
const largeRows = 3;
const catchUpMs = 120_000;

afterAll(async () => {
  await connect?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

describe('a database whose changes Debezium reads', () => {
  const { dir, workload, serve } = productBench('debezium-live');

  it.skipIf(postgres === undefined || connect === undefined)(
    `P04: is what the newest rows of its events are, and what keyed tables and their feeds equal, SEED=${seed}`,
    async () => {
      if (postgres === undefined || connect === undefined) return;
      const name = `live-${randomUUID().slice(0, 8)}`;
      const { user, password, port } = postgres.server;
      const database = new Client({ host: '127.0.0.1', port, user, password, database: 'postgres' });
      // The server is stopped behind the back of a test that failed.
      database.on('error', () => undefined);
      await database.connect();
      await database.query('CREATE TABLE accounts (id bigint PRIMARY KEY, name text, balance numeric(12,2), note text)');
      await database.query(`INSERT INTO accounts SELECT i, 'first ' || i, i * 1.25, NULL FROM generate_series(1, ${firstRows}) AS i`);
      await database.query('ALTER TABLE accounts ALTER COLUMN name SET STORAGE EXTERNAL');
      await database.query(
        `INSERT INTO accounts SELECT i, repeat('large ' || i, 1000), 0, NULL FROM generate_series(${largeFrom}, ${largeFrom + largeRows - 1}) AS i`,
      );
      const connector = {
        'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
        'plugin.name': 'pgoutput',
        'database.hostname': '127.0.0.1',
        'database.port': String(port),
        'database.user': user,
        'database.password': password,
        'database.dbname': 'postgres',
        'topic.prefix': name,
        'slot.name': name.replaceAll('-', '_'),
        'publication.autocreate.mode': 'filtered',
        'table.include.list': 'public.accounts',
        'poll.interval.ms': '50',
        'topic.creation.default.replication.factor': '1',
        'topic.creation.default.partitions': '3',
      };
      await startConnector(connect.server, name, connector);

      const pipeline = pipelineOf(name);
      const first = serve(pipeline);
      // What changes while Debezium takes its snapshot is between it and PostgreSQL.
      await eventually(
        'the snapshot is committed',
        async () => (await first.status()).tables.every(({ name: table, rowCount }) => isMemory(table) || (rowCount ?? 0) >= firstRows),
        catchUpMs,
      );
      const random = new SeededRandom(seed);
      for (let number = 0; number < transactions; number += 1) {
        if (number === alteredAt) await database.query('ALTER TABLE accounts ADD COLUMN score int');
        if (number === alteredAgainAt) await database.query('ALTER TABLE accounts ADD COLUMN extra numeric(10,3)');
        if (number === debeziumKilledAt) {
          await connect.kill();
          await connect.start();
          await startConnector(connect.server, name, connector);
        }
        if (number === killedAt) {
          await eventually('some changes are committed', async () =>
            (await first.status()).tables.every(
              ({ name: table, rowCount }) => isKeyed(table) || isMemory(table) || (rowCount ?? 0) > firstRows,
            ),
          );
          await first.kill();
        }
        await change(database, random, [...(number >= alteredAt ? ['score'] : []), ...(number >= alteredAgainAt ? ['extra'] : [])]);
      }
      await database.query(`INSERT INTO accounts VALUES (${markerId}, 'last', 0, NULL, 7, 0.125)`);

      const second = serve(pipeline);
      const { rows: expected } = await database.query(
        'SELECT id::text AS id, name, balance::text AS balance, note, score::text AS score, extra::text AS extra FROM accounts ORDER BY accounts.id',
      );
      await database.end();
      const wanted = expected.map((row: Readonly<Record<string, unknown>>) => JSON.stringify(Object.values(row)));
      const path = (table: string): string => `delta.\`${join(pipeline.directory, 'tables', table)}\``;
      const small = wanted.filter((row) => !isLarge(Number((JSON.parse(row) as readonly string[])[0])));
      for (const [query, rows] of [
        [newestOf(path('kept')), small],
        [allOf(path('keyed')), wanted],
        [allOf('lake.shop.ordered'), wanted],
      ] as const)
        await eventually(
          `${query} is the database`,
          async () => {
            if (second.exit !== undefined) throw new Error(second.log);
            expect(await rowsOf(pipeline.config, query), second.log).toEqual(rows);
            return true;
          },
          catchUpMs,
        ).catch(async (cause: unknown) => {
          throw new Error(`all events:\n${await events(pipeline.config, path('kept'))}`, { cause });
        });
      const lacking = `SELECT to_json(named_struct('row', array(CAST(count(*) > 0 AS STRING)))) AS j FROM ${path('kept')} WHERE name = '__debezium_unavailable_value'`;
      expect(await rowsOf(pipeline.config, lacking)).toEqual(['["true"]']);
      await Promise.all(
        ['keyed', 'ordered'].map(async (table) => {
          const received = await consume(workload.kafka, [`${name}.${table}`], (some) => isEqual(foldOf(some), wanted));
          expect(foldOf(received), table).toEqual(wanted);
        }),
      );
      expect((await second.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(0);
      // After the kill nothing says how many: what was left may have been committed in any number of versions.
      for (const { name: table, keyed } of (await second.status()).tables)
        expect([table, keyed !== undefined]).toEqual([table, isKeyed(table)]);
      expect((await second.terminate()).code, second.log).toBe(0);
      // They take the memory that Debezium needs.
      await connect[Symbol.asyncDispose]();
      await seenByOthers(pipeline.directory, wanted);
    },
    600_000,
  );

  function pipelineOf(name: string): { readonly config: string; readonly directory: string } {
    const directory = join(dir, name);
    mkdirSync(directory);
    const config = join(directory, 'pipeline.yaml');
    const columns = `[{ name: id, type: long, nullable: false }, { name: name, type: string }, { name: balance, type: "decimal(12,2)" }, { name: note, type: string }, { name: __op, type: string }, { name: __deleted, type: boolean }, { name: __lsn, type: long }, { name: kafka_offset, type: long, from: offset }]`;
    const ordered = columns.replace('name: __lsn, type: long', 'name: __lsn, type: long, nullable: false');
    const route = `topics: [${name}.public.accounts], value: { format: connect-json, envelope: debezium }`;
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${directory}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
catalogs: [{ name: lake, type: jdbc, uri: "jdbc:sqlite:file:${join(directory, 'lake.db')}", warehouse: "${join(directory, 'lake')}" }]
tables:
  - { name: kept, path: tables/kept, columns: ${columns}, evolve: { addColumns: true } }
  - { name: keyed, path: tables/keyed, mode: upsert, keyColumns: [id], columns: ${columns}, evolve: { addColumns: true } }
  - { name: ordered, format: iceberg, catalog: lake, identifier: shop.ordered, mode: upsert, keyColumns: [id], orderBy: [__lsn], tombstoneRetention: 1d, columns: ${ordered}, evolve: { addColumns: true } }
ingest:
  maxBatchAge: 200ms
  sessionTimeout: 3s
  routes: [{ table: kept, ${route} }, { table: keyed, ${route} }, { table: ordered, ${route} }]
feeds: [{ table: keyed, topic: ${name}.keyed, keyColumns: [id], pollInterval: 50ms }, { table: ordered, topic: ${name}.ordered, keyColumns: [id], pollInterval: 50ms }]
feedDefaults: { positionsTopic: ${name}.positions }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { config, directory };
  }
});

/** Reads the keyed tables with engines that share nothing with ours, where they can be had. */
async function seenByOthers(directory: string, wanted: readonly string[]): Promise<void> {
  const missing = await missingTool();
  if (missing !== undefined && (process.env['CI'] ?? '') !== '') throw new Error(`other engines cannot be tested: ${missing} is missing`);
  if (missing !== undefined) {
    console.error(`SKIPPED: ${missing} is missing, NO other engine has read the tables of Debezium’s events`);
    return;
  }
  const oracle = Oracle.start(await obtainEngines());
  try {
    const sorted = (rows: readonly CanonicalRow[]): readonly string[] =>
      rows
        .map(columnsOf)
        .toSorted(([left], [right]) => Number(left) - Number(right))
        .map((row) => JSON.stringify(row));
    const delta = join(directory, 'tables', 'keyed');
    for (const engine of ['duckdb', 'delta-rs', 'spark'] as const) expect(sorted(await oracle.rows(engine, delta)), engine).toEqual(wanted);
    const iceberg = join(directory, 'lake', 'shop', 'ordered');
    for (const engine of ['duckdb', 'pyiceberg'] as const) {
      const [reading] = await oracle.readIceberg(engine, [{ what: 'rows', path: iceberg }]);
      expect(reading !== undefined && 'rows' in reading ? sorted(reading.rows) : reading, engine).toEqual(wanted);
    }
  } finally {
    await oracle.stop();
  }
}

/** One transaction of a few changes: of rows, of keys, back and forth. */
async function change(database: Client, random: SeededRandom, added: readonly string[]): Promise<void> {
  const some = (most: number): number => 1 + Math.floor(random.next() * most);
  await database.query('BEGIN');
  for (let left = some(4); left > 0; left -= 1) {
    const [id, other, amount] = [some(60), some(60), (some(100_000) / 100).toFixed(2)];
    const kind = random.next();
    if (kind < 0.35)
      await database.query('INSERT INTO accounts (id, name, balance) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING', [
        id,
        `made ${amount}`,
        amount,
      ]);
    else if (kind < 0.7)
      await database.query(
        `UPDATE accounts SET balance = $2, note = $3${added.map((column) => `, ${column} = ${id}`).join('')} WHERE id = $1`,
        [id, amount, `note ${amount}`],
      );
    else if (kind < 0.85) await database.query('DELETE FROM accounts WHERE id = $1', [id]);
    else await database.query('UPDATE accounts SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM accounts WHERE id = $2)', [id, other]);
  }
  await database.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [largeFrom - 1 + some(largeRows)]);
  await database.query('COMMIT');
}

function isLarge(id: number): boolean {
  return id >= largeFrom && id < largeFrom + largeRows;
}

const shown = `to_json(named_struct('row', array(CAST(id AS STRING), name, CAST(balance AS STRING), note, CAST(score AS STRING), CAST(extra AS STRING)))) AS j`;

/**
 * The newest row of each key that is not a deletion, as DuckDB computes it for the session. Events of a key are in one partition, in the order of the
 * database; the order of `__lsn` is not always that of the database.
 */
function newestOf(table: string): string {
  return `SELECT ${shown} FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY kafka_offset DESC) AS n FROM ${table}) AS t WHERE n = 1 AND __op <> 'd' AND id NOT BETWEEN ${largeFrom} AND ${largeFrom + largeRows - 1} ORDER BY id`;
}

function allOf(table: string): string {
  return `SELECT ${shown} FROM ${table} ORDER BY id`;
}

async function rowsOf(config: string, query: string): Promise<readonly string[]> {
  const { stdout, log } = await runProduct({ config, args: ['sql', '--format', 'json', '-e', query] });
  try {
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.stringify((JSON.parse((JSON.parse(line) as { readonly j: string }).j) as { readonly row: unknown }).row));
  } catch (cause) {
    throw new Error(log, { cause });
  }
}

/** What a reader of a feed has in the end, in the order of the keys. */
function foldOf(received: readonly Received[]): readonly string[] {
  const rows = new Map<string, readonly (string | null)[]>();
  for (const { key, value } of received) {
    if (value === null) continue;
    const { after } = JSON.parse(value.toString()) as { readonly after: Readonly<Record<string, unknown>> | null };
    if (after === null) rows.delete(String(key));
    else rows.set(String(key), columnsOf(after));
  }
  const byKey = [...rows.values()].toSorted(([left], [right]) => Number(left) - Number(right));
  return byKey.map((row) => JSON.stringify(row));
}

function columnsOf(row: Readonly<Record<string, unknown>>): readonly (string | null)[] {
  return ['id', 'name', 'balance', 'note', 'score', 'extra'].map((name) => textOrNull(row[name]));
}

function textOrNull(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isKeyed(table: string): boolean {
  return table === 'keyed' || table === 'ordered';
}

/** Of deleted keys. */
function isMemory(table: string): boolean {
  return table === 'ordered__deletes';
}

function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** For whoever reads of a failure: the server and its topic are gone by then. */
async function events(config: string, table: string): Promise<string> {
  const query = `SELECT id, __op, __lsn, kafka_offset, name, balance FROM ${table} ORDER BY id, kafka_offset`;
  return (await runProduct({ config, args: ['sql', '--format', 'json', '-e', query] })).stdout;
}
