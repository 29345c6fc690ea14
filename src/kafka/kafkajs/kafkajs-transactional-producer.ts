import { isServiceError, type ServiceError } from '../../base/errors.ts';
import { type Failpoint, inertFailpoint } from '../../base/failpoint.ts';
import type { EncodedRecordBatch, PublishOptions, TransactionalProducer } from '../client.ts';
import { kafkaFenced, kafkaOutcomeUnknown, kafkaProducerDead, kafkaUnavailable } from '../errors.ts';
import { busyBackoff, type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { isCoordinatorMove, isFencing, kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';
import type { Broker } from './kafkajs-internals.ts';
import { ProduceSession } from './produce-session.ts';

export interface TransactionalOptions {
  readonly connection: KafkaConnection;
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
  readonly deliveryTimeoutMs: number;
  readonly failpoint?: Failpoint | undefined;
}

/** Transactional producer on kafkajs connections; the transaction protocol itself is spoken here. */
export class KafkajsTransactionalProducer implements TransactionalProducer {
  readonly #options: TransactionalOptions;
  readonly #identity: { readonly producerId: string; readonly producerEpoch: number };
  readonly #session: ProduceSession;
  readonly #failpoint: Failpoint;
  #state: 'ready' | 'publishing' | 'dead' = 'ready';

  private constructor(options: TransactionalOptions, identity: { readonly producerId: string; readonly producerEpoch: number }) {
    this.#options = options;
    this.#identity = identity;
    this.#failpoint = options.failpoint ?? inertFailpoint;
    this.#session = new ProduceSession({
      connection: options.connection,
      producerId: BigInt(identity.producerId),
      producerEpoch: identity.producerEpoch,
      deliveryTimeoutMs: options.deliveryTimeoutMs,
      transactionalId: options.transactionalId,
    });
  }

  /** Takes the id over: the coordinator raises its epoch and aborts what is open before it answers. */
  static async open(options: TransactionalOptions): Promise<KafkajsTransactionalProducer> {
    const { connection, transactionalId, transactionTimeoutMs } = options;
    try {
      const identity = await connection.askCoordinator(
        {
          kind: 'transaction',
          id: transactionalId,
          deadlineMs: options.deliveryTimeoutMs,
          retryCodes: [kafkaCode.concurrentTransactions],
        },
        (broker) => broker.initProducerId({ transactionalId, transactionTimeout: transactionTimeoutMs }),
      );
      return new KafkajsTransactionalProducer(options, identity);
    } catch (error) {
      await connection.close();
      throw toServiceError(error, `open transactional id "${transactionalId}"`);
    }
  }

  async publish(batches: readonly EncodedRecordBatch[], { incarnations }: PublishOptions = {}): Promise<void> {
    if (this.#state !== 'ready') throw kafkaProducerDead(this.#options.transactionalId);
    if (batches.length === 0) return;
    this.#state = 'publishing';
    try {
      await this.#write(batches);
      if (incarnations !== undefined) await this.#session.confirm(batches, incarnations);
    } catch (error) {
      this.#state = 'dead';
      await this.#abortQuietly();
      throw this.#beforeEnd(error, batches);
    }
    try {
      await this.#end(true);
      await this.#failpoint('transaction-end-applied');
      this.#state = 'ready';
    } catch (error) {
      this.#state = 'dead';
      throw isServiceError(error)
        ? error
        : kafkaOutcomeUnknown(`transactional id "${this.#options.transactionalId}": the answer was lost`, error);
    }
  }

  close(): Promise<void> {
    this.#state = 'dead';
    return this.#options.connection.close();
  }

  async #write(batches: readonly EncodedRecordBatch[]): Promise<void> {
    await this.#session.locate(batches);
    await this.#addPartitions(batches);
    let requests = 0;
    await this.#session.deliver(batches, async () => {
      requests += 1;
      if (requests === 1) await this.#failpoint('within-transaction');
    });
    await this.#failpoint('before-transaction-end');
  }

  async #addPartitions(batches: readonly EncodedRecordBatch[]): Promise<void> {
    const { connection, transactionalId, deliveryTimeoutMs } = this.#options;
    const topics = new Map<string, Set<number>>();
    for (const { topic, partition } of batches) topics.set(topic, (topics.get(topic) ?? new Set()).add(partition));
    await connection.askCoordinator(
      { kind: 'transaction', id: transactionalId, deadlineMs: deliveryTimeoutMs, retryCodes: [kafkaCode.concurrentTransactions] },
      (broker) =>
        broker.addPartitionsToTxn({
          transactionalId,
          ...this.#identity,
          topics: [...topics].map(([topic, partitions]) => ({ topic, partitions: [...partitions] })),
        }),
    );
  }

  /**
   * Ends the transaction. An answer decides; without one nobody knows, and asking again could hit a later transaction, so the
   * producer is given up.
   */
  async #end(committed: boolean): Promise<void> {
    const { connection, transactionalId, deliveryTimeoutMs } = this.#options;
    const deadline = connection.clock.monotonicMs() + deliveryTimeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      const broker = await this.#coordinator();
      try {
        await broker.endTxn({ transactionalId, ...this.#identity, transactionResult: committed });
        return;
      } catch (error) {
        const code = kafkaCodeOf(error);
        if (isFencing(code)) throw kafkaFenced(transactionalId, error);
        const retried = isCoordinatorMove(code) || code === kafkaCode.concurrentTransactions;
        if (!retried) throw kafkaOutcomeUnknown(`transactional id "${transactionalId}": no answer to the end of the transaction`, error);
        if (connection.clock.monotonicMs() >= deadline) {
          throw kafkaOutcomeUnknown(`transactional id "${transactionalId}": the coordinator did not end the transaction in time`, error);
        }
        if (isCoordinatorMove(code)) connection.forgetCoordinator('transaction', transactionalId);
        await connection.pause(code === kafkaCode.concurrentTransactions ? busyBackoff : movedBackoff, attempt);
      }
    }
  }

  async #coordinator(): Promise<Broker> {
    const { connection, transactionalId, deliveryTimeoutMs } = this.#options;
    return connection.askCoordinator({ kind: 'transaction', id: transactionalId, deadlineMs: deliveryTimeoutMs }, (broker) =>
      Promise.resolve(broker),
    );
  }

  /** Best effort: what stays open is aborted by the next owner of the id or by its timeout. */
  async #abortQuietly(): Promise<void> {
    const { connection, transactionalId } = this.#options;
    try {
      const broker = await connection.coordinator('transaction', transactionalId);
      await broker.endTxn({ transactionalId, ...this.#identity, transactionResult: false });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  /** Before the end was sent nothing can become visible, whatever happened to single requests. */
  #beforeEnd(error: unknown, batches: readonly EncodedRecordBatch[]): ServiceError {
    const { transactionalId } = this.#options;
    if (isFencing(kafkaCodeOf(error))) return kafkaFenced(transactionalId, error);
    if (isServiceError(error, 'unknown-outcome')) {
      return kafkaUnavailable(`transactional id "${transactionalId}": given up before the end of the transaction`, error);
    }
    // The answer does not say which of them it means.
    const topics = [...new Set(batches.map(({ topic }) => topic))].join('", "');
    return toServiceError(error, `publish to "${topics}" under "${transactionalId}"`);
  }
}
