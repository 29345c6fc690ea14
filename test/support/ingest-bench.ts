import { TopicIdentities } from '../../src/app/topic-identities.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { IngestObserver } from '../../src/ingest/ingest-observer.ts';
import type { MemoryLedger } from '../../src/ingest/memory/memory-ledger.ts';
import { TableIngest, type TableIngestSettings } from '../../src/ingest/table-ingest.ts';
import type { KafkaClient } from '../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { BatchOutcome, BatchSink } from '../../src/protocol/batch-sink.ts';
import type { BatchRange, SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { toVersion } from '../../src/table/version.ts';
import { MemoryBroker } from './kafka/memory-broker.ts';
import { silentIngestObserver } from './silent-observers.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** What a process that is gone waits for. */
export const never: Promise<never> = new Promise(() => undefined);

/** Takes batches and keeps marks as a table does; commits wait while `held`. */
export class MarkKeeper implements BatchSink {
  readonly batches: SealedBatch[] = [];
  readonly settled: string[] = [];
  /** By partition, of the incarnation written last. */
  readonly marks: Map<string, bigint> = new Map();
  /** The mark of each partition whose value `marks` has, and all that were left behind. */
  readonly #writers = new Map<string, string>();
  readonly #left = new Map<string, bigint>();
  held: Promise<void> | undefined;
  /** Decisions about where to start wait for it. */
  settling: Promise<void> | undefined;
  answer: ((batch: SealedBatch) => BatchOutcome | undefined) | undefined;
  /** Name of a mark that a test has put into `marks`. */
  writerOf: (partition: string) => string = (partition) => partition;
  #tail: Promise<unknown> = Promise.resolve();
  #process = 0;

  async progressStartingWith(): Promise<ReadonlyMap<string, bigint>> {
    await this.#tail;
    const present = [...this.marks].map(([partition, mark]) => [this.#writers.get(partition) ?? this.writerOf(partition), mark] as const);
    return new Map([...this.#left, ...present]);
  }

  async settle(ranges: readonly BatchRange[]): Promise<boolean> {
    await this.#tail;
    await this.settling;
    const marks = await this.progressStartingWith();
    if (ranges.some(({ writerId, expectedMark }) => marks.get(writerId) !== expectedMark)) return false;
    this.#advance(ranges);
    this.settled.push(ranges.map(({ partition, until }) => `${partition}:${until}`).join(' '));
    return true;
  }

  #advance(ranges: readonly BatchRange[]): void {
    for (const { partition, until, writerId } of ranges) {
      const [key, before] = [`${partition}`, this.marks.get(`${partition}`)];
      const writer = this.#writers.get(key) ?? this.writerOf(key);
      if (before !== undefined && writer !== writerId) this.#left.set(writer, before);
      this.#writers.set(key, writerId);
      this.marks.set(key, until);
    }
  }

  /** What was submitted and is not committed never is; nobody hears of it. */
  crash(): void {
    this.#process += 1;
    this.#tail = Promise.resolve();
  }

  submit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome> {
    this.batches.push(batch);
    const process = this.#process;
    const turn = this.#tail.then(() => this.#commit(batch, revoked, process));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #commit(batch: SealedBatch, revoked: AbortSignal, process: number): Promise<BatchOutcome> {
    await this.held;
    if (process !== this.#process) await never;
    const answer = this.answer?.(batch);
    if (answer !== undefined) return answer;
    if (revoked.aborted) return { kind: 'discarded', reason: 'revoked' };
    this.#advance(batch.ranges);
    return { kind: 'committed', version: toVersion(1), rowCount: batch.recordCount, rejectedCount: 0 };
  }

  get sealed(): readonly string[] {
    return this.batches.map(
      ({ sealedBy, ranges }) => `${sealedBy} ${ranges.map(({ partition, from, until }) => `${partition}:${from}-${until}`).join(' ')}`,
    );
  }
}

/** One table's ingest on a broker in memory, in simulated time. */
export class Bench {
  readonly clock: SimulatedClock;
  readonly broker: MemoryBroker;
  readonly kafka: KafkaClient;
  readonly sink: MarkKeeper;
  readonly log: string[] = [];
  /** Shared with others; of those that start from now on. */
  memory: MemoryLedger | undefined;
  /** `partition: lag`, of each start. */
  readonly placed: string[] = [];
  /** What the process remembers beyond its ingest. */
  awaitedTopics: Set<string> = new Set();
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #done = false;

  /** `before`: a worker on the same broker and table whose process is gone. */
  constructor(before?: Bench) {
    this.clock = before?.clock ?? new SimulatedClock();
    this.broker = before?.broker ?? new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) });
    this.sink = before?.sink ?? new MarkKeeper();
    this.kafka = this.broker.client(before === undefined ? 'worker' : 'next worker');
  }

  async start(settings: Partial<TableIngestSettings> = {}, kafka: KafkaClient = this.kafka): Promise<TableIngest> {
    const identities = new TopicIdentities({ admin: kafka.admin, pipeline: 'p' });
    const clusterId = await this.kafka.admin.clusterId();
    const topicId = (await this.kafka.admin.describeTopic('orders'))?.topicId ?? '';
    this.sink.writerOf = (partition) => `p:orders:${partition}:${clusterId}:${topicId}`;
    const ingest = new TableIngest({
      settings: {
        pipeline: 'p',
        table: 'orders',
        topics: ['orders'],
        groupId: 'g',
        maxBatchRows: 1_000,
        maxBatchBytes: 1 << 20,
        maxBatchAgeMs: 10_000,
        maxBufferBytes: 1 << 20,
        maxFetchBytes: 1 << 20,
        maxFetchWaitMs: 50,
        sessionTimeoutMs: 30_000,
        onOffsetDiscontinuity: 'fail',
        startFrom: 'earliest',
        ...settings,
      },
      kafka,
      sink: this.sink,
      identities,
      awaitedTopics: this.awaitedTopics,
      memory: this.memory,
      clock: this.clock,
      failpoint: inertFailpoint,
      observer: this.#observer(),
    });
    this.#ended = ingest.run(this.#stop.signal).finally(() => {
      this.#done = true;
    });
    this.#ended.catch(() => undefined);
    await this.pass(1);
    return ingest;
  }

  #observer(): IngestObserver {
    return {
      ...silentIngestObserver,
      paused: (paused) => this.log.push(paused ? 'paused' : 'resumed'),
      state: (state) => this.log.push(state),
      placed: ({ partition, lag }) => this.placed.push(`${partition}: ${lag}`),
      discontinuity: ({ partition, detail, hint }) => this.log.push(`discontinuity ${partition}: ${detail}; ${hint}`),
      warning: (message) => this.log.push(message),
    };
  }

  async topic(partitions = 1): Promise<void> {
    await this.kafka.admin.ensureTopics([{ topic: 'orders', partitions }]);
  }

  async produce(count: number, partition = 0): Promise<void> {
    const producer = await this.broker.client('producer').producer();
    const records = Array.from({ length: count }, () => ({ value: Buffer.from('{"id":1}'), timestampMs: toEpochMs(0) }));
    await producer.send([encodeRecordBatch({ topic: 'orders', partition, records })]);
  }

  /** Lets so much simulated time pass. */
  async pass(durationMs: number): Promise<void> {
    await this.clock.runUntil(() => this.#done, this.clock.monotonicMs() + durationMs);
  }

  /** How the run ended, after the signal when it still goes on. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.clock.runUntil(() => this.#done, this.clock.monotonicMs() + 60_000);
    await this.#ended;
  }

  get failure(): Promise<void> {
    return this.#ended;
  }
}

/** A promise and what fulfils it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
