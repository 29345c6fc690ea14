import type { Kafka } from 'kafkajs';
import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { Random } from '../../base/random.ts';
import type {
  ConsumerOptions,
  FetchedPartition,
  KafkaAdmin,
  KafkaClient,
  KafkaConsumer,
  KafkaProducer,
  KafkaRecord,
  ReadRange,
  TransactionalProducer,
  WorkGroup,
  WorkGroupOptions,
} from '../client.ts';
import type { KafkaSettings } from '../settings.ts';
import { KafkajsAdmin } from './kafkajs-admin.ts';
import { KafkaConnection } from './kafkajs-connection.ts';
import { KafkajsConsumer } from './kafkajs-consumer.ts';
import { checkKafkajs, type KafkaLog, makeCluster, makeKafka } from './kafkajs-internals.ts';
import { KafkajsProducer } from './kafkajs-producer.ts';
import { type ReaderRoute, readBatches, readPartition } from './kafkajs-reader.ts';
import { KafkajsTransactionalProducer } from './kafkajs-transactional-producer.ts';
import { KafkajsWorkGroup } from './kafkajs-work-group.ts';

export interface KafkajsClientOptions {
  readonly settings: KafkaSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the connection layer's log lines. Default: nobody. */
  readonly log?: KafkaLog | undefined;
  readonly failpoint?: Failpoint | undefined;
  /** How long a batch, or a step of a transaction, is tried before the producer gives up. Default 30000. */
  readonly deliveryTimeoutMs?: number | undefined;
  /** How consumers ask for topics. Default `id` where the broker can; by name the topic's id is asked for after every fetch. */
  readonly fetchBy?: 'id' | 'name' | undefined;
}

const defaultDeliveryTimeoutMs = 30_000;
const defaultTransactionTimeoutMs = 60_000;

/**
 * `KafkaClient` for real brokers, Kafka 2.1 and later. Connects when something is used. What may wait long has its own connections:
 * each consumer and each producer; admin and `readPartition` share one set.
 */
export class KafkajsClient implements KafkaClient {
  readonly #options: KafkajsClientOptions;
  readonly #kafka: Kafka;
  readonly #shared: KafkaConnection;
  readonly #admin: KafkajsAdmin;
  readonly #consumers = new Set<KafkajsConsumer>();
  readonly #workGroups = new Set<KafkajsWorkGroup>();
  readonly #producers = new Set<KafkajsProducer | KafkajsTransactionalProducer>();

  /** @throws ServiceError `KAFKA_CLIENT_UNSUPPORTED` when the installed kafkajs is not the one this was written for. */
  constructor(options: KafkajsClientOptions) {
    checkKafkajs();
    this.#options = options;
    this.#kafka = makeKafka(options.settings, options.log ?? (() => undefined), options.clock);
    this.#shared = this.#connection();
    this.#admin = new KafkajsAdmin(this.#kafka.admin(), this.#shared, options.clock);
  }

  get admin(): KafkaAdmin {
    return this.#admin;
  }

  consumer(options: ConsumerOptions): KafkaConsumer {
    const consumer = new KafkajsConsumer(options, {
      connection: this.#connection(options.readCommitted),
      heldOffsets: (at) => this.#admin.heldOffsets(at),
      byId: this.#options.fetchBy !== 'name',
    });
    this.#consumers.add(consumer);
    return consumer;
  }

  workGroup(options: WorkGroupOptions): WorkGroup {
    const group = new KafkajsWorkGroup(this.#connection(), options);
    this.#workGroups.add(group);
    return group;
  }

  producer(): Promise<KafkaProducer> {
    const producer = new KafkajsProducer(this.#connection(), { deliveryTimeoutMs: this.#deliveryTimeoutMs });
    this.#producers.add(producer);
    return Promise.resolve(producer);
  }

  async openTransactional(options: {
    readonly transactionalId: string;
    readonly transactionTimeoutMs?: number | undefined;
  }): Promise<TransactionalProducer> {
    const producer = await KafkajsTransactionalProducer.open({
      connection: this.#connection(),
      transactionalId: options.transactionalId,
      transactionTimeoutMs: options.transactionTimeoutMs ?? defaultTransactionTimeoutMs,
      deliveryTimeoutMs: this.#deliveryTimeoutMs,
      failpoint: this.#options.failpoint,
    });
    this.#producers.add(producer);
    return producer;
  }

  readPartition(options: ReadRange): AsyncIterable<KafkaRecord> {
    return readPartition(this.#route, options);
  }

  readBatches(options: ReadRange): AsyncIterable<FetchedPartition> {
    return readBatches(this.#route, options);
  }

  get #route(): ReaderRoute {
    return { connection: this.#shared, heldOffsets: (at) => this.#admin.heldOffsets(at) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    await Promise.all([...this.#workGroups].map((group) => group.stop()));
    await Promise.all([...this.#producers].map((producer) => producer.close()));
    await this.#admin.close();
    await this.#shared.close();
  }

  get #deliveryTimeoutMs(): number {
    return this.#options.deliveryTimeoutMs ?? defaultDeliveryTimeoutMs;
  }

  #connection(readCommitted = true): KafkaConnection {
    return new KafkaConnection({
      cluster: makeCluster(this.#kafka, { readCommitted }),
      clock: this.#options.clock,
      random: this.#options.random,
    });
  }
}
