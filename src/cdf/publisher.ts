import { present } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { EncodedRecordBatch, KafkaClient, TransactionalProducer } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { PublishedAs, StoredFeed } from './feed-position.ts';
import { type FeedSpec, feedIdOf, transactionalIdOf } from './feed-spec.ts';
import type { FeedTopic } from './feed-topics.ts';
import type { PositionStore } from './position-store.ts';
import { recordFormOf } from './record-form.ts';

/** Kafka's usual one; brokers look for transactions that took longer every 10 seconds. */
const transactionTimeoutMs = 60_000;
/** Brokers forget a producer at rest after days; never sooner than this. */
const longRestMs = 60 * 60_000;
const barrierMs = 1_000;

interface FeedPublisherParts {
  readonly spec: FeedSpec;
  readonly client: KafkaClient;
  readonly clock: Clock;
  readonly positions: PositionStore;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
}

/**
 * Publishes runs of one feed, each in one transaction with the position it reaches. `open`, `publish` any number of times; after a
 * rejection of `publish` only `open` is allowed, and the position it answers tells whether the rejected transaction landed.
 */
export class FeedPublisher {
  readonly #options: FeedPublisherParts;
  readonly #feedId: string;
  readonly #transactionalId: string;
  #producer: TransactionalProducer | undefined;
  /** Of the newest opening that was heard of. */
  #token: string | undefined;
  /** When the newest transaction began, and when one was last heard to have ended well. */
  #beganMs = 0;
  #heardMs = 0;
  #as: PublishedAs = {};
  /** Whether records were published in a form: before the first one the settings bind nobody. */
  #told = false;

  constructor(options: FeedPublisherParts) {
    this.#options = options;
    this.#feedId = feedIdOf(options.spec);
    this.#transactionalId = transactionalIdOf(options.spec);
  }

  /**
   * Fences every earlier instance, then reads what is stored, by feed id (in this order: the other way round an earlier instance
   * could still publish after the read).
   *
   * @throws ServiceError kinds `fenced`, `unavailable`, `unknown-outcome`; the two latter may be tried again.
   */
  async open(positionsTopicId: string | undefined, signal?: AbortSignal): Promise<ReadonlyMap<string, StoredFeed>> {
    await this.close();
    this.#beganMs = this.#options.clock.monotonicMs();
    this.#producer = await this.#options.client.openTransactional({ transactionalId: this.#transactionalId, transactionTimeoutMs });
    this.#as = { positionsTopicId, form: recordFormOf(this.#options.spec) };
    const token = this.#options.ids.uuid();
    await this.#producer.publish([this.#options.positions.encodeBarrier(this.#feedId, token)], { incarnations: this.#incarnations() });
    this.#token = token;
    this.#heardMs = this.#options.clock.monotonicMs();
    const all = await this.#options.positions.readBehind(this.#feedId, token, signal);
    this.#told = all.get(this.#feedId)?.stored?.form !== undefined;
    return all;
  }

  /** From here on rows go to this incarnation of the feed's topic and no other, over so many partitions. */
  aimAt({ topicId, partitions }: FeedTopic): void {
    this.#as = { ...this.#as, topicId, partitions };
  }

  /**
   * Whether what looks like a newer producer was the coordinator, which raises the epoch when a transaction takes longer than its timeout, or
   * when it forgot a producer that rested for days: only after so long a time, and when nobody opened the feed after this instance. True as
   * well before the first opening came to its end: an older instance that woke up in between is fenced in its turn.
   */
  async timedOut(signal?: AbortSignal): Promise<boolean> {
    if (this.#token === undefined) return true;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#beganMs < transactionTimeoutMs && nowMs - this.#heardMs < longRestMs) return false;
    // A newer instance publishes its barrier right after it fenced this one.
    await this.#options.clock.sleep(barrierMs, signal);
    return (await this.#options.positions.newestOpening(this.#feedId, signal)) === this.#token;
  }

  /** @throws ServiceError as `TransactionalProducer.publish`. */
  async publish(run: { readonly batches: readonly EncodedRecordBatch[]; readonly until: FeedPosition }): Promise<void> {
    const producer = present(this.#producer, 'the publisher is open');
    this.#beganMs = this.#options.clock.monotonicMs();
    await this.#options.failpoint('before-transaction');
    this.#told ||= run.batches.length > 0;
    const { topicId, positionsTopicId } = this.#as;
    const as = this.#told ? this.#as : { topicId, positionsTopicId };
    const stored = this.#options.positions.encode(this.#feedId, { position: run.until, ...as });
    await producer.publish([...run.batches, stored], { incarnations: this.#incarnations() });
    this.#heardMs = this.#options.clock.monotonicMs();
    await this.#options.failpoint('after-transaction');
  }

  #incarnations(): ReadonlyMap<string, string> {
    const { topicId, positionsTopicId } = this.#as;
    const meant = new Map<string, string>();
    if (topicId !== undefined) meant.set(this.#options.spec.topic, topicId);
    if (positionsTopicId !== undefined) meant.set(this.#options.spec.positionsTopic, positionsTopicId);
    return meant;
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close();
  }
}
