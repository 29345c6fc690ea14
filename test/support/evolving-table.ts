import { join } from 'node:path';
import { decodeSpecOf } from '../../src/app/drift-watch.ts';
import { LocalTableEvents } from '../../src/app/local-table-events.ts';
import { type OpenedComponents, openComponents } from '../../src/app/open-components.ts';
import { createSession } from '../../src/app/session.ts';
import { InThreadBatchStager } from '../../src/app/workers/batch-stager.ts';
import { withSchemas } from '../../src/app/workers/with-schemas.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { readParquet } from '../../src/codec/parquet/read-parquet.ts';
import { rowsOf } from '../../src/codec/rows.ts';
import { silentCommitObserver } from '../../src/commit/commit-observer.ts';
import { CommitQueue } from '../../src/commit/commit-queue.ts';
import { TableCommitter } from '../../src/commit/table-committer.ts';
import { TableEvolution } from '../../src/commit/table-evolution.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { BatchOutcome } from '../../src/protocol/batch-sink.ts';
import type { RegisteredSchema } from '../../src/protocol/payload-encoding.ts';
import type { RejectedRecord, SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { needText } from '../../src/protocol/table-needs.ts';
import { describeFields } from '../../src/schema/describe-type.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../src/table/formats.ts';
import type { Table } from '../../src/table/table.ts';

const configFile = '/work/tidewater.yaml';

export interface EvolvingTableSettings {
  readonly format: TableFormat;
  readonly directory: string;
  /** Lines of `columns`. */
  readonly columns: readonly string[];
  /** Of the table, as YAML in braces. */
  readonly evolve: string;
  /** Further lines of the table, and of its route. */
  readonly table?: readonly string[];
  readonly route?: readonly string[];
}

/** A table `events` whose records may change it: batches of payloads go through decoding, staging and commit, and its rows are read by a session. */
export class EvolvingTable {
  /** What changed the table, and what did not, in words. */
  readonly changes: string[] = [];
  readonly refusals: string[] = [];
  readonly rejects: RejectedRecord[] = [];
  readonly #settings: EvolvingTableSettings;
  readonly #components: OpenedComponents;
  readonly #schemas = new Map<string, RegisteredSchema>();
  #offset = 0;
  #queue: CommitQueue | undefined;

  constructor(settings: EvolvingTableSettings) {
    this.#settings = settings;
    const { format, columns, evolve, table = [], route = [] } = settings;
    const yaml = `
pipeline: p
schemaRegistry: { url: 'http://127.0.0.1:1' }
tables:
  - name: events
    format: ${format}
    path: ${this.path}
    evolve: ${evolve}
${table.map((line) => `    ${line}\n`).join('')}    columns:
${columns.map((line) => `      - ${line}`).join('\n')}
ingest:
  routes:
    - topics: [events]
      table: events
${route.map((line) => `      ${line}\n`).join('')}
`;
    const { config } = loadConfig({ files: [configFile], env: {}, workingDir: '/work', readText: () => yaml });
    this.#components = openComponents({ config, role: 'command', brokers: [] });
  }

  get path(): string {
    return join(this.#settings.directory, 'db', 'events');
  }

  async close(): Promise<void> {
    await this.#components.close();
  }

  table(): Promise<Table> {
    return this.#components.catalog.loadOrCreate('events');
  }

  register(key: string, schema: RegisteredSchema['schema']): void {
    this.#schemas.set(key, { key, schema });
  }

  /** Commits a batch of one record for each payload. */
  async commit(...payloads: readonly (string | Uint8Array)[]): Promise<BatchOutcome> {
    return (await this.#commits()).submit(this.batch(...payloads), new AbortController().signal);
  }

  /** Commits batches that are staged side by side. */
  async commitAtOnce(...batches: readonly (readonly string[])[]): Promise<readonly BatchOutcome[]> {
    const queue = await this.#commits();
    return Promise.all(batches.map((payloads) => queue.submit(this.batch(...payloads), new AbortController().signal)));
  }

  batch(...payloads: readonly (string | Uint8Array)[]): SealedBatch {
    const records = payloads.map((value) => ({ value: Buffer.from(value), timestampMs: toEpochMs(0) }));
    const { bytes } = encodeRecordBatch({ topic: 'events', partition: 0, records });
    const from = BigInt(this.#offset);
    this.#offset += payloads.length;
    const until = BigInt(this.#offset);
    new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(0, from);
    return {
      table: 'events',
      sequence: 0,
      bytes: new Uint8Array(bytes).buffer,
      recordBatches: [{ topic: 'events', partition: 0, start: 0, end: bytes.length, fromOffset: from }],
      ranges: [{ topic: 'events', partition: 0, from, until, writerId: 'p:events:0', expectedMark: from === 0n ? undefined : from }],
      recordCount: payloads.length,
      maxTimestampMs: 0,
      sealedBy: 'rows',
      openedAtMs: 0,
    };
  }

  /** Columns with their types, as the table has them, without ids. */
  async columns(): Promise<string> {
    return describeFields((await (await this.table()).refresh()).schema.fields)
      .replace(/#\d+/g, '')
      .replaceAll(',', ', ');
  }

  /** Rows as JSON text, in the order of `id`. */
  async rows(select = 'to_json(struct(*))'): Promise<readonly string[]> {
    return (await this.sql(`SELECT ${select} AS r FROM $events ORDER BY id`)).map((row) => String(row));
  }

  /** `id` and `n` of all rows as a feed reads them from their files. */
  async storedRows(): Promise<readonly string[]> {
    const table = await this.table();
    const { version, schema } = await table.refresh();
    const changes = await table.rowsAt(version);
    const found: string[] = [];
    for (const file of changes.files) {
      const store = openObjectStore(file.location ?? table.location);
      const { batches } = await readParquet(await store.read(file.path), { schema });
      for (const row of rowsOf(batches)) found.push(`${numberText(row['id'])} ${numberText(row['n'])}`);
    }
    return found.sort();
  }

  /** The first column of what a statement over `$events` gives. */
  async sql(statement: string): Promise<readonly unknown[]> {
    const { format, directory } = this.#settings;
    const session = createSession({
      config: {
        'spark.sql.warehouse.dir': join(directory, 'other'),
        'tidewater.engine.threads': 1,
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': directory,
      },
    });
    try {
      const name = format === 'delta' ? `delta.\`${this.path}\`` : 'ice.db.events';
      const rows = await (await session.sql(statement.replaceAll('$events', name))).collect();
      return rows.map((row) => Object.values(row)[0]);
    } finally {
      await session.stop();
    }
  }

  async #commits(): Promise<CommitQueue> {
    if (this.#queue !== undefined) return this.#queue;
    const { clock, random, ids, config } = this.#components;
    const [settings] = config.tables;
    const [route] = config.ingest.routes;
    if (settings?.evolve === undefined || route === undefined) throw new Error('the configuration has a table that evolves, and its route');
    const table = await this.table();
    const observer = {
      ...silentCommitObserver,
      evolved: (need: Parameters<typeof needText>[0]) => void this.changes.push(needText(need)),
      notEvolved: (what: string, why: string) => void this.refusals.push(`${what}: ${why}`),
    };
    const evolution = new TableEvolution(table, settings.evolve, observer);
    const stager = new InThreadBatchStager({ openStore: openObjectStore, clock, failpoint: inertFailpoint, maxNestingDepth: 64 });
    const source = { schema: (key: string) => Promise.resolve(this.#schemas.get(key) ?? { key, schema: undefined }) };
    this.#queue = new CommitQueue({
      table,
      committer: new TableCommitter({ table, clock, random, observer, settings: config.commit }),
      stager: {
        stage: (task, signal) =>
          withSchemas({ source, signal }, (schemas) => stager.stage({ ...task, decode: { ...task.decode, schemas } }, signal)),
      },
      deadLetters: {
        write: (_, rejects) => {
          this.rejects.push(...rejects);
          return Promise.resolve({ deadLettered: rejects.length, filtered: 0 });
        },
      },
      decodeSpecFor: (write) => ({ ...decodeSpecOf(settings, route, write), evolve: evolution.spec }),
      evolution,
      pipeline: 'p',
      ids,
      clock,
      failpoint: inertFailpoint,
      observer,
      events: new LocalTableEvents(clock),
    });
    return this.#queue;
  }
}

function numberText(value: unknown): string {
  return typeof value === 'bigint' || typeof value === 'number' ? value.toString() : 'no number';
}
