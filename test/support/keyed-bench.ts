import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeSpecOf } from '../../src/app/drift-watch.ts';
import { keyIndexOf, takeForIngest } from '../../src/app/keyed-ingest.ts';
import { LazyEngine } from '../../src/app/lazy-engine.ts';
import { LocalTableEvents } from '../../src/app/local-table-events.ts';
import { type OpenedComponents, openComponents } from '../../src/app/open-components.ts';
import { createSession } from '../../src/app/session.ts';
import { InThreadBatchStager } from '../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { serviceError } from '../../src/base/errors.ts';
import { type FailpointName, inertFailpoint } from '../../src/base/failpoint.ts';
import { changeLines } from '../../src/cdf/change-rows.ts';
import type { CommittedBatch } from '../../src/commit/commit-observer.ts';
import { type CommitObserver, silentCommitObserver } from '../../src/commit/commit-observer.ts';
import { CommitQueue } from '../../src/commit/commit-queue.ts';
import { MarkedFiles, type TidyLimits } from '../../src/commit/keyed/marked-files.ts';
import { TableCommitter } from '../../src/commit/table-committer.ts';
import { TableEvolution } from '../../src/commit/table-evolution.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Session } from '../../src/index.ts';
import type { OutgoingRecord } from '../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { BatchOutcome } from '../../src/protocol/batch-sink.ts';
import { printReplayed, type ReplayedRecord, replayHeader } from '../../src/protocol/replayed-record.ts';
import type { RejectedRecord, SealedBatch } from '../../src/protocol/sealed-batch.ts';
import type { LocalKeyIndex } from '../../src/rows/key-index/local-key-index.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../src/table/formats.ts';
import type { CompactionResult, CompactionRule } from '../../src/table/operations.ts';
import type { QueryableTable, Table } from '../../src/table/table.ts';
import { nextVersion, toVersion } from '../../src/table/version.ts';
import { noEngine } from './no-engine.ts';

export interface KeyedBenchSettings {
  readonly format: TableFormat;
  readonly directory: string;
  /** Of columns, as YAML in braces. */
  readonly columns: readonly string[];
  /** Further lines of the table, and of its route. */
  readonly table: readonly string[];
  readonly route?: readonly string[];
  /** Files of which most rows are marked are written anew after a commit, within these limits. Default: they are left. */
  readonly tidies?: Partial<TidyLimits>;
  /** Keys are looked up in an index, however few rows there are. Default: in the table. */
  readonly indexed?: boolean;
}

/** A record of the topic; `value` undefined: a tombstone. */
export interface KeyedRecord {
  readonly key?: string | undefined;
  readonly value: string | undefined;
  readonly headers?: OutgoingRecord['headers'];
}

/** The topic of replayed dead letters. */
export const replayTopic = 'replay';

/** A keyed table `accounts` that records of one partition come into through decoding, folding, staging and commit, in one thread. */
export class KeyedBench {
  readonly rejects: RejectedRecord[] = [];
  /** What each commit did, in order. */
  readonly commits: CommittedBatch[] = [];
  /** Bytes that batches keep in memory until their commits, and the most there were. */
  heldBytes = 0;
  peakHeldBytes = 0;
  /** What became of files of which most rows were marked: versions, and errors. */
  readonly tidied: unknown[] = [];
  readonly #settings: KeyedBenchSettings;
  readonly #components: OpenedComponents;
  readonly #session: Session;
  /** Of transforms. */
  readonly #engine: LazyEngine;
  readonly #ends = new Map<string, number>();
  #queue: CommitQueue | undefined;
  #index: LocalKeyIndex | undefined;
  #failing: FailpointName | undefined;
  /** What happens in the middle of a compaction. */
  #meanwhile: (() => Promise<unknown>) | undefined;

