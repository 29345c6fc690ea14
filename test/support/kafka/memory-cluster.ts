import { present } from '../../../src/base/assert.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { ServiceError } from '../../../src/base/errors.ts';
import type { Random } from '../../../src/base/random.ts';
import type {
  EncodedRecordBatch,
  OffsetSpan,
  PartitionOffsets,
  TopicDescription,
  TopicPartition,
  TopicSpec,
} from '../../../src/kafka/client.ts';
import {
  kafkaDestinationReplaced,
  kafkaFenced,
  kafkaNoSuchDestination,
  kafkaOutcomeUnknown,
  kafkaRecordTooLarge,
  kafkaTopicNotFound,
  kafkaTopicReplaced,
  kafkaUnavailable,
} from '../../../src/kafka/errors.ts';
import { stampRecordBatch } from '../../../src/kafka/records/record-batch-builder.ts';
import type { ClientLink } from './client-link.ts';
import type { BrokerOperation, FaultQueue } from './memory-faults.ts';
import { MemoryGroup } from './memory-group.ts';
import { MemoryLog } from './memory-log.ts';
import { MemoryWorkGroups } from './memory-work-group.ts';

/** The right to write under a transactional id, until a newer one is handed out. */
export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

interface Topic {
  readonly id: string;
  readonly logs: MemoryLog[];
  readonly config: Readonly<Record<string, string>>;
}

interface Transaction {
  identity: ProducerIdentity;
  timeoutMs: number;
  startedAtMs: number | undefined;
  readonly partitions: Set<MemoryLog>;
}

/** What a real broker's defaults are. */
const defaultTopicConfig: Readonly<Record<string, string>> = { 'cleanup.policy': 'delete', 'max.message.bytes': '1048588' };

/** State of the memory broker: topics, groups and transactions, and the door through which all requests and faults pass. */
export class MemoryCluster {
  readonly clusterId: string;
  readonly clock: Clock;
  readonly faults: FaultQueue;
  readonly workGroups: MemoryWorkGroups = new MemoryWorkGroups();
  readonly #random: Random;
  readonly #latencyMs: number;
  readonly #topics = new Map<string, Topic>();
  readonly #groups = new Map<string, MemoryGroup>();
  readonly #transactions = new Map<string, Transaction>();
  readonly #listeners = new Set<() => void>();
  #nextProducerId = 1n;

  constructor(options: {
    readonly clusterId: string;
    readonly clock: Clock;
    readonly random: Random;
    readonly faults: FaultQueue;
    /** How long a request and its answer take each; 0 uses microtasks only. */
    readonly latencyMs: number;
  }) {
    this.clusterId = options.clusterId;
    this.clock = options.clock;
    this.faults = options.faults;
    this.#random = options.random;
    this.#latencyMs = options.latencyMs;
  }

  /**
   * One request: travels, is applied in one go, and its answer travels back. `apply` runs at most once.
   *
   * @throws ServiceError `KAFKA_UNAVAILABLE` when it was not applied, `KAFKA_OUTCOME_UNKNOWN` when it was and the answer was lost,
   *   or what `apply` throws.
   */
  async request<T>(link: ClientLink, operation: BrokerOperation, apply: () => T): Promise<T> {
    await this.#travel();
    const lost = link.state !== 'up' ? { error: undefined } : this.faults.strike({ operation, when: 'before', clientId: link.clientId });
    if (lost !== undefined) throw lost.error ?? kafkaUnavailable(`${operation}: the broker was not reached by client "${link.clientId}"`);
    const result = apply();
    const unheard = this.faults.strike({ operation, when: 'after', clientId: link.clientId });
    if (unheard === undefined) await this.#travel();
    if (unheard !== undefined || stateOf(link) !== 'up') {
      throw unheard?.error ?? kafkaOutcomeUnknown(`${operation}: the answer to client "${link.clientId}" was lost`);
    }
    return result;
  }

