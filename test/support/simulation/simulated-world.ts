import { type Random, randomInt } from '../../../src/base/random.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import type { FeedSpec } from '../../../src/cdf/feed-spec.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { plainRecords } from '../../../src/protocol/change-event.ts';
import type { LocalKeyIndex } from '../../../src/rows/key-index/local-key-index.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { TableFormat } from '../../../src/table/formats.ts';
import type { TableDefinition } from '../../../src/table/table.ts';
import { MemoryBroker } from '../kafka/memory-broker.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { RecordingStore } from './recording-store.ts';

/** A fault in the product itself, to show that the checkers see it. */
export type Sabotage = 'forget-deletes' | 'skip-mark-check' | 'lose-dead-letters' | 'repeat-dead-letters' | 'forget-feed-positions';

/** What a process said it had committed. */
export interface ReportedCommit {
  readonly process: string;
  readonly version: number;
  readonly rows: number;
}

export const pipeline = 'sim';
export const tableName = 'orders';
export const sourceTopic = 'orders';
export const deadLetterTopic = 'orders.dead';
export const changesTopic = 'orders.changes';
export const tableLocation = 'memory://orders';
export const tombstonesName = 'orders__deletes';
export const tombstonesLocation = 'memory://orders__deletes';
/** Of removed files and of the log: longer than any process is suspended, as in life. */
export const retentionMs = 300_000;

const deltaProperties = {
  'delta.enableChangeDataFeed': 'true',
  'delta.checkpointInterval': '7',
  'delta.deletedFileRetentionDuration': `interval ${retentionMs} milliseconds`,
  'delta.logRetentionDuration': `interval ${retentionMs} milliseconds`,
};
const icebergProperties = {
  'history.expire.max-snapshot-age-ms': String(retentionMs),
  'commit.manifest.min-count-to-merge': '12',
  // Deflate runs in threads of the process, which take real time: simulated time does not wait for them.
  'write.manifest.compression-codec': 'uncompressed',
};

/** One run's shape, drawn from its seed. */
export interface Shape {
  readonly partitions: number;
  readonly partitioned: boolean;
  readonly processes: number;
  readonly maxBatchRows: number;
  readonly maxBatchAgeMs: number;
  readonly maxTransactionRows: number;
  readonly keyed: boolean;
  readonly maxSkewMs: number;
  readonly brokerLatencyMs: number;
}

/** How a run keeps one row for each key. */
export interface KeyedShape {
  /** Records come late and again, their keys in any partition, and deletes are remembered. */
  readonly ordered: boolean;
  /** Old rows are marked; otherwise their files are written anew. */
  readonly marks: boolean;
  readonly keys: number;
  /** Of a Delta table: images of changes are made when the feed is read. */
  readonly derived: boolean;
  /** Keys are looked up in an index that the processes share. */
  readonly indexed: boolean;
}

export interface WorldOptions {
  readonly seed: number;
  readonly sabotage?: Sabotage | undefined;
  /** Default: delta. */
  readonly format?: TableFormat | undefined;
  readonly keyed?: boolean | undefined;
}

/** Engine and directory are for runs of keyed tables. */
export interface WorldParts {
  readonly clock: SimulatedClock;
  readonly engine: Engine | undefined;
  /** On the local disk, which outlives the processes. */
  readonly directory: string | undefined;
}

/** Everything outside the processes: time, storage, broker, and notes for the checkers. All of it follows from one seed. */
export class SimulatedWorld {
  readonly seed: number;
  readonly sabotage: Sabotage | undefined;
  readonly format: TableFormat;
  readonly clock: SimulatedClock;
  readonly random: Random;
  readonly shape: Shape;
  /** The table has one row for each key. `undefined`: one for each record. */
  readonly keyedBy: KeyedShape | undefined;
  readonly store: RecordingStore;
  /** Of the table that remembers deleted keys. */
  readonly tombstones: MemoryObjectStore;
  readonly broker: MemoryBroker;
  /** Of runs of keyed tables. */
  readonly engine: Engine | undefined;
  readonly directory: string | undefined;
  /** In it, to be closed in the end. */
  readonly keyIndexes: LocalKeyIndex[] = [];
  /** Never meets a fault. */
  readonly observer: KafkaClient;
  readonly reported: ReportedCommit[] = [];
  /** Of rows that another program has put into a keyed table. */
  readonly foreignKeys: number[] = [];
  /** What must never happen and did. */
  readonly unexpected: string[] = [];
  /** How often each thing happened, to see that a run was worth something. */
  readonly counts: Map<string, number> = new Map();
  /** Probability that a request, or its answer, of a worker gets lost. */
  brokerFaultRate = 0;

