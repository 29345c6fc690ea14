import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LazyEngine } from '../../../src/app/lazy-engine.ts';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { openStreamKafka } from '../../../src/app/open-stream-kafka.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../../src/base/bigint-json.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { RegisteringEncoder } from '../../../src/cdf/encoding/registering-encoder.ts';
import { Feed } from '../../../src/cdf/feed.ts';
import type { FeedStatus } from '../../../src/cdf/feed-parts.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { plainRecords, type RecordSettings } from '../../../src/protocol/change-event.ts';
import { RegistrySubjects } from '../../../src/registry/registry-subjects.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../../src/table/formats.ts';
import type { Table } from '../../../src/table/table.ts';
import { kafkaBrokers } from '../../support/servers.ts';
import { silentFeedObserver } from '../../support/silent-observers.ts';
import type { TemporarySession } from '../../support/temporary-session.ts';

/** How a row of the table is told in the feed's JSON, by SQL over the columns of `statements`. */
const spelling: readonly string[] = [
  ...['id', 'flag', 'small', 'n', 'name', 'tags', 'counts', 'place'],
  "date_format(day, 'yyyy-MM-dd') AS day",
  'CAST(price AS STRING) AS price',
  'CAST(f AS DOUBLE) AS f',
  'd',
  'base64(data) AS data',
  "date_format(at, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\") || 'Z' AS at",
  'date_format(local, "yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS") AS local',
  ...['matrix', 'numbered'],
  'CAST(whole AS STRING) AS whole',
  'CAST(fraction AS STRING) AS fraction',
  "if(deep IS NULL, NULL, named_struct('at', date_format(deep.at, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\") || 'Z', " +
    "'local', date_format(deep.local, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\"), 'price', CAST(deep.price AS STRING), " +
    "'parts', transform(deep.parts, p -> if(p IS NULL, NULL, named_struct('day', date_format(p.day, 'yyyy-MM-dd'), 'data', base64(p.data)))), 'by', deep.by)) AS deep",
];

/** What a decoder cannot know of values. */
export const meanings: Readonly<Record<string, unknown>> = {
  day: 'date',
  local: 'timestamp_ntz',
  price: 'decimal',
  data: 'binary',
  counts: 'map',
  numbered: 'map',
  whole: 'decimal',
  fraction: 'decimal',
  deep: { local: 'timestamp_ntz', price: 'decimal', parts: [{ day: 'date', data: 'binary' }], by: 'map' },
};

const columns =
  'id BIGINT NOT NULL, flag BOOLEAN, small SMALLINT, n INT, name STRING, tags ARRAY<STRING>, counts MAP<STRING, BIGINT>, place STRUCT<city: STRING, no: INT>, ' +
  'day DATE, price DECIMAL(24, 4), f FLOAT, d DOUBLE, data BINARY, at TIMESTAMP, local TIMESTAMP_NTZ, ' +
  'matrix ARRAY<ARRAY<INT>>, numbered MAP<INT, STRUCT<x: DOUBLE>>, whole DECIMAL(38, 0), fraction DECIMAL(38, 38), ' +
  'deep STRUCT<at: TIMESTAMP, local: TIMESTAMP_NTZ, price: DECIMAL(20, 5), parts: ARRAY<STRUCT<day: DATE, data: BINARY>>, by: MAP<STRING, ARRAY<BIGINT>>>';

