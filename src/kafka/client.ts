import type { EpochMs } from '../base/clock.ts';

/** A topic partition's address. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * One Kafka record batch (magic 2) exactly as the broker stores it: header and possibly compressed records. Nothing above the
 * port parses records on the main thread; `record-batch.ts` decodes these bytes in a worker.
 */
export interface RawRecordBatch {
  readonly baseOffset: bigint;
  /** Offset after the last record of the batch; what to fetch next. */
  readonly untilOffset: bigint;
  /** Number of records the header announces (compaction may have removed some of the range). */
  readonly recordCount: number;
  readonly maxTimestampMs: EpochMs;
  /** The whole batch from its base offset field on; a view that must be copied before the handler returns. */
  readonly bytes: Uint8Array;
  /** Its records were held against what its reader takes and do not belong to it. Absent: they do, as far as is known. */
  readonly unmatched?: boolean | undefined;
  /** Its checksum was compared already, and need not be there any more. */
  readonly checked?: boolean | undefined;
}

/** What one fetch brought for one partition, in offset order, without aborted transactions and control batches. */
export interface FetchedPartition extends TopicPartition {
  /** The topic's incarnation that the bytes come from, as `TopicDescription` has it. */
  readonly topicId: string;
  /** The offset the fetch asked for. The first batch may start below it: records before it must be skipped. */
  readonly fetchOffset: bigint;
  /** The offset to fetch next: past the last batch, control batches and aborted records included. */
  readonly untilOffset: bigint;
  /** Offset after the last stable record (the end of what a read_committed consumer may see). */
  readonly highWatermark: bigint;
  readonly batches: readonly RawRecordBatch[];
}

/** Where to start reading one partition. */
export interface StartPosition extends TopicPartition {
  readonly offset: bigint;
  /** The topic's incarnation the offset belongs to: no other is read from here. Default: the one that is found when reading begins. */
  readonly topicId?: string | undefined;
}

/** How the topics of a consumer differ from those it reads. */
export interface TopicsChange {
  /** Those that do not exist (any more). The consumer waits for them and reads the others. */
  readonly missing: readonly string[];
  /** Those that were deleted and created again. */
  readonly replaced: readonly string[];
  /** Those that match (`ConsumerOptions.matching`) and did not when the consumer began. Absent: none. */
  readonly appeared?: readonly string[] | undefined;
}

/** Topics by their names, read as they come, and left when they go. */
export interface TopicMatch {
  test(topic: string): boolean;
  /** More are refused: `KAFKA_TOPICS_TOO_MANY` (kind invalid). */
  readonly maxTopics: number;
  /** How often the topics of the cluster are listed. Default 30000. */
  readonly everyMs?: number | undefined;
}

/**
 * What a consumer group member does. Calls never overlap for one partition.
 */
export interface ConsumerHandler {
  /**
   * The group gave this member these partitions (all of them, not a difference) in a new generation. The answer says where
   * to read each; a partition that is left out is not read until `seek`. No `onFetched` of the generation happens before.
   */
  onAssigned(partitions: readonly TopicPartition[], generation: number): Promise<readonly StartPosition[]>;
  /** The generation ended: everything fetched and not committed belongs to somebody else by now. */
  onRevoked(generation: number): Promise<void>;
  /**
   * Topics came to be, went away, were made anew or got other partitions. The generation ends when the answer resolves and another begins, so
   * this is the moment to put away what was fetched: of a topic that is gone it cannot be fetched again. Also called before the first
   * generation when topics are missing.
   */
  onTopicsChanged(change: TopicsChange): Promise<void>;
  /** Takes the bytes (copying them) and returns soon; the next fetch waits for it. */
  onFetched(fetched: FetchedPartition): void;
  /**
   * The partition does not hold the offset to read (retention passed it, or the topic lost its end or was made anew). Called once; the
   * partition rests until `seek`. A handler without this method gets `onFailed` with kind `discontinuity`: positions never move by
   * themselves.
   */
  onOutOfRange?(position: StartPosition, held: PartitionOffsets): void;
  /** The consumer stopped for good by an error (authorisation, a handler method threw); transient trouble is retried inside. */
  onFailed(error: unknown): void;
}

/** Who fetches asks for room first. */
export interface FetchAllowance {
  /** Waits for room of `wantedBytes` or somewhat less. Rejects with kind `aborted` when the signal fires or there is never going to be any. */
  take(wantedBytes: number, signal: AbortSignal): Promise<FetchGrant>;
}

/** Room for one answer. */
export interface FetchGrant {
  /** What the answer may hold; a record batch that is larger comes whole all the same. */
  readonly bytes: number;
  /** So much of the answer is handed on now: who takes it counts it from here. */
  spend(bytes: number): void;
  /** What was not handed on. */
  giveBack(): void;
}

