import { present } from '../base/assert.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { EncodedRecordBatch, KafkaClient, TransactionalProducer } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { FeedTopicIds, StoredPosition } from './feed-position.ts';
import { type FeedSpec, feedIdOf, transactionalIdOf } from './feed-spec.ts';
import type { PositionStore } from './position-store.ts';

/**
 * Publishes runs of one feed, each in one transaction with the position it reaches. `open`, `publish` any number of times; after a
 * rejection of `publish` only `open` is allowed, and the position it answers tells whether the rejected transaction landed.
 */
export class FeedPublisher {
  readonly #spec: FeedSpec;
  readonly #feedId: string;
  readonly #transactionalId: string;
  readonly #client: KafkaClient;
  readonly #positions: PositionStore;
  readonly #ids: IdSource;
  readonly #failpoint: Failpoint;
  #producer: TransactionalProducer | undefined;
  /** Of the newest opening that was heard of. */
  #token: string | undefined;
  #topics: FeedTopicIds = { topicId: undefined, positionsTopicId: undefined };

  constructor(options: {
    readonly spec: FeedSpec;
    readonly client: KafkaClient;
    readonly positions: PositionStore;
    readonly ids: IdSource;
    readonly failpoint: Failpoint;
  }) {
    this.#spec = options.spec;
    this.#feedId = feedIdOf(options.spec);
    this.#transactionalId = transactionalIdOf(options.spec);
    this.#client = options.client;
    this.#positions = options.positions;
    this.#ids = options.ids;
    this.#failpoint = options.failpoint;
  }

  /**
   * Fences every earlier instance, then reads the last committed position (in this order: the other way round an earlier instance
   * could still publish after the read). `undefined`: the positions topic has none.
   *
   * @throws ServiceError kinds `fenced`, `unavailable`, `unknown-outcome`; the two latter may be tried again.
   */
  async open(positionsTopicId: string | undefined, signal?: AbortSignal): Promise<StoredPosition | undefined> {
    await this.close();
    this.#producer = await this.#client.openTransactional({ transactionalId: this.#transactionalId });
    this.#topics = { topicId: undefined, positionsTopicId };
    const token = this.#ids.uuid();
    await this.#producer.publish([this.#positions.encodeBarrier(this.#feedId, token)], { incarnations: this.#incarnations() });
    this.#token = token;
    return this.#positions.readBehind(this.#feedId, token, signal);
  }

  /** From here on rows go to this incarnation of the feed's topic and no other. */
  aimAt(topicId: string | undefined): void {
    this.#topics = { ...this.#topics, topicId };
  }

  /**
   * Whether nobody opened the feed after this instance: what looks like a newer producer was then the coordinator, which ends a transaction
   * that takes longer than its timeout (or forgets a producer that rested for days) and raises the epoch. True as well before the first
   * opening came to its end: an older instance that woke up in between took the feed back, and must not keep it.
   */
  async isNewest(signal?: AbortSignal): Promise<boolean> {
    return this.#token === undefined || (await this.#positions.newestOpening(this.#feedId, signal)) === this.#token;
  }

  /** @throws ServiceError as `TransactionalProducer.publish`. */
  async publish(run: { readonly batches: readonly EncodedRecordBatch[]; readonly until: FeedPosition }): Promise<void> {
    const producer = present(this.#producer, 'the publisher is open');
    await this.#failpoint('C1');
    const stored = this.#positions.encode(this.#feedId, { position: run.until, ...this.#topics });
    await producer.publish([...run.batches, stored], { incarnations: this.#incarnations() });
    await this.#failpoint('C5');
  }

  #incarnations(): ReadonlyMap<string, string> {
    const { topicId, positionsTopicId } = this.#topics;
    const meant = new Map<string, string>();
    if (topicId !== undefined) meant.set(this.#spec.topic, topicId);
    if (positionsTopicId !== undefined) meant.set(this.#spec.positionsTopic, positionsTopicId);
    return meant;
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close();
  }
}
