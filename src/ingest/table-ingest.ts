import type { Clock } from '../base/clock.ts';
import { describeFailure, isServiceError, serviceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type {
  ConsumerHandler,
  FetchedPartition,
  KafkaClient,
  KafkaConsumer,
  StartPosition,
  TopicMatch,
  TopicPartition,
  TopicsChange,
} from '../kafka/client.ts';
import type { BatchOutcome, BatchSink } from '../protocol/batch-sink.ts';
import type { SealedBatch } from '../protocol/sealed-batch.ts';
import type { SourceIdentities } from '../protocol/source-offsets.ts';
import { BatchBuilder } from './batch-builder.ts';
import type { IngestObserver, IngestState } from './ingest-observer.ts';
import type { MemoryLedger, MemoryShare } from './memory/memory-ledger.ts';
import { TableBuffer } from './memory/table-buffer.ts';
import { MissingTopics } from './missing-topics.ts';
import { hasMatches, settledPlan } from './settled-plan.ts';
import type { DiscontinuityPolicy, StartFrom } from './start-position.ts';
import { type Discontinuity, discontinuityError, discontinuityHint, type StartPlanOptions } from './start-positions.ts';

export interface TableIngestSettings {
  readonly pipeline: string;
  readonly table: string;
  readonly topics: readonly string[];
  /** Read beside the topics where they exist, each from its beginning; nothing waits for them. */
  readonly quietTopics?: readonly string[] | undefined;
  /** Read as they come, beside the topics. */
  readonly matching?: TopicMatch | undefined;
  readonly groupId: string;
  readonly maxBatchRows: number;
  readonly maxBatchBytes: number;
  readonly maxBatchAgeMs: number;
  /** Bytes fetched and not committed above which fetching pauses; it goes on below half of it. */
  readonly maxBufferBytes: number;
  readonly maxFetchBytes: number;
  readonly maxFetchWaitMs: number;
  readonly sessionTimeoutMs: number;
  readonly onOffsetDiscontinuity: DiscontinuityPolicy;
  readonly startFrom: StartFrom;
  /** Where partitions begin that the table has no mark of, instead. */
  readonly startAt?: StartPlanOptions['startAt'];
  /**
   * How long offsets without a record for the table may stay unstored: many of them pass a table that takes a part of a topic, and it would be read
   * again from where its last record was. Absent: until the next record.
   */
  readonly storePassedAfterMs?: number | undefined;
}

export interface TableIngestDependencies {
  readonly settings: TableIngestSettings;
  readonly kafka: Pick<KafkaClient, 'admin' | 'consumer'>;
  readonly sink: BatchSink;
  readonly identities: SourceIdentities;
  /** Topics that this process has seen missing: outlives the ingest, which may start again before they appear. */
  readonly awaitedTopics: Set<string>;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  readonly observer: IngestObserver;
  /** Of the process. Absent: only the table's own limit holds. */
  readonly memory?: MemoryLedger | undefined;
}

export interface IngestStatus {
  readonly state: IngestState;
  readonly detail: string | undefined;
  readonly partitions: readonly (TopicPartition & {
    readonly nextOffset: bigint | undefined;
    readonly discontinuity: string | undefined;
  })[];
  readonly bufferedBytes: number;
  readonly batchesInFlight: number;
}

const sealCheckMs = 20;
/** How long after one look at partitions that were not there the next follows. */
const absentRetryMs = 5_000;

/**
 * Reads the topics of one table: starts at the offsets the *table* holds, packs fetched bytes into batches, seals them by rows, bytes
 * or age, hands them to the sink and holds back fetching while too much is under way. One consumer group a table, so that a table
 * that stands still stops no other.
 */
export class TableIngest implements ConsumerHandler {
  readonly #dependencies: TableIngestDependencies;
  readonly #builder: BatchBuilder;
  readonly #consumer: KafkaConsumer;
  readonly #inFlight = new Set<Promise<void>>();
  #revocation = new AbortController();
  #assigned: readonly TopicPartition[] = [];
  #discontinuities: readonly Discontinuity[] = [];
  readonly #missing: MissingTopics;
  /** Where to start is decided for everything that is there, and in the table as far as it has to be (L5). */
  #isPlaced = false;
  /** When positions are planned again because partitions were not there, `Clock.monotonicMs`. */
  #planAgainMs = Number.POSITIVE_INFINITY;
  #passedSinceMs: number | undefined;
  readonly #share: MemoryShare | undefined;
  readonly #buffer: TableBuffer;
  #state: IngestState = 'joining';
  #detail: string | undefined;
  #failure: Error | undefined;
  /** When it began the table had marks of topics that match: those without have come since. */
  #hadMatches = false;
  #repositioning: Promise<void> | undefined;
  /** Where the table stands, by partition, as far as it is known here. */
  readonly #stored = new Map<string, StartPosition>();

  constructor(dependencies: TableIngestDependencies) {
    const { settings, kafka, memory, observer } = dependencies;
    this.#dependencies = dependencies;
    this.#missing = new MissingTopics(dependencies);
    this.#builder = new BatchBuilder(settings.table);
    this.#share = memory?.open(settings.table, {
      changed: () => {
        this.#buffer.recheck();
      },
      relieve: () => {
        this.#seal('memory');
      },
    });
    this.#buffer = new TableBuffer({
      share: this.#share,
      maxBytes: settings.maxBufferBytes,
      observer,
      pause: (paused) => {
        this.#setPaused(paused);
      },
    });
    this.#consumer = kafka.consumer({
      groupId: settings.groupId,
      topics: [...settings.topics, ...(settings.quietTopics ?? [])],
      matching: settings.matching,
      handler: this,
      maxFetchBytes: settings.maxFetchBytes,
      allowance: this.#share,
      maxWaitMs: settings.maxFetchWaitMs,
      sessionTimeoutMs: settings.sessionTimeoutMs,
    });
  }

  /**
   * Runs until `signal` fires, then drains: what was fetched is committed, group offsets are published, the group is left.
   * Rejects when the table's ingest cannot go on; start a new instance then (after a wait for retryable errors).
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#dependencies;
    try {
      this.#hadMatches = await hasMatches(this.#dependencies);
      await this.#consumer.start();
      while (!signal.aborted && this.#failure === undefined) {
        await clock.sleep(Math.min(sealCheckMs, settings.maxBatchAgeMs), signal).catch(() => undefined);
        this.sweep(clock.monotonicMs());
      }
      if (this.#failure === undefined) await this.#drain();
    } finally {
      this.#revocation.abort();
      await this.#consumer.stop();
      await this.#settled();
      this.#share?.close();
    }
    if (this.#failure !== undefined) {
      this.#enter('failed', describeFailure(this.#failure));
      throw this.#failure;
    }
    this.#enter('stopped', undefined);
  }

  /** Does what is due at `nowMs` (`Clock.monotonicMs`): seals the open batch, looks again for what was missing. */
  sweep(nowMs: number): void {
    if (nowMs >= this.#planAgainMs) this.#reposition();
    this.#missing.sweep(nowMs);
    const opened = this.#builder.openedAtMs;
    if (opened !== undefined && nowMs - opened >= this.#dependencies.settings.maxBatchAgeMs) this.#seal('age');
    this.#storePassed(nowMs);
  }

  #storePassed(nowMs: number): void {
    const { storePassedAfterMs } = this.#dependencies.settings;
    if (storePassedAfterMs === undefined || !this.#builder.hasPassed) this.#passedSinceMs = undefined;
    else {
      this.#passedSinceMs ??= nowMs;
      if (nowMs - this.#passedSinceMs >= storePassedAfterMs) this.#seal('age', nowMs);
    }
  }

  get status(): IngestStatus {
    const broken = new Map(this.#discontinuities.map((entry) => [`${entry.topic}:${entry.partition}`, entry.detail]));
    return {
      state: this.#state,
      detail: this.#detail,
      partitions: this.#assigned.map((partition) => ({
        ...partition,
        nextOffset: this.#builder.next(partition.topic, partition.partition)?.offset,
        discontinuity: broken.get(`${partition.topic}:${partition.partition}`),
      })),
      bufferedBytes: this.#buffer.bytes,
      batchesInFlight: this.#inFlight.size,
    };
  }

  /** Of the partitions that it has, or had last. */
  get stored(): readonly StartPosition[] {
    return [...this.#stored.values()];
  }

  async onAssigned(partitions: readonly TopicPartition[], generation: number): Promise<readonly StartPosition[]> {
    this.#dependencies.observer.assigned({ generation, partitions });
    this.#assigned = partitions;
    this.#stored.clear();
    return this.#startPositions();
  }

  async onRevoked(): Promise<void> {
    this.#abandon();
    await this.#settled();
    this.#assigned = [];
  }

  /** What was fetched of a topic that is gone cannot be fetched again: it is committed before the generation ends. */
  async onTopicsChanged({ missing: absent, replaced, appeared = [] }: TopicsChange): Promise<void> {
    const { quietTopics = [] } = this.#dependencies.settings;
    const missing = absent.filter((topic) => !quietTopics.includes(topic));
    for (const topic of replaced) this.#dependencies.observer.warning('topic was deleted and created again', { topic });
    for (const topic of [...missing, ...appeared]) this.#dependencies.awaitedTopics.add(topic);
    if (appeared.length > 0) this.#dependencies.observer.warning('topics that match have appeared', { topics: appeared.join(', ') });
    const hasCome = this.#missing.update(missing);
    if (replaced.length > 0 || hasCome) this.#isPlaced = false;
    this.#enterWork();
    this.#seal('drain');
    await this.#settled();
  }

  onFetched(fetched: FetchedPartition): void {
    void this.#dependencies.failpoint('after-fetch');
    const { topic, partition } = fetched;
    const expected = this.#builder.next(topic, partition);
    if (expected === undefined || this.#repositioning !== undefined) return;
    if (fetched.fetchOffset !== expected.offset || fetched.topicId !== expected.topicId) {
      this.#consumer.seek({ topic, partition, ...expected });
      return;
    }
    const { clock, settings, observer } = this.#dependencies;
    const before = this.#builder.byteCount;
    const recordsBefore = this.#builder.recordCount;
    this.#builder.append(fetched, clock.monotonicMs());
    const bytes = this.#builder.byteCount - before;
    const records = this.#builder.recordCount - recordsBefore;
    observer.fetched({
      topic: fetched.topic,
      partition: fetched.partition,
      records,
      bytes,
      lag: fetched.highWatermark - fetched.untilOffset,
    });
    if (this.#builder.byteCount >= settings.maxBatchBytes) this.#seal('bytes');
    else if (this.#builder.recordCount >= settings.maxBatchRows) this.#seal('rows');
    this.#buffer.collected(this.#builder.byteCount);
  }

  onFailed(error: unknown): void {
    this.#failure ??= error instanceof Error ? error : serviceError.internal('INGEST_FAILED', String(error));
  }

  /** The topic no longer holds the offset the table needs next. */
  onOutOfRange(): void {
    this.#reposition();
  }

  #seal(by: SealedBatch['sealedBy'], passedAtMs?: number): void {
    const batch = this.#builder.seal(by, passedAtMs);
    if (batch === undefined) return;
    const bytes = batch.recordBatches.at(-1)?.end ?? 0;
    this.#dependencies.observer.sealed({ records: batch.recordCount, bytes, by });
    this.#buffer.sealed(bytes);
    const revoked = this.#revocation.signal;
    const task = this.#submit(batch, revoked).finally(() => {
      this.#inFlight.delete(task);
      this.#buffer.settled(bytes);
    });
    this.#inFlight.add(task);
  }

  async #submit(batch: SealedBatch, revoked: AbortSignal): Promise<void> {
    let outcome: BatchOutcome;
    try {
      outcome = await this.#dependencies.sink.submit(batch, revoked);
    } catch (error) {
      this.onFailed(error);
      return;
    }
    if (outcome.kind === 'discarded') {
      if (outcome.reason !== 'revoked' && !revoked.aborted) this.#reposition();
      return;
    }
    const { clock, observer, failpoint } = this.#dependencies;
    for (const { topic, partition, until } of batch.ranges) this.#setStored({ topic, partition, offset: until });
    if (batch.recordCount > 0)
      observer.visible({
        rowCount: outcome.rowCount,
        freshnessMs: clock.monotonicMs() - batch.openedAtMs,
        eventLagMs: clock.now() - batch.maxTimestampMs,
      });
    if (!revoked.aborted) await this.#publishGroupOffsets(batch);
    await failpoint('after-group-offsets');
  }

  /** For lag tools only: nothing reads them back. */
  async #publishGroupOffsets(batch: SealedBatch): Promise<void> {
    try {
      await this.#consumer.commitGroupOffsets(batch.ranges.map(({ topic, partition, until }) => ({ topic, partition, offset: until })));
    } catch (error) {
      if (!isServiceError(error)) throw error;
      this.#dependencies.observer.warning('group offsets not published', { code: error.code });
    }
  }

  /** Gives up everything that is not committed and goes on where the table stands. */
  #reposition(): void {
    if (this.#repositioning !== undefined || this.#failure !== undefined) return;
    this.#abandon();
    this.#repositioning = this.#startPositions()
      .then((positions) => {
        this.#repositioning = undefined;
        for (const position of positions) this.#consumer.seek(position);
      })
      .catch((error: unknown) => {
        this.#repositioning = undefined;
        this.onFailed(error);
      });
  }

  #abandon(): void {
    this.#revocation.abort();
    this.#revocation = new AbortController();
    this.#builder.reset([]);
    // What was given up may have been what held fetching back, and nothing else would say so.
    this.#buffer.collected(0);
  }

  async #startPositions(): Promise<readonly StartPosition[]> {
    const { settings, clock, observer } = this.#dependencies;
    const plan = await settledPlan(this.#dependencies, this.#assigned, this.#hadMatches);
    this.#discontinuities = plan.discontinuities;
    this.#planAgainMs = plan.absent.length > 0 ? clock.monotonicMs() + absentRetryMs : Number.POSITIVE_INFINITY;
    for (const { topic, partition } of plan.absent)
      observer.warning('partition is not there yet, or where it begins', { table: settings.table, topic, partition });
    for (const entry of plan.discontinuities) observer.discontinuity({ ...entry, hint: discontinuityHint });
    for (const { topic, partition, offset, lag } of plan.positions) {
      observer.placed({ topic, partition, lag });
      this.#setStored({ topic, partition, offset });
    }
    this.#isPlaced = plan.absent.length === 0;
    this.#enterWork();
    this.#builder.reset(plan.positions);
    return plan.positions.map(({ topic, partition, offset, topicId }) => ({ topic, partition, offset, topicId }));
  }

  #setStored(position: StartPosition): void {
    this.#stored.set(`${position.topic}:${position.partition}`, position);
  }

  #setPaused(paused: boolean): void {
    const broken = new Set(this.#discontinuities.map((entry) => `${entry.topic}:${entry.partition}`));
    const readable = this.#assigned.filter((entry) => !broken.has(`${entry.topic}:${entry.partition}`));
    if (paused) this.#consumer.pause(readable);
    else this.#consumer.resume(readable);
  }

  async #drain(): Promise<void> {
    this.#enter('draining', undefined);
    this.#consumer.pause(this.#assigned);
    const { settings, clock } = this.#dependencies;
    this.#seal('drain', settings.storePassedAfterMs === undefined ? undefined : clock.monotonicMs());
    await this.#settled();
  }

  /** Batches have their outcome, and no repositioning of an assignment that ended can reach into the next one. */
  async #settled(): Promise<void> {
    while (this.#inFlight.size > 0 || this.#repositioning !== undefined) await Promise.all([...this.#inFlight, this.#repositioning]);
  }

  /** The state of an ingest that reads what it can: what stands still comes first. */
  #enterWork(): void {
    const { table } = this.#dependencies.settings;
    const [broken] = this.#discontinuities;
    const missing = this.#missing.detail;
    if (broken !== undefined) this.#enter('discontinuity', describeFailure(discontinuityError(table, broken)));
    else if (missing !== undefined) this.#enter('waiting-for-topic', missing);
    else if (!this.#isPlaced) this.#enter('joining', 'decides where to start');
    else this.#enter('running', undefined);
  }

  #enter(state: IngestState, detail: string | undefined): void {
    if (state === this.#state && detail === this.#detail) return;
    this.#state = state;
    this.#detail = detail;
    this.#dependencies.observer.state(state, detail);
  }
}
