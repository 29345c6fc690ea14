import { present } from '../base/assert.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { EncodedRecordBatch, KafkaClient, TransactionalProducer } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { type FeedSpec, feedIdOf, transactionalIdOf } from './feed-spec.ts';
import type { PositionStore } from './position-store.ts';

/**
 * Publishes runs of one feed, each in one transaction with the position it reaches. `open`, `publish` any number of times; after a
 * rejection of `publish` only `open` is allowed, and the position it answers tells whether the rejected transaction landed.
 */
export class FeedPublisher {
  readonly #feedId: string;
  readonly #transactionalId: string;
  readonly #client: KafkaClient;
  readonly #positions: PositionStore;
  readonly #ids: IdSource;
  readonly #failpoint: Failpoint;
  #producer: TransactionalProducer | undefined;

  constructor(options: {
    readonly spec: FeedSpec;
    readonly client: KafkaClient;
    readonly positions: PositionStore;
    readonly ids: IdSource;
    readonly failpoint: Failpoint;
  }) {
    this.#feedId = feedIdOf(options.spec);
    this.#transactionalId = transactionalIdOf(options.spec);
    this.#client = options.client;
    this.#positions = options.positions;
    this.#ids = options.ids;
    this.#failpoint = options.failpoint;
  }

  /**
   * Fences every earlier instance, then reads the last committed position (in this order: the other way round an earlier instance
   * could still publish after the read). `undefined`: nothing was ever published.
   *
   * @throws ServiceError kinds `fenced`, `unavailable`, `unknown-outcome`; the two latter may be tried again.
   */
  async open(signal?: AbortSignal): Promise<FeedPosition | undefined> {
    await this.close();
    this.#producer = await this.#client.openTransactional({ transactionalId: this.#transactionalId });
    const token = this.#ids.uuid();
    await this.#producer.publish([this.#positions.encodeBarrier(this.#feedId, token)]);
    return this.#positions.readBehind(this.#feedId, token, signal);
  }

  /** @throws ServiceError as `TransactionalProducer.publish`. */
  async publish(run: { readonly batches: readonly EncodedRecordBatch[]; readonly until: FeedPosition }): Promise<void> {
    const producer = present(this.#producer, 'the publisher is open');
    await this.#failpoint('C1');
    await producer.publish([...run.batches, this.#positions.encode(this.#feedId, run.until)]);
    await this.#failpoint('C5');
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close();
  }
}