export interface ConsumerOptions {
  readonly groupId: string;
  /** Read where they exist; those that do not are waited for. */
  readonly topics: readonly string[];
  /** Read beside them. */
  readonly matching?: TopicMatch | undefined;
  readonly handler: ConsumerHandler;
  /** Defaults to true: aborted and open transactions are not seen. */
  readonly readCommitted?: boolean | undefined;
  /** Upper bound of one fetch response. Default 16 MiB. */
  readonly maxFetchBytes?: number | undefined;
  /** Room for what is fetched. Absent: there is always room. */
  readonly allowance?: FetchAllowance | undefined;
  /** How long the broker may wait for data. Default 250 ms. */
  readonly maxWaitMs?: number | undefined;
  /** Default 30000. */
  readonly sessionTimeoutMs?: number | undefined;
  /** How often the topics are looked at for changes of which no fetch tells. Default 5000. */
  readonly topicCheckMs?: number | undefined;
}

/** A member of a consumer group. Correctness never depends on membership: the table's commit fences. */
export interface KafkaConsumer {
  /** Joins and starts fetching; resolves when joined for the first time. */
  start(): Promise<void>;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  /** Moves one partition; fetched bytes of before the move are not delivered after it. */
  seek(position: StartPosition): void;
  /** Publishes group offsets for lag tools. Best effort; rejects with kind `unavailable` or `fenced`. */
  commitGroupOffsets(positions: readonly StartPosition[]): Promise<void>;
  /** Leaves the group, without `onRevoked`; no handler call after it resolves. */
  stop(): Promise<void>;
}

/** A record to produce. `undefined` key or value is Kafka's null (a null value is a tombstone). */
export interface OutgoingRecord {
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  readonly headers?: readonly (readonly [name: string, value: Uint8Array])[] | undefined;
  readonly timestampMs: EpochMs;
}

/**
 * Records of one partition, encoded (and compressed) by `encodeRecordBatch` up to the producer fields (id, epoch, sequence, CRC),
 * which the producer fills in. Made in a worker so that the main thread only moves bytes.
 */
export interface EncodedRecordBatch extends TopicPartition {
  readonly recordCount: number;
  readonly bytes: Uint8Array;
}

/** Idempotent producer without transactions: dead letters, replayed demo data. Serialises sends per partition. */
export interface KafkaProducer {
  /**
   * Resolves when the batches are stored by all in-sync replicas (acks=all). Rejects: `unavailable` (nothing stored of the batch that
   * failed), `unknown-outcome` (sent, no answer in time: it may be stored), `invalid` (record too large, no such topic).
   * Takes the batches' bytes over: it writes the producer's fields into them.
   */
  send(batches: readonly EncodedRecordBatch[]): Promise<void>;
  close(): Promise<void>;
}

export interface PublishOptions {
  /** Topic -> id of the incarnation that is meant; topics that are left out may be any. */
  readonly incarnations?: ReadonlyMap<string, string> | undefined;
}

/**
 * A producer under a stable transactional id. Opening it fences every earlier one with the same id and aborts what they left
 * open, *before* `open` resolves; so read the committed position after opening.
 *
 * After any rejection the object is dead: close it, open a new one, read the committed position, continue from there
 * (kafkajs speaks transaction versions without KIP-890; a timeout leaves the outcome unknown).
 */
export interface TransactionalProducer {
  /**
   * Publishes all batches in one transaction: all visible to read_committed readers, or none. Several batches of one partition
   * keep their order. Takes the batches' bytes over: it writes the producer's fields into them. Calls must not overlap.
   *
   * A produce request goes by the topic's name, so it reaches whatever has the name by then. `incarnations` (topic -> `KafkaAdmin.topicId`)
   * says which topics are meant: the brokers that took the records are asked once all are stored and before the end, so that nothing
   * becomes visible in a topic that was made anew meanwhile.
   *
   * Rejects with kind `fenced` (a newer producer owns the id, or the transaction took longer than its timeout), `unknown-outcome` (the
   * end marker may have been written), `unavailable` (aborted or will be; nothing visible), `invalid` (a record the broker never takes:
   * too large, no topic), `discontinuity` (`KAFKA_DESTINATION_REPLACED`; aborted).
   */
  publish(batches: readonly EncodedRecordBatch[], options?: PublishOptions): Promise<void>;
  close(): Promise<void>;
}

/** What a member of a work group is told. */
export interface WorkHandler {
  /** The items this member works on from now on (all of them, not a difference), and who works on each, by the members' names. Returns at once. */
  onOwned(items: ReadonlySet<string>, owners: ReadonlyMap<string, string>): void;
  /** The member left for good by an error (authorisation); transient trouble is retried inside. */
  onFailed(error: unknown): void;
}

export interface WorkGroupOptions {
  readonly groupId: string;
  /** What people call this member. */
  readonly member: string;
  readonly items: readonly string[];
  /** How long a member that is not heard keeps its items. Default 10000. */
  readonly sessionTimeoutMs?: number | undefined;
  readonly handler: WorkHandler;
}