  constructor(settings: KeyedBenchSettings) {
    this.#settings = settings;
    const { format, columns, table, route = [], directory } = settings;
    const yaml = `
pipeline: p
tables:
  - name: accounts
    format: ${format}
    path: ${this.path}
${table.some((line) => line.startsWith('mode:')) ? '' : '    mode: upsert\n'}${table.map((line) => `    ${line}\n`).join('')}    columns:
${columns.map((line) => `      - ${line}`).join('\n')}
ingest:
  routes:
    - topics: [accounts]
      table: accounts
${route.map((line) => `      ${line}\n`).join('')}
maintenance: { engine: { threads: 1 } }
commit: { keyIndex: { enabled: ${settings.indexed === true}, directory: ${join(directory, 'index')}, minRows: 1 } }
`;
    const file = '/work/tidewater.yaml';
    const { config } = loadConfig({ files: [file], env: {}, workingDir: '/work', readText: () => yaml });
    this.#components = openComponents({ config, role: 'command', brokers: [], failpoint: (name) => this.#reached(name) });
    this.#engine = new LazyEngine({ ...config.maintenance.engine, ids: this.#components.ids });
    this.#session = createSession({
      config: {
        'spark.sql.warehouse.dir': join(directory, 'other'),
        'tidewater.engine.threads': 1,
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': directory,
      },
    });
  }

  get path(): string {
    return join(this.#settings.directory, 'db', 'accounts');
  }

  async close(): Promise<void> {
    await this.#session.stop();
    await this.#engine.close();
    await this.#index?.close();
    await this.#components.close();
  }

  table(): Promise<Table> {
    return this.#components.catalog.loadOrCreate('accounts');
  }

  /** Commits a batch of these records. */
  async commit(...records: readonly KeyedRecord[]): Promise<BatchOutcome> {
    const queue = await this.queue();
    return queue.submit(this.batch(records), new AbortController().signal);
  }

  /** Commits records of the topic as replayed dead letters. */
  async replay(...records: readonly KeyedRecord[]): Promise<BatchOutcome> {
    const { tableId } = await (await this.table()).refresh();
    const letters = records.map((record, index): KeyedRecord => {
      const said = { ...aLetter, tableId, offset: BigInt(index) };
      return { ...record, headers: [[replayHeader, Buffer.from(printReplayed(said))]] };
    });
    return (await this.queue()).submit(this.batch(letters, replayTopic), new AbortController().signal);
  }

  /** The topic goes on behind records that another process has taken. */
  skip(records: number): void {
    this.#ends.set('accounts', (this.#ends.get('accounts') ?? 0) + records);
  }

  batch(given: readonly KeyedRecord[], topic = 'accounts'): SealedBatch {
    const records = given.map(({ key, value, headers }) => ({
      ...(key === undefined ? {} : { key: Buffer.from(key) }),
      ...(headers === undefined ? {} : { headers }),
      value: value === undefined ? undefined : Buffer.from(value),
      timestampMs: toEpochMs(0),
    }));
    const { bytes } = encodeRecordBatch({ topic, partition: 0, records });
    const start = this.#ends.get(topic) ?? 0;
    this.#ends.set(topic, start + given.length);
    const from = BigInt(start);
    const until = BigInt(start + given.length);
    new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(0, from);
    return {
      table: 'accounts',
      sequence: 0,
      bytes: new Uint8Array(bytes).buffer,
      recordBatches: [{ topic, partition: 0, start: 0, end: bytes.length, fromOffset: from }],
      ranges: [{ topic, partition: 0, from, until, writerId: `p:${topic}:0`, expectedMark: from === 0n ? undefined : from }],
      recordCount: given.length,
      maxTimestampMs: 0,
      sealedBy: 'rows',
      openedAtMs: 0,
    };
  }

  /** A compaction as maintenance runs it. `meanwhile`: what happens between the rewriting and the commit. */
  async compact(rule: CompactionRule, meanwhile?: () => Promise<unknown>): Promise<CompactionResult['outcome']> {
    const table = await this.table();
    const plan = await table.planCompaction(rule);
    this.#meanwhile = meanwhile;
    const { outcome } = await table.compact(plan);
    this.#meanwhile = undefined;
    return outcome;
  }

  /** Data files, and the rows and bytes in them, those that are deleted too. */
  async stored(): Promise<{ readonly files: number; readonly storedRows: number; readonly bytes: number }> {
    const table: Table & Partial<Pick<QueryableTable, 'scan'>> = await this.table();
    const { files = [] } = (await table.scan?.(await table.refresh())) ?? {};
    return {
      files: files.length,
      storedRows: files.reduce((sum, { rowCount = 0 }) => sum + rowCount, 0),
      bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    };
  }

  /** The ingest stops, and goes on from what the tables say. */
  async restart(): Promise<void> {
    this.#queue = undefined;
    await this.#index?.close();
    this.#index = undefined;
  }

  /** Somebody deletes what the index has on disk. */
  loseIndex(): void {
    rmSync(join(this.#settings.directory, 'index'), { recursive: true, force: true });
  }

  /** The next commit fails there. */
  failAt(name: FailpointName): void {
    this.#failing = name;
  }

  async #reached(name: FailpointName): Promise<void> {
    if (name === this.#failing) {
      this.#failing = undefined;
      throw serviceError.internal('FAILPOINT', name);
    }
    if (name !== 'before-compaction-commit') return;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    await meanwhile?.();
  }

  /** What another program does to the table: a statement over `$accounts`, or over `$deletes`, what remembers its deleted keys. */
  async sql(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const name = (table: string): string =>
      this.#settings.format === 'delta' ? `delta.\`${join(this.#settings.directory, 'db', table)}\`` : `ice.db.${table}`;
    const named = statement.replaceAll('$accounts', name('accounts')).replaceAll('$deletes', name('accounts__deletes'));
    return await (await this.#session.sql(named)).collect();
  }

  /** The feed of all versions, as parsed lines. */
  async changes(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const table = await this.table();
    const { version } = await table.refresh();
    const source = {
      table,
      openStore: openObjectStore,
      openEngine: noEngine,
      fromVersion: toVersion(this.#settings.format === 'delta' ? 0 : 1),
      untilVersion: nextVersion(version),
    };
    const lines: Readonly<Record<string, unknown>>[] = [];
    for await (const line of changeLines(source)) lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
    return lines;
  }

  async queue(): Promise<CommitQueue> {
    if (this.#queue !== undefined) return this.#queue;
    const { clock, random, ids, config } = this.#components;
    const [settings] = config.tables;
    const [route] = config.ingest.routes;
    if (settings?.keyed === undefined || route === undefined) throw new Error('the configuration has a keyed table and its route');
    const table = await this.table();
    const observer: CommitObserver = {
      ...silentCommitObserver,
      committed: (commit) => void this.commits.push(commit),
      tidied: ({ outcome }) => void this.tidied.push(outcome),
      notTidied: (error) => void this.tidied.push(error),
    };
    const tombstones = await takeForIngest(this.#components, settings, { table, observer, totals: undefined });
    const { tidies } = this.#settings;
    this.#index = keyIndexOf(this.#components, settings, undefined);
    const evolution = settings.evolve === undefined ? undefined : new TableEvolution(table, settings.evolve, observer);
    this.#queue = new CommitQueue({
      table,
      committer: new TableCommitter({ table, clock, random, observer, settings: config.commit }),
      stager: new InThreadBatchStager({
        openStore: openObjectStore,
        clock,
        failpoint: inertFailpoint,
        maxNestingDepth: 64,
        openEngine: () => this.#engine.open(),
      }),
      deadLetters: {
        write: (_, rejects) => {
          this.rejects.push(...rejects);
          return Promise.resolve({ deadLettered: rejects.length, filtered: 0 });
        },
      },
      decodeSpecFor: (write, tableId) => ({
        ...decodeSpecOf(settings, route, write),
        replays: { topic: replayTopic, pipeline: 'p', table: 'accounts', tableId },
        evolve: evolution?.spec,
      }),
      ...(evolution === undefined ? {} : { evolution }),
      ...{ tombstones, keyIndex: this.#index },
      hold: (changeBytes) => {
        this.heldBytes += changeBytes;
        this.peakHeldBytes = Math.max(this.peakHeldBytes, this.heldBytes);
      },
      ...(tidies === undefined ? {} : { markedFiles: new MarkedFiles(table, clock, tidies) }),
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

const aLetter: ReplayedRecord = {
  ...{ pipeline: 'p', table: 'accounts', tableId: '', topic: 'accounts', partition: 0, offset: 0n, timestampMs: 0 },
  ...{ times: 1, firstReason: 'wrong-type', firstRejectedAt: '2026-01-02T00:00:00.000Z', replayedAt: '2026-01-03T00:00:00.000Z' },
  ...{ reason: 'wrong-type', stage: 'VALUE_CONVERTER', rejectedAt: '2026-01-02T00:00:00.000Z' },
  letter: { topicId: 'x', partition: 0, offset: 0n },
};
