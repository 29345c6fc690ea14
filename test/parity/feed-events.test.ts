import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/app/session.ts';
import { type JsonValue, printJson } from '../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import type { FeedStatus } from '../../src/cdf/feed-parts.ts';
import type { FeedSpec } from '../../src/cdf/feed-spec.ts';
import { FeedDecoder } from '../../src/consumer/feed-decoder.ts';
import { FeedRows } from '../../src/consumer/feed-rows.ts';
import { DeltaTables } from '../../src/delta/delta-tables.ts';
import { IcebergTables } from '../../src/iceberg/iceberg-tables.ts';
import type { KafkaRecord } from '../../src/kafka/client.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../src/table/formats.ts';
import type { Table } from '../../src/table/table.ts';
import { icebergSession } from '../support/iceberg/iceberg-session.ts';
import { temporarySession } from '../support/temporary-session.ts';
import { openTestEngine } from '../support/test-engine.ts';
import { feedBench, feedSpec } from '../unit/cdf/feed-bench.ts';

const told = { schema: 'cdf.schema', transactions: 'cdf.transaction' };
const spec: Partial<FeedSpec> = {
  envelope: 'debezium',
  keyColumns: ['id'],
  schemaChanges: { topic: told.schema },
  transactions: { topic: told.transactions },
  truncate: 'event',
  maxTransactionRows: 2,
};

/** A table that statements change, with a feed of it and what a consumer makes of its topics. */
interface FedTable {
  /** As statements name it. */
  readonly name: string;
  readonly sql: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Publishes everything there is, by a process that begins. */
  readonly publish: (more?: Partial<FeedSpec>) => Promise<FeedStatus>;
  /** Runs a feed that ends by itself. */
  readonly ended: () => Promise<FeedStatus>;
  /** Letters of the events since the last look, version by version. */
  readonly events: () => Promise<readonly string[]>;
  /** Kinds and columns of the schema changes since the last look. */
  readonly schemaChanges: () => Promise<readonly string[]>;
  /** The columns and rows that a consumer has who read the topics alone. */
  readonly rebuilt: () => Promise<{ readonly columns: readonly string[]; readonly rows: readonly unknown[] }>;
  /** Those that the table has. */
  readonly actual: () => Promise<{ readonly columns: readonly string[]; readonly rows: readonly unknown[] }>;
  readonly place: string;
  [Symbol.asyncDispose](): Promise<void>;
}

