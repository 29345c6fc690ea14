import { throwIfAborted } from '../../../src/base/abort.ts';
import { assert } from '../../../src/base/assert.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { type Failpoint, inertFailpoint } from '../../../src/base/failpoint.ts';
import type { Random } from '../../../src/base/random.ts';
import type {
  ConsumerOptions,
  FetchedPartition,
  KafkaAdmin,
  KafkaClient,
  KafkaConsumer,
  KafkaRecord,
  ReadRange,
  TopicPartition,
  WorkGroupOptions,
} from '../../../src/kafka/client.ts';
import { kafkaOffsetOutOfRange } from '../../../src/kafka/errors.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import type { ClientLink } from './client-link.ts';
import { MemoryCluster } from './memory-cluster.ts';
import { MemoryConsumer } from './memory-consumer.ts';
import { type BrokerFault, type BrokerMoment, FaultQueue } from './memory-faults.ts';
import { MemoryProducer, MemoryTransactionalProducer } from './memory-producer.ts';
import { MemoryWorkGroup } from './memory-work-group.ts';

export interface MemoryBrokerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Default `memory-cluster`. */
  readonly clusterId?: string | undefined;
  /** How long a request and its answer travel, each. Default 0: everything happens in microtasks, without the clock. */
  readonly latencyMs?: number | undefined;
  /** Asked at every request and answer whether it gets lost; for seeded simulations. */
  readonly faultPolicy?: ((moment: BrokerMoment) => boolean) | undefined;
  readonly failpoint?: Failpoint | undefined;
}

/**
 * A deterministic Kafka in memory, for tests and simulation: record batches as bytes, groups with generations, transactions with
 * epochs and fencing, read_committed, faults. The same calls in the same order give the same history.
 */
export class MemoryBroker {
  readonly #cluster: MemoryCluster;
  readonly #faults: FaultQueue;
  readonly #failpoint: Failpoint;
  readonly #clients = new Map<string, MemoryClient>();

  constructor(options: MemoryBrokerOptions) {
    this.#faults = new FaultQueue(options.faultPolicy);
    this.#failpoint = options.failpoint ?? inertFailpoint;
    this.#cluster = new MemoryCluster({
      clusterId: options.clusterId ?? 'memory-cluster',
      clock: options.clock,
      random: options.random,
      faults: this.#faults,
      latencyMs: options.latencyMs ?? 0,
    });
  }

  /** A client of this broker. One id, one client: a second one of the same id replaces a crashed or closed one. */
  client(clientId: string): KafkaClient {
    const made = new MemoryClient(this.#cluster, clientId, this.#failpoint);
    this.#clients.set(clientId, made);
    return made;
  }

  /** Arms a fault. */
  inject(fault: BrokerFault): void {
    this.#faults.add(fault);
  }

  /** Disarms all faults that did not strike yet. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** The client's process dies: no handler is called any more, its members leave, its transaction stays open. */
  crashClient(clientId: string): void {
    this.#linkOf(clientId).state = 'crashed';
    this.#cluster.evict(clientId);
  }

  /** The client loses the network and, like after a session timeout, its place in its groups. It does not know: a zombie. */
  isolateClient(clientId: string): void {
    this.#linkOf(clientId).state = 'isolated';
    this.#cluster.evict(clientId);
  }

  /** The network is back; the client's consumers learn that they were evicted and join again. */
  async healClient(clientId: string): Promise<void> {
    const link = this.#linkOf(clientId);
    assert(link.state === 'isolated', `client "${clientId}" is isolated`);
    link.state = 'up';
    this.#cluster.workGroups.changed(clientId);
    await this.#clients.get(clientId)?.rejoin();
  }

  /** Starts another generation of a group, as any change of its members does. */
  async rebalance(groupId: string): Promise<void> {
    await this.#cluster.group(groupId).rebalance();
  }

  /** Deletes records below an offset, as retention does. */
  deleteRecords(at: TopicPartition, beforeOffset: bigint): void {
    this.#cluster.deleteRecords(at, beforeOffset);
  }

  /** Changes a topic's configuration, as an operator does. */
  alterTopic(topic: string, config: Readonly<Record<string, string>>): void {
    this.#cluster.alterTopic(topic, config);
  }

  /** Adds partitions to a topic until it has so many. */
  addPartitions(topic: string, partitions: number): void {
    this.#cluster.growTopic(topic, partitions);
  }

  /** Aborts transactions that are open for longer than their timeout at `nowMs` (`Clock.monotonicMs`). */
  sweep(nowMs: number): void {
    this.#cluster.sweep(nowMs);
  }

  #linkOf(clientId: string): ClientLink {
    const client = this.#clients.get(clientId);
    assert(client !== undefined, `client "${clientId}" was made by this broker`);
    return client.link;
  }
}