/**
 * A member of a group whose members divide items (not partitions) evenly among themselves. Items stay where they are as far as that is even.
 * For moments two members may both believe that an item is theirs, such as after one was not heard for the session timeout: what must not
 * happen twice needs a fence of its own.
 */
export interface WorkGroup {
  /** Resolves after the first `onOwned`. Rejects when the group cannot be joined for good. */
  start(): Promise<void>;
  /** Leaves: the others take over at once. */
  stop(): Promise<void>;
}

export interface TopicSpec {
  readonly topic: string;
  readonly partitions: number;
  /** Default: the broker's. */
  readonly replicationFactor?: number | undefined;
  readonly config?: Readonly<Record<string, string>> | undefined;
}

/** A topic's present incarnation. */
export interface TopicDescription {
  readonly topic: string;
  /** Another one after the topic was deleted and created again, base64url; `-` when the broker is too old to tell (before Kafka 2.8). */
  readonly topicId: string;
  readonly partitions: number;
}

/** The offsets a partition holds: records in `[earliest, latest)`, where `latest` is the end that a read_committed reader can reach. */
export interface PartitionOffsets extends TopicPartition {
  readonly earliest: bigint;
  readonly latest: bigint;
}

/** The offsets `[from, until)` of one partition. */
export interface OffsetSpan extends TopicPartition {
  readonly from: bigint;
  readonly until: bigint;
}

/** What of a partition is read without a group. */
export interface ReadRange extends OffsetSpan {
  readonly topicId?: string | undefined;
  /** Default: true. */
  readonly readCommitted?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A decoded record, for the slow paths (positions, tools, tests). */
export interface KafkaRecord extends TopicPartition {
  readonly offset: bigint;
  readonly timestampMs: EpochMs;
  readonly key: Uint8Array | undefined;
  readonly value: Uint8Array | undefined;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
}

export interface KafkaAdmin {
  clusterId(): Promise<string>;
  /** What the topic is like now; `undefined` when it does not exist. */
  describeTopic(topic: string): Promise<TopicDescription | undefined>;
  /** The id of `describeTopic`. @throws ServiceError `KAFKA_TOPIC_NOT_FOUND` (not-found). */
  topicId(topic: string): Promise<string>;
  /** Creates what is missing; an existing topic is left as it is. Resolves with the names created. */
  ensureTopics(topics: readonly TopicSpec[]): Promise<readonly string[]>;
  /** Partition count, or `undefined` when the topic does not exist. */
  partitionCount(topic: string): Promise<number | undefined>;
  /** Of every topic that may be seen, but for Kafka's own, in one request. */
  partitionCounts(): Promise<ReadonlyMap<string, number>>;
  offsets(topic: string): Promise<readonly PartitionOffsets[]>;
  /**
   * The topic's configuration in effect, such as `cleanup.policy`, whoever set it.
   * @throws ServiceError `KAFKA_TOPIC_NOT_FOUND` (not-found), `KAFKA_NOT_AUTHORIZED` (invalid).
   */
  topicConfig(topic: string): Promise<ReadonlyMap<string, string>>;
  /**
   * For each partition where records of the time `sinceMs` and later lie: none of them is before `from`, and `until` is the end of the log,
   * behind what open transactions have written. Times are the records' own, or those of the broker where the topic is set so.
   * @throws ServiceError `KAFKA_TOPIC_NOT_FOUND` (not-found).
   */
  recordsSince(topic: string, sinceMs: number): Promise<readonly OffsetSpan[]>;
  groupOffsets(groupId: string, topic: string): Promise<readonly StartPosition[]>;
  deleteTopic(topic: string): Promise<void>;
}

/**
 * The broker, as the product sees it. Adapters: `kafkajs/` and, for tests and simulation, `memory/`.
 * One conformance suite runs on both (test/conformance/kafka-client.ts).
 */
export interface KafkaClient {
  readonly admin: KafkaAdmin;
  consumer(options: ConsumerOptions): KafkaConsumer;
  producer(): Promise<KafkaProducer>;
  workGroup(options: WorkGroupOptions): WorkGroup;
  openTransactional(options: {
    readonly transactionalId: string;
    readonly transactionTimeoutMs?: number | undefined;
  }): Promise<TransactionalProducer>;
  /**
   * Reads a partition without a group from `from` up to (excluding) `until`, read_committed unless told otherwise. Ends early
   * when nothing is left below `until`. Never passes from one incarnation of the topic into another: without `topicId` the one that is found
   * at the beginning is read to the end.
   *
   * @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`, `KAFKA_TOPIC_REPLACED` (discontinuity), `KAFKA_OFFSET_OUT_OF_RANGE` (discontinuity),
   *   `KAFKA_UNAVAILABLE`.
   */
  readPartition(options: ReadRange): AsyncIterable<KafkaRecord>;
  /** As `readPartition`, the record batches as they are; those at the ends may have records outside of the range. */
  readBatches(options: ReadRange): AsyncIterable<FetchedPartition>;
  close(): Promise<void>;
}