  constructor(options: WorldOptions, { clock, engine, directory }: WorldParts) {
    this.clock = clock;
    this.directory = directory;
    this.engine = engine;
    this.seed = options.seed;
    this.sabotage = options.sabotage;
    this.format = options.format ?? 'delta';
    this.random = new SeededRandom(options.seed);
    this.shape = drawShape(this.random);
    this.keyedBy = options.keyed === true ? drawKeyedShape(this.fork()) : undefined;
    if (this.keyedBy !== undefined) {
      this.count(this.keyedBy.ordered ? 'keys by an order' : 'keys in order');
      this.count(this.keyedBy.indexed ? 'keys in an index' : 'keys read');
      this.count(this.keyedBy.marks ? 'old rows marked' : 'old files written anew');
    }
    this.tombstones = new MemoryObjectStore({ name: tombstonesName, clock: this.clock });
    this.store = new RecordingStore(new MemoryObjectStore({ name: 'orders', clock: this.clock }), this.clock);
    const faults = this.fork();
    this.broker = new MemoryBroker({
      clock: this.clock,
      random: this.fork(),
      latencyMs: this.shape.brokerLatencyMs,
      faultPolicy: ({ clientId }) => this.brokerFaultRate > 0 && clientId.startsWith('w') && faults.next() < this.brokerFaultRate,
    });
    this.observer = this.broker.client('observer');
  }

  /** Randomness of its own for one part, so that what one part draws does not depend on the others. */
  fork(): Random {
    return new SeededRandom(randomInt(this.random, 0x1_0000_0000));
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  between(fromMs: number, untilMs: number): number {
    return fromMs + randomInt(this.random, untilMs - fromMs);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  get definition(): TableDefinition {
    const { partitioned } = this.shape;
    if (this.keyedBy !== undefined) return keyedDefinition(this.format, this.keyedBy, this.definitionProperties);
    return {
      schema: {
        kind: 'struct',
        fields: [
          { name: 'id', type: { kind: 'long' }, nullable: false },
          { name: 'city', type: { kind: 'string' }, nullable: !partitioned },
          { name: 'amount', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
          { name: 'source_partition', type: { kind: 'integer' }, nullable: false },
          { name: 'source_offset', type: { kind: 'long' }, nullable: false },
        ],
      },
      partitionColumns: partitioned ? ['city'] : [],
      properties: this.definitionProperties,
    };
  }

  get definitionProperties(): TableDefinition['properties'] {
    return this.format === 'delta' ? deltaProperties : icebergProperties;
  }

  get feedSpec(): FeedSpec {
    return {
      pipeline,
      table: tableName,
      name: changesTopic,
      topic: changesTopic,
      positionsTopic: 'positions',
      envelope: 'debezium',
      records: plainRecords,
      schemas: false,
      select: [],
      where: undefined,
      keyColumns: this.keyedBy !== undefined ? ['id'] : this.shape.keyed ? ['city'] : [],
      partitions: 2,
      replicationFactor: undefined,
      topicConfig: {},
      start: { kind: 'earliest' },
      onGap: 'fail',
      onLostPosition: 'fail',
      onTopicReplaced: 'fail',
      onTableReplaced: 'fail',
      schemaChanges: undefined,
      transactions: undefined,
      truncate: 'rows',
      compression: 'none',
      maxTransactionRows: this.shape.maxTransactionRows,
      maxTransactionBytes: 1 << 20,
      snapshotMaxRowsPerSecond: undefined,
      heartbeatIntervalMs: undefined,
      heartbeatTopic: 'cdf._heartbeats',
      pollIntervalMs: 200,
      tombstones: false,
    };
  }
}

function drawShape(random: Random): Shape {
  const pick = <T>(...choices: readonly [T, ...T[]]): T => choices[randomInt(random, choices.length)] ?? choices[0];
  return {
    partitions: pick(1, 2, 3, 4),
    partitioned: pick(true, false),
    processes: pick(1, 2, 2, 3),
    maxBatchRows: pick(5, 40, 200),
    maxBatchAgeMs: pick(60, 200, 500),
    maxTransactionRows: pick(3, 30, 500),
    keyed: pick(true, false),
    maxSkewMs: pick(0, 0, 3_600_000),
    brokerLatencyMs: pick(0, 2, 10),
  };
}

function drawKeyedShape(random: Random): KeyedShape {
  return {
    ordered: random.next() < 0.7,
    marks: random.next() < 0.6,
    keys: 4 + randomInt(random, 20),
    derived: random.next() < 0.4,
    indexed: random.next() < 0.6,
  };
}

function keyedDefinition(format: TableFormat, { marks }: KeyedShape, properties: TableDefinition['properties']): TableDefinition {
  const ofFormat =
    format === 'delta'
      ? { 'delta.enableDeletionVectors': String(marks) }
      : { 'write.merge.mode': marks ? 'merge-on-read' : 'copy-on-write' };
  return {
    schema: {
      kind: 'struct',
      fields: [
        { name: 'id', type: { kind: 'long' }, nullable: false },
        { name: 'city', type: { kind: 'string' }, nullable: true },
        { name: 'amount', type: { kind: 'decimal', precision: 12, scale: 2 }, nullable: true },
        { name: 'n', type: { kind: 'long' }, nullable: false },
        { name: 'gone', type: { kind: 'boolean' }, nullable: true },
        { name: 'source_partition', type: { kind: 'integer' }, nullable: false },
        { name: 'source_offset', type: { kind: 'long' }, nullable: false },
      ],
    },
    partitionColumns: [],
    ...(format === 'iceberg' ? { identifierColumns: ['id'] } : {}),
    properties: { ...properties, ...ofFormat },
  };
}