  /** Calls `listener` after every change a consumer may wait for; returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  createTopics(specs: readonly TopicSpec[]): readonly string[] {
    const created: string[] = [];
    for (const spec of specs) {
      if (this.#topics.has(spec.topic)) continue;
      const logs = Array.from({ length: spec.partitions }, () => new MemoryLog());
      const id = Buffer.from(this.#random.bytes(16)).toString('base64url');
      this.#topics.set(spec.topic, { id, logs, config: { ...defaultTopicConfig, ...spec.config } });
      created.push(spec.topic);
    }
    this.#changed();
    return created;
  }

  deleteTopic(topic: string): void {
    this.#topics.delete(topic);
    this.#changed();
  }

  /** Adds partitions to a topic until it has so many. @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  growTopic(topic: string, partitions: number): void {
    const { logs } = this.#topic(topic);
    while (logs.length < partitions) logs.push(new MemoryLog());
    this.#changed();
  }

  describeTopic(topic: string): TopicDescription | undefined {
    const found = this.#topics.get(topic);
    return found === undefined ? undefined : { topic, topicId: found.id, partitions: found.logs.length };
  }

  get partitionCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#topics].map(([topic, { logs }]) => [topic, logs.length]));
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  topicId(topic: string): string {
    return this.#topic(topic).id;
  }

  /** @throws ServiceError `KAFKA_DESTINATION_REPLACED`. */
  confirm(incarnations: ReadonlyMap<string, string>): void {
    for (const [topic, meant] of incarnations) {
      const found = this.#topics.get(topic)?.id;
      if (found !== meant) throw kafkaDestinationReplaced(topic, { meant, found });
    }
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  topicConfig(topic: string): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#topic(topic).config));
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  alterTopic(topic: string, config: Readonly<Record<string, string>>): void {
    const found = this.#topic(topic);
    this.#topics.set(topic, { ...found, config: { ...found.config, ...config } });
  }

  partitionCount(topic: string): number | undefined {
    return this.#topics.get(topic)?.logs.length;
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  offsets(topic: string): readonly PartitionOffsets[] {
    return this.#topic(topic).logs.map((log, partition) => ({ topic, partition, earliest: log.earliest, latest: log.lastStable }));
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`. */
  recordsSince(topic: string, sinceMs: number): readonly OffsetSpan[] {
    return this.#topic(topic).logs.map((log, partition) => ({ topic, partition, from: log.firstSince(sinceMs), until: log.next }));
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`, `KAFKA_TOPIC_REPLACED` when the topic is another incarnation than the one asked for. */
  log(at: TopicPartition, topicId?: string): MemoryLog {
    const { id, logs } = this.#topic(at.topic);
    if (topicId !== undefined && topicId !== id) throw kafkaTopicReplaced(at.topic, topicId, id);
    const log = logs[at.partition];
    if (log === undefined) throw kafkaTopicNotFound(at.topic);
    return log;
  }

  deleteRecords(at: TopicPartition, beforeOffset: bigint): void {
    this.log(at).deleteBefore(beforeOffset);
  }

  group(groupId: string): MemoryGroup {
    const existing = this.#groups.get(groupId);
    if (existing !== undefined) return existing;
    const made = new MemoryGroup(groupId, (topic) => this.partitionCount(topic));
    this.#groups.set(groupId, made);
    return made;
  }

  /** Evicts a client's members from all groups, as a session timeout does. */
  evict(clientId: string): void {
    for (const group of this.#groups.values()) group.evict(clientId);
    this.workGroups.changed(clientId);
  }

  /** Stores a batch of a producer without transactions. */
  append(batch: EncodedRecordBatch): void {
    this.#checkedLog(batch).append(batch.bytes);
    this.#changed();
  }

  /** Hands out the next epoch of a transactional id and aborts what the one before left open. */
  initProducer(transactionalId: string, timeoutMs: number): ProducerIdentity {
    const transaction = this.#transactions.get(transactionalId);
    if (transaction === undefined) {
      const identity = { transactionalId, producerId: this.#nextProducerId, producerEpoch: 0 };
      this.#nextProducerId += 1n;
      this.#transactions.set(transactionalId, { identity, timeoutMs, startedAtMs: undefined, partitions: new Set() });
      return identity;
    }
    this.#end(transaction, false);
    transaction.identity = { ...transaction.identity, producerEpoch: transaction.identity.producerEpoch + 1 };
    transaction.timeoutMs = timeoutMs;
    return transaction.identity;
  }

  /** @throws ServiceError `KAFKA_FENCED`, `KAFKA_DESTINATION_NOT_FOUND`. */
  addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): void {
    const transaction = this.#owned(identity);
    const logs = partitions.map((partition) => this.#destination(partition));
    transaction.startedAtMs ??= this.clock.monotonicMs();
    for (const log of logs) transaction.partitions.add(log);
  }

  /** Stores a batch inside the open transaction. */
  appendTransactional(identity: ProducerIdentity, batch: EncodedRecordBatch): void {
    const transaction = this.#owned(identity);
    const log = this.#checkedLog(batch);
    // The coordinator knows partitions by name: one that was made anew since is part of the transaction, too.
    transaction.partitions.add(log);
    stampRecordBatch(batch.bytes, { ...identity, baseSequence: 0, transactional: true });
    log.append(batch.bytes);
  }

  endTransaction(identity: ProducerIdentity, committed: boolean): void {
    this.#end(this.#owned(identity), committed);
  }

  /** Aborts transactions that are open for longer than their timeout and fences their producers, as the coordinator does. */
  sweep(nowMs: number): void {
    for (const transaction of this.#transactions.values()) {
      if (transaction.startedAtMs === undefined || nowMs - transaction.startedAtMs < transaction.timeoutMs) continue;
      this.#end(transaction, false);
      transaction.identity = { ...transaction.identity, producerEpoch: transaction.identity.producerEpoch + 1 };
    }
  }

  #end(transaction: Transaction, committed: boolean): void {
    const now = this.clock.now();
    for (const log of transaction.partitions) log.endTransaction(transaction.identity, committed, now);
    transaction.partitions.clear();
    transaction.startedAtMs = undefined;
    this.#changed();
  }

  #owned(identity: ProducerIdentity): Transaction {
    const transaction = present(this.#transactions.get(identity.transactionalId), 'an identity comes from initProducer');
    if (transaction.identity.producerEpoch !== identity.producerEpoch) throw kafkaFenced(identity.transactionalId);
    return transaction;
  }

  #checkedLog(batch: EncodedRecordBatch): MemoryLog {
    const log = this.#destination(batch);
    if (batch.bytes.length > Number(this.#topic(batch.topic).config['max.message.bytes']))
      throw kafkaRecordTooLarge(batch.topic, batch.bytes.length);
    return log;
  }

  #destination(at: TopicPartition): MemoryLog {
    const log = this.#topics.get(at.topic)?.logs[at.partition];
    if (log === undefined) throw kafkaNoSuchDestination(at.topic);
    return log;
  }

  #topic(topic: string): Topic {
    const found = this.#topics.get(topic);
    if (found === undefined) throw kafkaTopicNotFound(topic);
    return found;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #travel(): Promise<void> {
    return this.#latencyMs > 0 ? this.clock.sleep(this.#latencyMs) : Promise.resolve();
  }
}

/** Whether asking again may help. */
export function isTransient(error: ServiceError): boolean {
  return error.kind === 'unavailable' || error.kind === 'unknown-outcome';
}

// Through a function, because the state may have changed while the request was under way.
function stateOf(link: ClientLink): ClientLink['state'] {
  return link.state;
}
