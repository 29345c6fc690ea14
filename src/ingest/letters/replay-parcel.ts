import { toEpochMs } from '../../base/clock.ts';
import type { EncodedRecordBatch, KafkaClient, OutgoingRecord, TransactionalProducer } from '../../kafka/client.ts';
import { kafkaTopicNotFound } from '../../kafka/errors.ts';
import { encodeRecordBatch } from '../../kafka/records/record-batch.ts';
import { printReplayed, type ReplayedRecord, replayHeader } from '../../protocol/replayed-record.ts';
import { contentBytes } from '../cut-record.ts';
import { defaultMaxMessageBytes, maxMessageBytesOf } from '../max-message-bytes.ts';
import { runsOf } from '../size-runs.ts';
import type { StoredLetter } from './stored-letter.ts';

const defaultMaxLetters = 1_000;
/** Of one transaction, before they are packed. */
const maxParcelBytes = 16 * 1024 * 1024;
const maxBatchBytes = 512 * 1024;
const utf8 = new TextEncoder();

/** A letter, and what the replay topic is to say of it. */
export interface Replay {
  readonly letter: StoredLetter;
  readonly record: ReplayedRecord;
  /** Of the record's own topic: records of one partition keep their order. */
  readonly partition: number;
}

interface Packed {
  readonly letter: StoredLetter;
  readonly outgoing: OutgoingRecord;
  readonly partition: number;
}

/** The letters that are replayed in one transaction. */
export class ReplayParcel {
  readonly #producer: TransactionalProducer;
  readonly #topic: string;
  readonly #partitions: number;
  readonly #maxMessageBytes: number;
  readonly #maxLetters: number;
  /** The incarnation that was read for what is there already. */
  readonly #topicId: string;
  #held: Packed[] = [];
  #bytes = 0;

  private constructor(options: {
    readonly producer: TransactionalProducer;
    readonly topic: string;
    readonly topicId: string;
    readonly partitions: number;
    readonly maxMessageBytes: number;
    readonly maxLetters: number;
  }) {
    this.#producer = options.producer;
    this.#topic = options.topic;
    this.#topicId = options.topicId;
    this.#partitions = options.partitions;
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#maxLetters = options.maxLetters;
  }

  /** @throws ServiceError `KAFKA_TOPIC_NOT_FOUND` (not-found). */
  static async open(options: {
    readonly kafka: KafkaClient;
    readonly topic: string;
    readonly producer: TransactionalProducer;
    /** Default 1000. */
    readonly maxLetters: number | undefined;
  }): Promise<ReplayParcel> {
    const { kafka, topic, producer, maxLetters = defaultMaxLetters } = options;
    const found = await kafka.admin.describeTopic(topic);
    if (found === undefined) throw kafkaTopicNotFound(topic);
    const { topicId, partitions } = found;
    const maxMessageBytes = (await maxMessageBytesOf(kafka, topic)) ?? defaultMaxMessageBytes;
    return new ReplayParcel({ producer, topic, topicId, partitions, maxMessageBytes, maxLetters });
  }

  get isFull(): boolean {
    return this.#held.length >= this.#maxLetters || this.#bytes >= maxParcelBytes;
  }

  /** False: the topic takes it neither as it is nor packed. */
  add({ letter, record, partition }: Replay): boolean {
    const headers = [...letter.headers, [replayHeader, utf8.encode(printReplayed(record))] as const];
    const timestampMs = toEpochMs(letter.timestampMs);
    const packed = {
      letter,
      outgoing: { key: letter.key, value: letter.value, headers, timestampMs },
      partition: partition % this.#partitions,
    };
    const bytes = sizeOf(packed);
    if (bytes > this.#maxRunBytes && this.#encode([packed]).bytes.length > this.#maxMessageBytes) return false;
    this.#held.push(packed);
    this.#bytes += bytes;
    return true;
  }

  /**
   * Writes what it holds, all or nothing, and is empty then. Resolves with the letters that are replayed now.
   *
   * @throws what `TransactionalProducer.publish` does; whether they are replayed, reading the topic tells after another producer was opened.
   */
  async publish(): Promise<readonly StoredLetter[]> {
    const held = this.#held;
    [this.#held, this.#bytes] = [[], 0];
    if (held.length === 0) return [];
    const partitions = [...new Set(held.map(({ partition }) => partition))];
    const batches = partitions.flatMap((partition) => {
      const ofPartition = held.filter((packed) => packed.partition === partition);
      return [...runsOf(ofPartition, sizeOf, this.#maxRunBytes)].map((run) => this.#encode(run));
    });
    await this.#producer.publish(batches, { incarnations: new Map([[this.#topic, this.#topicId]]) });
    return held.map(({ letter }) => letter);
  }

  get #maxRunBytes(): number {
    return Math.min(maxBatchBytes, this.#maxMessageBytes / 2);
  }

  #encode(run: readonly Packed[]): EncodedRecordBatch {
    const partition = run[0]?.partition ?? 0;
    return encodeRecordBatch({ topic: this.#topic, partition, compression: 'gzip', records: run.map(({ outgoing }) => outgoing) });
  }
}

const sizeOf = ({ outgoing }: Packed): number => contentBytes(outgoing);