const readChunkBytes = 1024 * 1024;
const defaultTransactionTimeoutMs = 60_000;

class MemoryClient implements KafkaClient {
  readonly admin: KafkaAdmin;
  readonly link: ClientLink;
  readonly #cluster: MemoryCluster;
  readonly #failpoint: Failpoint;
  readonly #consumers: MemoryConsumer[] = [];

  constructor(cluster: MemoryCluster, clientId: string, failpoint: Failpoint) {
    this.#cluster = cluster;
    this.#failpoint = failpoint;
    this.link = { clientId, state: 'up' };
    this.admin = memoryAdmin(cluster, this.link);
  }

  consumer(options: ConsumerOptions): KafkaConsumer {
    const memberId = `${this.link.clientId}-${this.#consumers.length}`;
    const consumer = new MemoryConsumer(this.#cluster, this.link, memberId, options);
    this.#consumers.push(consumer);
    return consumer;
  }

  async rejoin(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.rejoin()));
  }

  workGroup(options: WorkGroupOptions): MemoryWorkGroup {
    return new MemoryWorkGroup(this.#cluster, this.link, options);
  }

  producer(): Promise<MemoryProducer> {
    return Promise.resolve(new MemoryProducer(this.#cluster, this.link));
  }

  async openTransactional(options: {
    readonly transactionalId: string;
    readonly transactionTimeoutMs?: number | undefined;
  }): Promise<MemoryTransactionalProducer> {
    const timeoutMs = options.transactionTimeoutMs ?? defaultTransactionTimeoutMs;
    const identity = await this.#cluster.request(this.link, 'open-transactional', () =>
      this.#cluster.initProducer(options.transactionalId, timeoutMs),
    );
    return new MemoryTransactionalProducer(this.#cluster, this.link, identity, this.#failpoint);
  }

  async *readPartition(options: ReadRange): AsyncIterable<KafkaRecord> {
    for await (const { batches, fetchOffset } of this.readBatches(options)) {
      for (const batch of batches) {
        for (const record of decodeRecords(batch.bytes, options)) {
          if (record.offset >= fetchOffset && record.offset < options.until) yield record;
        }
      }
    }
  }

  async *readBatches(options: ReadRange): AsyncIterable<FetchedPartition> {
    const { topic, partition, readCommitted = true } = options;
    let at = options.from;
    let topicId = options.topicId;
    while (at < options.until) {
      throwIfAborted(options.signal);
      const from = at;
      const read = await this.#cluster.request(this.link, 'fetch', () => {
        topicId ??= this.#cluster.topicId(topic);
        return this.#cluster.log(options, topicId).read(from, { readCommitted, maxBytes: readChunkBytes });
      });
      if (read.kind === 'out-of-range') throw kafkaOffsetOutOfRange({ ...options, offset: from }, read);
      const { untilOffset, highWatermark, batches } = read;
      if (untilOffset === from) return;
      yield { topic, topicId: topicId ?? '', partition, fetchOffset: from, untilOffset, highWatermark, batches };
      at = untilOffset;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.stop()));
  }
}

function memoryAdmin(cluster: MemoryCluster, link: ClientLink): KafkaAdmin {
  return {
    clusterId: () => cluster.request(link, 'metadata', () => cluster.clusterId),
    ensureTopics: (topics) => cluster.request(link, 'create-topics', () => cluster.createTopics(topics)),
    partitionCounts: () => cluster.request(link, 'metadata', () => cluster.partitionCounts),
    partitionCount: (topic) => cluster.request(link, 'metadata', () => cluster.partitionCount(topic)),
    topicConfig: (topic) => cluster.request(link, 'metadata', () => cluster.topicConfig(topic)),
    describeTopic: (topic) => cluster.request(link, 'metadata', () => cluster.describeTopic(topic)),
    topicId: (topic) => cluster.request(link, 'metadata', () => cluster.topicId(topic)),
    offsets: (topic) => cluster.request(link, 'offsets', () => cluster.offsets(topic)),
    recordsSince: (topic, sinceMs) => cluster.request(link, 'offsets', () => cluster.recordsSince(topic, sinceMs)),
    groupOffsets: (groupId, topic) => cluster.request(link, 'offsets', () => cluster.group(groupId).committed(topic)),
    deleteTopic: (topic) =>
      cluster.request(link, 'delete-topic', () => {
        cluster.deleteTopic(topic);
      }),
  };
}
