import { TopicIdentities } from '../../src/app/topic-identities.ts';
import { BatchDivider } from '../../src/app/workers/batch-divider.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { MadeTables } from '../../src/ingest/divide/growing-division.ts';
import { LaneReader } from '../../src/ingest/divide/lane-reader.ts';
import { madeName } from '../../src/ingest/divide/made-name.ts';
import { TableIngest, type TableIngestSettings } from '../../src/ingest/table-ingest.ts';
import type { KafkaClient, TopicPartition } from '../../src/kafka/client.ts';
import type { Compression } from '../../src/kafka/records/compression.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import { RecordCursor } from '../../src/kafka/records/record-cursor.ts';
import type { BatchOutcome } from '../../src/protocol/batch-sink.ts';
import type { DivisionSpec, RecordDivider } from '../../src/protocol/division.ts';
import type { SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { MarkKeeper, never } from './ingest-bench.ts';
import { MemoryBroker } from './kafka/memory-broker.ts';
import { silentIngestObserver } from './silent-observers.ts';
import { SimulatedClock } from './simulated-clock.ts';

const topic = 'events';

/** A table of a divided route: what was committed to it, and what its ingest says. */
export class LaneTable extends MarkKeeper {
  /** `partition:offset value`, in the order of commits; those that no table takes begin with `!`. */
  readonly rows: string[] = [];
  readonly log: string[] = [];
  /** Its commits fail. */
  fails = false;

  override async submit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome> {
    const outcome = await super.submit(batch, revoked);
    if (outcome.kind === 'committed') this.rows.push(...rowsOf(batch));
    return outcome;
  }
}

function rowsOf({ bytes, recordBatches }: SealedBatch): readonly string[] {
  const rows: string[] = [];
  for (const { start, end, fromOffset, partition, unmatched, checked } of recordBatches) {
    const cursor = new RecordCursor(new Uint8Array(bytes, start, end - start), { verifyCrc: checked !== true });
    while (cursor.next()) {
      if (cursor.offset() < fromOffset) continue;
      rows.push(`${unmatched === true ? '!' : ''}${partition}:${cursor.offset()} ${Buffer.from(cursor.value() ?? []).toString()}`);
    }
  }
  return rows;
}

/** The ingests of the tables of a divided route on a broker in memory, in simulated time. */
export class LaneBench {
  readonly clock: SimulatedClock = new SimulatedClock();
  readonly broker: MemoryBroker = new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) });
  readonly tables: LaneTable[];
  /** Keys that tables were made for, behind the listed ones; as the table they are made like has them stored. */
  readonly made: string[] = [];
  /** Tables cannot be made. */
  makesNothing = false;
  readonly leftBehind: string[] = [];
  /** Bytes that were fetched. */
  fetchedBytes = 0;
  divider: RecordDivider;
  readonly #division: DivisionSpec;
  readonly #settings: Partial<TableIngestSettings>;
  #kafka: KafkaClient;
  #process = 0;
  #reader: LaneReader;
  readonly #stops: (AbortController | undefined)[] = [];
  readonly #runs: Promise<void>[] = [];
  readonly #open = new Set<number>();

  constructor(division: DivisionSpec, settings: Partial<TableIngestSettings> = {}) {
    this.#division = division;
    this.#settings = settings;
    this.tables = division.parts.map(() => new LaneTable());
    const inThread = new BatchDivider({ maxNestingDepth: 64 });
    this.divider = { divide: (task) => Promise.resolve(inThread.divide({ ...task, unopened: [], schemas: [] })) };
    this.#kafka = this.broker.client('worker');
    this.#reader = this.#newReader();
  }

  #madeTables(): MadeTables {
    const { table = '', max = 0 } = this.#division.template ?? {};
    return { parts: this.made.map((key) => ({ key, table: madeName(table, key) ?? '' })), isFull: this.made.length >= max };
  }

  /** The number of a table by its name. */
  indexOf(name: string): number {
    const listed = this.#division.parts.findIndex(({ table }) => table === name);
    return listed < 0 ? this.#division.parts.length + this.#madeTables().parts.findIndex(({ table }) => table === name) : listed;
  }

  #newReader(): LaneReader {
    const { template } = this.#division;
    return new LaneReader({
      maker: template && {
        known: async () => {
          await this.clock.sleep(5);
          return this.#madeTables();
        },
        make: async (keys) => {
          await this.clock.sleep(20);
          if (this.makesNothing) throw new Error('no table can be made');
          for (const key of keys) if (!this.made.includes(key) && this.made.length < template.max) this.made.push(key);
          return this.#madeTables();
        },
      },
      onMade: (parts) => {
        for (const { table } of parts) {
          const index = this.indexOf(table);
          this.tables[index] ??= new LaneTable();
          this.start(index).catch(() => undefined);
        }
      },
      kafka: {
        consumer: (options) => {
          const { handler } = options;
          return this.#kafka.consumer({
            ...options,
            handler: {
              onAssigned: (partitions, generation) => handler.onAssigned(partitions, generation),
              onRevoked: (generation) => handler.onRevoked(generation),
              onTopicsChanged: (change) => handler.onTopicsChanged(change),
              onOutOfRange: (position, held) => handler.onOutOfRange?.(position, held),
              onFailed: (error) => {
                handler.onFailed(error);
              },
              onFetched: (fetched) => {
                this.fetchedBytes += fetched.batches.reduce((sum, { bytes }) => sum + bytes.length, 0);
                handler.onFetched(fetched);
              },
            },
          });
        },
      },
      division: this.#division,
      divider: { divide: (task, signal) => this.divider.divide(task, signal) },
      groupId: 'g',
      isWhole: () => false,
      clock: this.clock,
      onLeftBehind: (table) => this.leftBehind.push(table),
    });
  }

  /** Starts the ingest of a table, as its supervisor does. */
  async start(index: number): Promise<void> {
    const table = this.tables[index];
    const part = this.#division.parts[index] ?? this.#madeTables().parts[index - this.#division.parts.length];
    if (table === undefined || part === undefined) throw new Error(`there is no table ${index}`);
    const clusterId = await this.#kafka.admin.clusterId();
    const topicId = (await this.#kafka.admin.describeTopic(topic))?.topicId ?? '';
    table.writerOf = (partition) => `p:${topic}:${partition}:${clusterId}:${topicId}`;
    table.answer = () => {
      if (table.fails) throw new Error(`${part.table} takes nothing`);
      return undefined;
    };
    const stop = new AbortController();
    const process = this.#process;
    const ingest = new TableIngest({
      settings: {
        pipeline: 'p',
        table: part.table,
        topics: [topic],
        groupId: `g-${part.table}`,
        maxBatchRows: 1_000,
        maxBatchBytes: 1 << 20,
        maxBatchAgeMs: 100,
        maxBufferBytes: 1 << 20,
        maxFetchBytes: 1 << 20,
        maxFetchWaitMs: 50,
        sessionTimeoutMs: 30_000,
        onOffsetDiscontinuity: 'fail',
        startFrom: 'earliest',
        storePassedAfterMs: 60_000,
        ...('key' in part ? { startAt: (at: TopicPartition, id: string) => this.#reader.beginningAt(at, id) } : {}),
        ...this.#settings,
      },
      kafka: { admin: this.#kafka.admin, consumer: (options) => this.#reader.consumer(part.table, options) },
      sink: {
        progressStartingWith: () => (this.#process === process ? table.progressStartingWith() : never),
        settle: (ranges) => (this.#process === process ? table.settle(ranges) : never),
        submit: (batch, revoked) => (this.#process === process ? table.submit(batch, revoked) : never),
      },
      identities: new TopicIdentities({ admin: this.#kafka.admin, pipeline: 'p' }),
      awaitedTopics: new Set(),
      clock: this.clock,
      failpoint: inertFailpoint,
      observer: { ...silentIngestObserver, state: (state) => table.log.push(state), warning: (message) => table.log.push(message) },
    });
    this.#stops[index] = stop;
    this.#open.add(index);
    const run = ingest.run(stop.signal).finally(() => {
      if (this.#process === process) this.#open.delete(index);
    });
    run.catch(() => undefined);
    this.#runs[index] = run;
  }

  async startAll(): Promise<void> {
    for (const index of this.#division.parts.keys()) await this.start(index);
    this.#reader.add(this.#madeTables());
    await this.pass(10);
  }

  async topic(partitions = 1): Promise<void> {
    await this.#kafka.admin.ensureTopics([{ topic, partitions }]);
  }

  async produce(values: readonly string[], partition = 0, compression: Compression = 'none'): Promise<void> {
    const producer = await this.broker.client('producer').producer();
    const records = values.map((value) => ({ value: Buffer.from(value), timestampMs: toEpochMs(0) }));
    await producer.send([encodeRecordBatch({ topic, partition, records, compression })]);
  }

  async pass(durationMs: number): Promise<void> {
    await this.clock.runUntil(() => false, this.clock.monotonicMs() + durationMs);
  }

  /** Stops one ingest and waits for its end, however it ends. */
  async stop(index: number): Promise<void> {
    this.#stops[index]?.abort();
    await this.clock.runUntil(() => !this.#open.has(index), this.clock.monotonicMs() + 60_000);
    if (this.#open.has(index)) throw new Error(`the ingest of table ${index} does not end`);
    await this.#runs[index]?.catch(() => undefined);
  }

  async stopAll(): Promise<void> {
    for (const stop of this.#stops) stop?.abort();
    await this.clock.runUntil(() => this.#open.size === 0, this.clock.monotonicMs() + 60_000);
    if (this.#open.size > 0) throw new Error(`the ingests of tables ${[...this.#open].join(', ')} do not end`);
    await Promise.allSettled(this.#runs);
  }

  /** The process dies: nothing is heard of it any more. */
  crash(): void {
    this.#process += 1;
    this.broker.crashClient('worker');
    for (const table of this.tables) table.crash();
    for (const stop of this.#stops) stop?.abort();
    for (const held of [this.#stops, this.#runs]) held.length = 0;
    this.#open.clear();
    this.#kafka = this.broker.client('worker');
  }

  /** A new process: the tables stay. */
  restart(): void {
    this.#reader = this.#newReader();
  }

  /** Another member of the group comes and goes, so that all partitions are assigned anew. */
  async rebalance(): Promise<void> {
    const idle = this.broker.client('passer-by').consumer({
      groupId: 'g',
      topics: [topic],
      handler: {
        onAssigned: () => Promise.resolve([]),
        onRevoked: () => Promise.resolve(),
        onTopicsChanged: () => Promise.resolve(),
        onFetched: () => undefined,
        onFailed: () => undefined,
      },
    });
    // Who is assigned may have to look something up first, which takes its time.
    const started = idle.start();
    await this.pass(50);
    await started;
    const stopped = idle.stop();
    await this.pass(50);
    await stopped;
  }
}