const full = (id: number | string, name: string): string =>
  `(${id}, true, -7, 42, '${name}', array('a', NULL, ''), map('x', 9007199254740993, 'y', NULL), named_struct('city', 'Bonn "1"', 'no', NULL), ` +
  "DATE '2024-05-01', 12345678901234567890.1234, CAST(0.5 AS FLOAT), -1.25e300, unhex('fb00ff'), TIMESTAMP '2024-05-01 10:11:12.123456', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', " +
  "array(array(1, NULL), array(), NULL), map(-5, named_struct('x', 0.1D), 7, NULL), CAST('-99999999999999999999999999999999999999' AS DECIMAL(38, 0)), " +
  "CAST('0.12345678901234567890123456789012345678' AS DECIMAL(38, 38)), named_struct('at', TIMESTAMP '9999-12-31 23:59:59.999999', 'local', TIMESTAMP_NTZ '0001-01-01 00:00:00', " +
  "'price', CAST('-0.05' AS DECIMAL(20, 5)), 'parts', array(named_struct('day', DATE '9999-12-31', 'data', unhex('00')), NULL), 'by', map('longs', array(-9223372036854775808L, 9223372036854775807L))))";
const bare = (id: number): string => `(${id}, ${Array.from({ length: 19 }, () => 'NULL').join(', ')})`;

/** A table of all types with a history: inserts, updates, deletes, a merge, and a column that came. */
export async function publishedTable({ session, directory }: TemporarySession, format: TableFormat = 'delta'): Promise<string> {
  const place = join(directory, 't');
  await session.sql('SET TIME ZONE "UTC"');
  const statements = [
    createTable(columns, format, place),
    `INSERT INTO t VALUES ${full(1, 'Ärger 🙂')}, ${full('9007199254740993', 'large')}, ${bare(2)}, ${bare(3)}, (0, false, 0, 0, '', array(), map(), named_struct('city', NULL, 'no', 0), DATE '1970-01-01', 0.0000, CAST(0 AS FLOAT), 0D, unhex(''), TIMESTAMP '1970-01-01 00:00:00', TIMESTAMP_NTZ '1970-01-01 00:00:00', array(), map(), 0, 0, named_struct('at', NULL, 'local', NULL, 'price', 0, 'parts', array(), 'by', map()))`,
    "UPDATE t SET name = 'changed', price = -0.0500 WHERE id IN (1, 2)",
    'DELETE FROM t WHERE id = 3',
    `MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 4) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = -2147483648 WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'merged')`,
    'ALTER TABLE t ADD COLUMN extra STRING',
    "UPDATE t SET extra = 'later' WHERE id = 4",
  ];
  for (const statement of statements) await session.sql(statement);
  return place;
}

/** The statement that creates `t`. Iceberg has no integers below 32 bits. */
export function createTable(columnList: string, format: TableFormat, place: string): string {
  if (format === 'iceberg') return `CREATE TABLE t (${columnList.replaceAll('SMALLINT', 'INT')}) USING iceberg LOCATION '${place}'`;
  const properties = { 'delta.enableChangeDataFeed': 'true', 'delta.columnMapping.mode': 'name', 'delta.enableTypeWidening': 'true' };
  const listed = Object.entries(properties).map(([name, value]) => `'${name}' = '${value}'`);
  return `CREATE TABLE t (${columnList}) USING delta LOCATION '${place}' TBLPROPERTIES (${listed.join(', ')})`;
}

/** The rows that the table has, as the feed's JSON tells them. */
export async function rowsOfTable({ session }: TemporarySession, more: readonly string[] = ['extra']): Promise<readonly JsonValue[]> {
  const lines = await session.sql(`SELECT to_json(struct(*)) AS line FROM (SELECT ${[...spelling, ...more].join(', ')} FROM t)`);
  return sortedRows((await lines.collect()).map(({ line }) => line as string));
}

/** Lines of JSON as rows by id, without members that are null, which a session does not print. */
export function sortedRows(lines: readonly string[]): readonly JsonValue[] {
  const rows = lines.map((line) => withoutNulls(parseJson(line, 'row')));
  return rows.toSorted((left, right) => (idOf(left) < idOf(right) ? -1 : 1));
}

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutNulls(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === null || member === undefined ? [] : [[name, withoutNulls(member)]])),
  );
}

function idOf(row: JsonValue): bigint {
  const id = isJsonObject(row) ? row['id'] : undefined;
  return typeof id === 'number' || typeof id === 'bigint' ? BigInt(id) : -1n;
}

