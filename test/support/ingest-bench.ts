import { TopicIdentities } from '../../src/app/topic-identities.ts';
import { toEpochMs } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { type IngestObserver, silentIngestObserver } from '../../src/ingest/ingest-observer.ts';
import { TableIngest, type TableIngestSettings } from '../../src/ingest/table-ingest.ts';
import type { KafkaClient } from '../../src/kafka/client.ts';
import { MemoryBroker } from '../../src/kafka/memory/memory-broker.ts';
import { encodeRecordBatch } from '../../src/kafka/records/record-batch.ts';
import type { BatchOutcome, BatchSink } from '../../src/protocol/batch-sink.ts';
import type { SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { toVersion } from '../../src/table/version.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** Takes batches and keeps marks as a table does; commits wait while `held`. */
export class MarkKeeper implements BatchSink {
  readonly batches: SealedBatch[] = [];
  readonly marks = new Map<string, bigint>();
  held: Promise<void> | undefined;
  answer: ((batch: SealedBatch) => BatchOutcome | undefined) | undefined;
  #tail: Promise<unknown> = Promise.resolve();

  async progressStartingWith(): Promise<ReadonlyMap<string, bigint>> {
    await this.#tail;
    return new Map(this.marks);
  }

  submit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome> {
    this.batches.push(batch);
    const turn = this.#tail.then(() => this.#commit(batch, revoked));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #commit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome> {
    await this.held;
    const answer = this.answer?.(batch);
    if (answer !== undefined) return answer;
    if (revoked.aborted) return { kind: 'discarded', reason: 'revoked' };
    for (const range of batch.ranges) this.marks.set(`${range.partition}`, range.until);
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
  readonly clock: SimulatedClock = new SimulatedClock();
  readonly broker: MemoryBroker = new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) });
  readonly kafka: KafkaClient = this.broker.client('worker');
  readonly sink: MarkKeeper = new MarkKeeper();
  readonly log: string[] = [];
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #done = false;

  async start(settings: Partial<TableIngestSettings> = {}, kafka: KafkaClient = this.kafka): Promise<TableIngest> {
    const identities = new TopicIdentities({ admin: kafka.admin, pipeline: 'p' });
    const clusterId = await this.kafka.admin.clusterId();
    const topicId = await this.kafka.admin.topicId('orders');
    // The keeper's marks carry the partition only; the table's carry the whole name.
    const sink: BatchSink = {
      progressStartingWith: async () =>
        new Map(
          [...(await this.sink.progressStartingWith())].map(([partition, mark]) => [`p:orders:${partition}:${clusterId}:${topicId}`, mark]),
        ),
      submit: (batch, revoked) => this.sink.submit(batch, revoked),
    };
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
      sink,
      identities,
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
      discontinuity: ({ partition, detail }) => this.log.push(`discontinuity ${partition}: ${detail}`),
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
