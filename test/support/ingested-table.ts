import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { audit } from '../../src/app/commands/audit-command.ts';
import { createAppCommands } from '../../src/app/commands.ts';
import { decodeSpecOf } from '../../src/app/drift-watch.ts';
import { LocalTableEvents } from '../../src/app/local-table-events.ts';
import { type OpenedComponents, openComponents } from '../../src/app/open-components.ts';
import { createSession } from '../../src/app/session.ts';
import { InThreadBatchStager } from '../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { silentCommitObserver } from '../../src/commit/commit-observer.ts';
import { CommitQueue } from '../../src/commit/commit-queue.ts';
import { TableCommitter } from '../../src/commit/table-committer.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Session } from '../../src/index.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { writerIdOf } from '../../src/protocol/source-offsets.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../src/table/formats.ts';
import type { Table } from '../../src/table/table.ts';
import { type CliRun, cli } from '../unit/cli/cli-support.ts';

const configFile = '/work/tidewater.yaml';

/** A table `orders` in a directory, filled by the pipeline's own commits and looked at through the command line. */
export class IngestedTable {
  readonly format: TableFormat;
  /** The warehouse: the table is `db/orders` in it. */
  readonly directory: string;
  readonly #config: string;
  readonly #components: OpenedComponents;
  #table: Table | undefined;
  readonly #queues = new Map<string, CommitQueue>();
  /** Another incarnation of the topic has another one. */
  topicId = 't';
  /** Whose commits they are. */
  pipeline = 'p';

  /** @param properties of the table. @param columns beside `id` and those of the source. */
  constructor(format: TableFormat, directory: string, properties: Readonly<Record<string, string>> = {}) {
    this.format = format;
    this.directory = directory;
    this.#config = `
pipeline: p
commit: { compression: uncompressed }
tables:
  - name: orders
    format: ${format}
    path: ${join(directory, 'db', 'orders')}
    columns:
      - { name: id, type: long }
      - { name: _topic, type: string, from: topic }
      - { name: _partition, type: integer, from: partition }
      - { name: _offset, type: long, from: offset }
    properties: ${JSON.stringify(properties)}
ingest: { routes: [{ topics: [orders], table: orders }] }
`;
    const { config } = loadConfig({ files: [configFile], env: {}, workingDir: '/work', readText: () => this.#config });
    this.#components = openComponents({ config, role: 'command', brokers: [] });
  }

  get path(): string {
    return join(this.directory, 'db', 'orders');
  }

  async close(): Promise<void> {
    await this.#components.close();
  }

  async table(): Promise<Table> {
    this.#table ??= await this.#components.catalog.loadOrCreate('orders');
    return this.#table;
  }

  /** Commits records `[from, until)` of a partition. `after`: the mark that is left behind by decision; default: `from`. */
  async commit(partition: number, from: number, until: number, after: number | 'nothing' = from === 0 ? 'nothing' : from): Promise<void> {
    const records = Array.from({ length: until - from }, (_, index) => ({
      value: Buffer.from(`{"id":${1_000_000 + from + index}}`),
      timestampMs: toEpochMs(0),
    }));
    const { bytes } = encodeRecordBatch({ topic: 'orders', partition, records });
    // The broker writes the offset of a batch into its head.
    new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(0, BigInt(from));
    const expectedMark = after === 'nothing' ? undefined : BigInt(after);
    const source = { pipeline: this.pipeline, clusterId: 'c', topic: 'orders', topicId: this.topicId };
    const batch: SealedBatch = {
      table: 'orders',
      sequence: 0,
      bytes: new Uint8Array(bytes).buffer,
      recordBatches: [{ topic: 'orders', partition, start: 0, end: bytes.length, fromOffset: BigInt(from) }],
      ranges: [
        { topic: 'orders', partition, from: BigInt(from), until: BigInt(until), writerId: writerIdOf(source, partition), expectedMark },
      ],
      recordCount: records.length,
      maxTimestampMs: 0,
      sealedBy: 'rows',
      openedAtMs: 0,
    };
    const outcome = await (await this.#commits()).submit(batch, new AbortController().signal);
    if (outcome.kind !== 'committed') throw new Error(`the batch was ${outcome.kind}`);
  }

  async #commits(): Promise<CommitQueue> {
    const open = this.#queues.get(this.pipeline);
    if (open !== undefined) return open;
    const { clock, random, ids, config } = this.#components;
    const [settings] = config.tables;
    if (settings === undefined) throw new Error('the configuration has a table');
    const [route = { value: { kind: 'json', framed: false } as const, key: undefined }] = config.ingest.routes;
    const table = await this.table();
    const commits = new CommitQueue({
      table,
      committer: new TableCommitter({ table, clock, random, observer: silentCommitObserver, settings: config.commit }),
      stager: new InThreadBatchStager({ openStore: openObjectStore, clock, failpoint: inertFailpoint, maxNestingDepth: 8 }),
      deadLetters: { write: (_, rejects) => Promise.resolve({ deadLettered: rejects.length, filtered: 0 }) },
      decodeSpecFor: (write) => decodeSpecOf(settings, route, write),
      pipeline: this.pipeline,
      ids,
      clock,
      failpoint: inertFailpoint,
      observer: silentCommitObserver,
      events: new LocalTableEvents(clock),
    });
    this.#queues.set(this.pipeline, commits);
    return commits;
  }

  /** What another program does to the table: statements over `$orders`. */
  async sql(...statements: readonly string[]): Promise<void> {
    const session = this.session();
    try {
      for (const statement of statements) {
        const name = this.format === 'delta' ? `delta.\`${this.path}\`` : 'ice.db.orders';
        await (await session.sql(statement.replaceAll('$orders', name))).collect();
      }
    } finally {
      await session.stop();
    }
  }

  session(): Session {
    return createSession({
      config: {
        'spark.sql.warehouse.dir': join(this.directory, 'other'),
        'tidewater.engine.threads': 1,
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': this.directory,
      },
    });
  }

  /** Runs the command line over the table, with this configuration. */
  cli(...command: readonly string[]): Promise<CliRun> {
    return cli(['-c', configFile, ...command], {
      app: { audit, freshness: (context, request) => createAppCommands().freshness(context, request) },
      files: { [configFile]: this.#config },
    });
  }

  /** Files of the table on disk by the end of their names, oldest first. */
  files(ending: string | RegExp): readonly string[] {
    const fits = (name: string): boolean => (typeof ending === 'string' ? name.endsWith(ending) : ending.test(name));
    if (!existsSync(this.path)) return [];
    const found = readdirSync(this.path, { recursive: true, encoding: 'utf8' }).filter(fits);
    const paths = found.map((name) => join(this.path, name)).filter((path) => statSync(path).isFile());
    return paths.toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs || (a < b ? -1 : 1));
  }
}
