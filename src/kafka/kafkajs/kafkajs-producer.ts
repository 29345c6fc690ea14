import { isServiceError, type ServiceError } from '../../base/errors.ts';
import type { EncodedRecordBatch, KafkaProducer } from '../client.ts';
import { kafkaProducerDead } from '../errors.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { isPermanent, toServiceError } from './kafkajs-errors.ts';
import { ProduceSession } from './produce-session.ts';

/** Idempotent producer on kafkajs connections. */
export class KafkajsProducer implements KafkaProducer {
  readonly #connection: KafkaConnection;
  readonly #deliveryTimeoutMs: number;
  /** Sends, one after the other: sequence numbers must arrive in order. */
  #sending: Promise<void> = Promise.resolve();
  #session: ProduceSession | undefined;
  #closed = false;

  constructor(connection: KafkaConnection, options: { readonly deliveryTimeoutMs: number }) {
    this.#connection = connection;
    this.#deliveryTimeoutMs = options.deliveryTimeoutMs;
  }

  send(batches: readonly EncodedRecordBatch[]): Promise<void> {
    const sent = this.#sending.then(() => this.#send(batches));
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    await this.#connection.close();
  }

  async #send(batches: readonly EncodedRecordBatch[]): Promise<void> {
    if (this.#closed) throw kafkaProducerDead('-');
    try {
      this.#session ??= await this.#open();
      await this.#session.deliver(batches);
    } catch (error) {
      // After a failure the broker's view of the sequence is unknown: the next send begins another one, with another producer id.
      if (!isHarmless(error)) this.#session = undefined;
      throw toServiceError(error, 'produce');
    }
  }

  async #open(): Promise<ProduceSession> {
    const { producerId, producerEpoch } = await this.#identify();
    return new ProduceSession({
      connection: this.#connection,
      producerId: BigInt(producerId),
      producerEpoch,
      deliveryTimeoutMs: this.#deliveryTimeoutMs,
    });
  }

  /** Any broker hands out producer ids; one that just started cannot yet. */
  async #identify(): Promise<{ readonly producerId: string; readonly producerEpoch: number }> {
    const { clock } = this.#connection;
    const deadline = clock.monotonicMs() + this.#deliveryTimeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const broker = await this.#connection.anyBroker();
        return await broker.initProducerId({ transactionalId: null, transactionTimeout: 0 });
      } catch (error) {
        if (isPermanent(toServiceError(error, 'produce')) || clock.monotonicMs() >= deadline) throw error;
        await this.#connection.pause(movedBackoff, attempt);
      }
    }
  }
}

/** Nothing was sent, so the sequence stands. */
function isHarmless(error: unknown): error is ServiceError {
  return isServiceError(error) && error.code === 'KAFKA_DESTINATION_NOT_FOUND';
}
