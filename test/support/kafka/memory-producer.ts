import { isServiceError } from '../../../src/base/errors.ts';
import { type Failpoint, inertFailpoint } from '../../../src/base/failpoint.ts';
import type {
  EncodedRecordBatch,
  KafkaProducer,
  PublishOptions,
  TopicPartition,
  TransactionalProducer,
} from '../../../src/kafka/client.ts';
import { kafkaOutcomeUnknown, kafkaProducerDead, kafkaUnavailable } from '../../../src/kafka/errors.ts';
import type { ClientLink } from './client-link.ts';
import type { MemoryCluster, ProducerIdentity } from './memory-cluster.ts';

/** Producer of the memory broker without transactions. */
export class MemoryProducer implements KafkaProducer {
  readonly #cluster: MemoryCluster;
  readonly #link: ClientLink;
  /** Sends, one after the other. */
  #sending: Promise<void> = Promise.resolve();

  constructor(cluster: MemoryCluster, link: ClientLink) {
    this.#cluster = cluster;
    this.#link = link;
  }

  send(batches: readonly EncodedRecordBatch[]): Promise<void> {
    const sent = this.#sending.then(() => this.#send(batches));
    this.#sending = sent.catch(() => undefined);
    return sent;
  }

  close(): Promise<void> {
    return this.#sending;
  }

  async #send(batches: readonly EncodedRecordBatch[]): Promise<void> {
    for (const batch of batches) {
      await this.#cluster.request(this.#link, 'produce', () => {
        this.#cluster.append(batch);
      });
    }
  }
}

/** Transactional producer of the memory broker: the same steps, in the same order, as against a real one. */
export class MemoryTransactionalProducer implements TransactionalProducer {
  readonly #cluster: MemoryCluster;
  readonly #link: ClientLink;
  readonly #identity: ProducerIdentity;
  readonly #failpoint: Failpoint;
  #dead = false;

  constructor(cluster: MemoryCluster, link: ClientLink, identity: ProducerIdentity, failpoint: Failpoint = inertFailpoint) {
    this.#cluster = cluster;
    this.#link = link;
    this.#identity = identity;
    this.#failpoint = failpoint;
  }

  async publish(batches: readonly EncodedRecordBatch[], options: PublishOptions = {}): Promise<void> {
    if (this.#dead) throw kafkaProducerDead(this.#identity.transactionalId);
    if (batches.length === 0) return;
    try {
      await this.#write(batches);
      await this.#confirm(options);
    } catch (error) {
      this.#dead = true;
      this.#abortIfReachable();
      // Before the end was sent nothing can become visible, whatever happened to single requests.
      if (isServiceError(error) && error.kind !== 'unknown-outcome') throw error;
      throw kafkaUnavailable('the transaction was given up before its end', error);
    }
    try {
      await this.#end();
      await this.#failpoint('transaction-end-applied');
    } catch (error) {
      this.#dead = true;
      if (isServiceError(error, 'unavailable')) this.#abortIfReachable();
      throw isServiceError(error) ? error : kafkaOutcomeUnknown('the answer to the end of the transaction was lost', error);
    }
  }

  close(): Promise<void> {
    this.#dead = true;
    return Promise.resolve();
  }

  async #write(batches: readonly EncodedRecordBatch[]): Promise<void> {
    const partitions = new Map<string, TopicPartition>(batches.map((batch) => [`${batch.topic}/${batch.partition}`, batch]));
    await this.#cluster.request(this.#link, 'add-partitions', () => {
      this.#cluster.addPartitions(this.#identity, [...partitions.values()]);
    });
    for (const [index, batch] of batches.entries()) {
      await this.#cluster.request(this.#link, 'produce', () => {
        this.#cluster.appendTransactional(this.#identity, batch);
      });
      if (index === 0) await this.#failpoint('within-transaction');
    }
    await this.#failpoint('before-transaction-end');
  }

  async #confirm({ incarnations }: PublishOptions): Promise<void> {
    if (incarnations === undefined) return;
    await this.#cluster.request(this.#link, 'metadata', () => {
      this.#cluster.confirm(incarnations);
    });
  }

  async #end(): Promise<void> {
    await this.#cluster.request(this.#link, 'end-transaction', () => {
      this.#cluster.endTransaction(this.#identity, true);
    });
  }

  /** Best effort: what is left open is aborted by the next owner of the id at the latest. */
  #abortIfReachable(): void {
    if (this.#link.state !== 'up') return;
    try {
      this.#cluster.endTransaction(this.#identity, false);
    } catch (error) {
      if (!isServiceError(error, 'fenced')) throw error;
    }
  }
}