export interface PublishedAs {
  readonly topic: string;
  readonly envelope?: FeedSpec['envelope'];
  readonly records?: Partial<RecordSettings>;
  readonly schemas?: boolean;
}

/** Feeds of a table to the broker of the run, with schemas in a registry. */
export class Feeds {
  readonly #directory: string;
  readonly #engine: LazyEngine;
  readonly #kafka: KafkaClient;
  readonly #subjects: RegistrySubjects;
  readonly #clock = new SystemClock();
  readonly #random = new SystemRandom();

  constructor(directory: string, registryUrl: string) {
    this.#directory = directory;
    this.#kafka = openStreamKafka(kafkaBrokers().join(','), { clock: this.#clock, random: this.#random });
    this.#subjects = new RegistrySubjects({ url: registryUrl, auth: undefined, onUnknownSchema: 'wait' });
    const ids = new RandomIdSource(new SeededRandom(2));
    this.#engine = new LazyEngine({ memoryLimitBytes: 2 ** 28, threads: 1, temporaryDirectory: directory, ids });
  }

  /** Publishes all that the table has by now; `meanwhile` sees the feed while it runs. */
  async publish(place: string, as: PublishedAs, meanwhile?: (feed: Feed) => Promise<void>): Promise<FeedStatus> {
    const table = await this.#open(place);
    const { version } = await table.refresh();
    const feed = new Feed({
      spec: specOf(as),
      table,
      client: this.#kafka,
      encoder: new RegisteringEncoder(
        new ParquetChangeEncoder({ openStore: openObjectStore, openEngine: () => this.#engine.open() }),
        this.#subjects,
      ),
      events: new LocalTableEvents(this.#clock),
      observer: silentFeedObserver,
      clock: this.#clock,
      random: this.#random,
      ids: new RandomIdSource(this.#random),
      failpoint: inertFailpoint,
    });
    const stop = new AbortController();
    const ended = feed.run(stop.signal);
    const drained = feed.drain(version).catch(() => undefined);
    await meanwhile?.(feed);
    await Promise.race([drained, ended]);
    stop.abort();
    return ended;
  }

  async close(): Promise<void> {
    await this.#kafka.close();
    await this.#engine.close();
  }

  async #open(place: string): Promise<Table> {
    const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
    const parts = { openStore: openObjectStore, clock: this.#clock, random: this.#random, version: 'test', rewriter };
    const made = { ...parts, ids: new RandomIdSource(this.#random), staysWithTable: true, engine: () => this.#engine.open() };
    const tables = existsSync(join(place, '_delta_log'))
      ? new DeltaTables(made)
      : new IcebergTables({ ...made, scratchDirectory: this.#directory });
    const table = await tables.open('t', place);
    if (table === undefined) throw new TypeError(`no table in ${this.#directory}`);
    return table;
  }
}

function specOf({ topic, envelope = 'debezium', records = {}, schemas = false }: PublishedAs): FeedSpec {
  return {
    pipeline: 'foreign',
    table: 't',
    name: topic,
    topic,
    positionsTopic: `${topic}.positions`,
    envelope,
    records: { ...plainRecords, ...records },
    schemas,
    select: [],
    where: undefined,
    keyColumns: ['id'],
    partitions: 3,
    replicationFactor: undefined,
    topicConfig: { 'retention.ms': '-1' },
    start: { kind: 'earliest' },
    onGap: 'fail',
    onLostPosition: 'fail',
    onTopicReplaced: 'fail',
    onTableReplaced: 'fail',
    schemaChanges: undefined,
    transactions: undefined,
    truncate: 'rows',
    compression: 'gzip',
    maxTransactionRows: 3,
    maxTransactionBytes: 1_000_000,
    snapshotMaxRowsPerSecond: undefined,
    heartbeatIntervalMs: undefined,
    heartbeatTopic: 'cdf._heartbeats',
    pollIntervalMs: 50,
    tombstones: true,
  };
}