async function fedTable(format: TableFormat): Promise<FedTable> {
  const [own, engine] = [await (format === 'delta' ? temporarySession() : icebergSession()), await openTestEngine()];
  const { session }: { readonly session: Session } = own;
  const place = 'warehouse' in own ? join(own.warehouse, 'db', 't') : join(own.directory, 't');
  const name = format === 'delta' ? `delta.\`${place}\`` : 'db.t';
  const open = async (): Promise<Table> => {
    const random = new SeededRandom(1);
    const parts = { openStore: openObjectStore, clock: new SystemClock(), random, ids: new RandomIdSource(random), version: 'test' };
    const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
    const tables =
      format === 'delta'
        ? new DeltaTables({ ...parts, rewriter })
        : new IcebergTables({
            ...parts,
            engine: () => Promise.resolve(engine.engine),
            scratchDirectory: join(engine.directory, 'scratch'),
          });
    const table = await tables.open('t', place);
    if (table === undefined) throw new TypeError('no table');
    return table;
  };
  const bench = feedBench(open, { openEngine: () => Promise.resolve(engine.engine) });
  const sql: FedTable['sql'] = async (text) => (await session.sql(text)).collect();
  const seen = { events: 0, schema: 0 };
  return {
    name,
    place,
    sql,
    publish: async (more = {}) => bench.publish((await (await open()).refresh()).version, 'fail', { ...spec, ...more }),
    ended: () => bench.publish(1_000, 'fail', spec),
    events: async () => {
      const records = await bench.records(feedSpec.topic);
      const fresh = records.slice(seen.events);
      seen.events = records.length;
      const letters = new Map<string, string>();
      for (const record of fresh)
        letters.set(header(record, 'version'), `${letters.get(header(record, 'version')) ?? ''}${header(record, 'op')}`);
      return [...letters.values()];
    },
    schemaChanges: async () => {
      const records = await bench.records(told.schema);
      const fresh = records.slice(seen.schema);
      seen.schema = records.length;
      return fresh.map((record) => {
        const { type, table } = changeOf(record);
        return [type, ...(table?.columns ?? []).map((column) => `${column.name} ${column.typeExpression}`)].join(' ');
      });
    },
    rebuilt: async () => {
      const columns = changeOf((await bench.records(told.schema)).at(-1)).table?.columns ?? [];
      const rows = new FeedRows();
      const decoder = new FeedDecoder();
      for (const record of await bench.records(feedSpec.topic)) {
        const change = await decoder.decode(consumed(record));
        if (change !== undefined) rows.apply(change);
      }
      const values = [...rows.rows.values()].map((row) => columns.map((column) => textOf(row[column.name])));
      return { columns: columns.map((column) => `${column.name} ${column.typeExpression}`), rows: values.toSorted() };
    },
    actual: async () => {
      const described = (await sql(`DESCRIBE TABLE ${name}`)).filter(({ data_type: type }) => type !== '');
      const columns = described.map(({ col_name: column, data_type: type }) => `${String(column)} ${String(type).toUpperCase()}`);
      const rows = (await sql(`SELECT * FROM ${name}`)).map((row) => Object.values(row).map(String));
      return { columns, rows: rows.toSorted() };
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close();
      await own[Symbol.asyncDispose]();
    },
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : printJson(value ?? null);
}

interface SchemaChange {
  readonly type: string;
  readonly table?: { readonly columns: readonly { readonly name: string; readonly typeExpression: string }[] } | null;
}

function changeOf(record: KafkaRecord | undefined): SchemaChange {
  const { tableChanges } = JSON.parse(Buffer.from(record?.value ?? []).toString()) as { readonly tableChanges: readonly [SchemaChange] };
  return tableChanges[0];
}

function header({ headers }: KafkaRecord, name: string): string {
  return Buffer.from(headers.find(([own]) => own === name)?.[1] ?? []).toString();
}

function consumed({ partition, offset, key, value, headers }: KafkaRecord): Parameters<FeedDecoder['decode']>[0] {
  return {
    topic: feedSpec.topic,
    ...{ partition, offset: String(offset) },
    key: key === undefined ? null : Buffer.from(key),
    value: value === undefined ? null : Buffer.from(value),
    headers: Object.fromEntries(headers.map(([name, bytes]) => [name, Buffer.from(bytes)])),
  };
}

const properties: Readonly<Record<TableFormat, string>> = {
  delta: `USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')`,
  iceberg: 'USING iceberg',
};

describe.each(['delta', 'iceberg'] as const)('a feed of a table of format %s', (format) => {
  it('X08: a consumer rebuilds columns and rows from schema changes, rows and truncations alone', async () => {
    await using table = await fedTable(format);
    const { name, sql } = table;
    await sql(`CREATE TABLE ${name} (id BIGINT, v STRING) ${properties[format]}`);
    const steps: readonly (readonly [statement: string, events: readonly string[], schemaChanges: readonly string[]])[] = [
      [`INSERT INTO ${name} VALUES (1, 'a'), (2, 'b')`, ['cc'], ['CREATE id BIGINT v STRING']],
      [`ALTER TABLE ${name} ADD COLUMN price DECIMAL(10,2)`, [], ['ALTER id BIGINT v STRING price DECIMAL(10,2)']],
      [`INSERT INTO ${name} VALUES (3, 'c', 1.50)`, ['c'], []],
      [`DELETE FROM ${name} WHERE id = 2`, ['d'], []],
      [`DELETE FROM ${name}`, ['t'], []],
      [`ALTER TABLE ${name} RENAME COLUMN v TO w`, [], ['ALTER id BIGINT w STRING price DECIMAL(10,2)']],
      [`INSERT INTO ${name} VALUES (4, 'd', 2.50), (5, 'e', NULL), (6, 'f', 3.00)`, ['ccc'], []],
      [`INSERT OVERWRITE ${name} VALUES (7, 'g', 4.00), (8, 'h', 5.00)`, ['tcc'], []],
      [`TRUNCATE TABLE ${name}`, ['t'], []],
      [`INSERT INTO ${name} VALUES (9, 'i', 6.00)`, ['c'], []],
    ];
    let due: readonly string[] = [];
    for (const [statement, events, schemaChanges] of steps) {
      await sql(statement);
      expect(await table.publish(), statement).toMatchObject({ state: 'stopped', lagVersions: 0 });
      const found = await table.events();
      expect(found, statement).toEqual(events);
      // What Iceberg changes without a snapshot is told with the next one.
      due = [...due, ...schemaChanges];
      if (format === 'iceberg' && events.length === 0) continue;
      expect(await table.schemaChanges(), statement).toEqual(due.slice(format === 'iceberg' ? -1 : 0));
      due = [];
      expect(await table.rebuilt(), statement).toEqual(await table.actual());
    }
  });

  it('X08: a table that is dropped and made anew is a state with choices, told as one that went and one that came', async () => {
    await using table = await fedTable(format);
    const { name, sql } = table;
    await sql(`CREATE TABLE ${name} (id BIGINT, v STRING) ${properties[format]}`);
    await sql(`INSERT INTO ${name} VALUES (1, 'a')`);
    await table.publish();
    if (format === 'iceberg') await sql(`DROP TABLE ${name} PURGE`);
    await rm(table.place, { recursive: true, force: true });
    await sql(`CREATE TABLE ${name} (id BIGINT, other STRING) ${properties[format]}`);
    await sql(`INSERT INTO ${name} VALUES (2, 'b')`);
    await table.schemaChanges();
    await table.events();
    expect(await table.ended()).toMatchObject({ state: 'table-replaced', error: { code: 'FEED_TABLE_REPLACED' } });
    expect(await table.events()).toEqual([]);
    expect(await table.publish({ onTableReplaced: 'resnapshot' })).toMatchObject({ state: 'stopped' });
    expect(await table.schemaChanges()).toEqual(['DROP', 'CREATE id BIGINT other STRING']);
    expect(await table.events()).toEqual(['r']);
    // Once more there is nothing to decide.
    expect(await table.publish()).toMatchObject({ state: 'stopped' });
  });
});

it('X08: RESTORE of a Delta table is changes of its version', async () => {
  await using table = await fedTable('delta');
  const { name, sql } = table;
  await sql(`CREATE TABLE ${name} (id BIGINT, v STRING) ${properties.delta}`);
  await sql(`INSERT INTO ${name} VALUES (1, 'a')`);
  await sql(`INSERT INTO ${name} VALUES (2, 'b')`);
  await sql(`DELETE FROM ${name} WHERE id = 1`);
  await table.publish();
  await table.events();
  await sql(`RESTORE TABLE ${name} TO VERSION AS OF 1`);
  expect(await table.publish()).toMatchObject({ state: 'stopped' });
  // No file of before is left.
  expect(await table.events()).toEqual(['tc']);
  expect(await table.rebuilt()).toEqual(await table.actual());
});

it.each(['continue', 'resnapshot', undefined] as const)(
  'X08: CREATE OR REPLACE of a Delta table is changes of its version; by a writer that gives another identity it is a state, which policy %s ends',
  async (onTableReplaced) => {
    await using table = await fedTable('delta');
    const { name, sql } = table;
    await sql(`CREATE TABLE ${name} (id BIGINT, v STRING) ${properties.delta}`);
    await sql(`INSERT INTO ${name} VALUES (1, 'a')`);
    await table.publish();
    await table.events();
    await table.schemaChanges();
    await sql(`CREATE OR REPLACE TABLE ${name} ${properties.delta} AS SELECT CAST(2 AS BIGINT) AS id, 'b' AS other`);
    if (onTableReplaced === undefined) {
      expect(await table.publish()).toMatchObject({ state: 'stopped', lagVersions: 0 });
      expect(await table.events()).toEqual(['tc']);
      expect(await table.schemaChanges()).toEqual(['ALTER id BIGINT other STRING']);
      expect(await table.rebuilt()).toEqual(await table.actual());
      return;
    }
    const commit = join(table.place, '_delta_log', '00000000000000000002.json');
    await writeFile(commit, (await readFile(commit, 'utf8')).replace(/("metaData":\{"id":")[^"]*/, '$1another'));
    expect(await table.ended()).toMatchObject({ state: 'table-replaced', error: { code: 'FEED_TABLE_REPLACED' } });
    expect(await table.publish({ onTableReplaced })).toMatchObject({ state: 'stopped', lagVersions: 0 });
    expect(await table.events()).toEqual([onTableReplaced === 'continue' ? 'tc' : 'r']);
    expect(await table.schemaChanges()).toEqual(['DROP', 'CREATE id BIGINT other STRING']);
    if (onTableReplaced === 'continue') expect(await table.rebuilt()).toEqual(await table.actual());
  },
);

it.each(['rollback', 'replace'] as const)('X08: %s of an Iceberg table is a state with choices', async (act) => {
  await using table = await fedTable('iceberg');
  const { name, sql } = table;
  await sql(`CREATE TABLE ${name} (id BIGINT, v STRING) ${properties.iceberg}`);
  await sql(`INSERT INTO ${name} VALUES (1, 'a')`);
  const [kept] = await sql(`SELECT snapshot_id FROM ${name}.snapshots`);
  await sql(`INSERT INTO ${name} VALUES (2, 'b')`);
  await table.publish();
  await table.events();
  if (act === 'rollback') await sql(`CALL ice.system.set_current_snapshot('db.t', ${String(kept?.['snapshot_id'])})`);
  else await sql(`CREATE OR REPLACE TABLE ${name} ${properties.iceberg} AS SELECT CAST(3 AS BIGINT) AS id, 'c' AS v`);
  expect(await table.ended()).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
  await sql(`INSERT INTO ${name} VALUES (4, 'd')`);
  expect(await table.publish({ onGap: 'resnapshot' })).toMatchObject({ state: 'stopped', lagVersions: 0 });
  expect(await table.events()).toEqual(['rr']);
});
