import { throwIfAborted } from '../base/abort.ts';
import { assertNever, present } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { kafkaTopicNotFound } from '../kafka/errors.ts';
import type { DeadLetterSink, RejectAccounting } from '../protocol/dead-letters.ts';
import { type BatchRange, countRejected, type RejectedRecord, type SealedBatch } from '../protocol/sealed-batch.ts';
import type { DeadLetterIncarnations } from './dead-letter-incarnations.ts';
import { type DeadLetter, deadLetterIdOf, deadLetterParcels } from './dead-letter-record.ts';
import { type DeadLetterWriter, DeadLetterWriters, type LetterSource, maxOpenWriters, type SourceLetters } from './dead-letter-writers.ts';
import { defaultMaxMessageBytes, leastMaxMessageBytes, maxMessageBytesIn, topicConfigOf } from './max-message-bytes.ts';
import type { OversizePolicy, RejectPolicy } from './settings.ts';

export interface DeadLetterOptions {
  readonly policy: RejectPolicy;
  readonly oversize: OversizePolicy;
  readonly topic: string;
  /** Of the topic, when it has to be created. */
  readonly partitions: number;
  readonly pipeline: string;
  readonly table: string;
  readonly kafka: KafkaClient;
  readonly clock: Clock;
  /** So many dead letters were there already: an earlier try wrote them, and its commit did not happen. */
  readonly onFound?: ((count: number) => void) | undefined;
  /** Tells when the topic was made anew. */
  readonly incarnations?: DeadLetterIncarnations | undefined;
}

/** Tries of one batch while other workers take its partitions, or answers get lost. */
const maxAttempts = 5;

/**
 * Writes the rejected records of one table, each once for readers of committed records (docs/spec/dead-letters.md): those of a source
 * partition in one transaction for each batch, without what an earlier try has written.
 */
export class DeadLetterTopic implements DeadLetterSink {
  readonly #options: DeadLetterOptions;
  readonly #writers: DeadLetterWriters;
  #partitionCount: number | undefined;
  /** The largest batch that the topic is known to take. */
  #maxMessageBytes: number | undefined;

  constructor(options: DeadLetterOptions) {
    this.#options = options;
    this.#writers = new DeadLetterWriters(options);
  }

  async write(batch: Pick<SealedBatch, 'ranges'>, rejects: readonly RejectedRecord[], signal?: AbortSignal): Promise<RejectAccounting> {
    const [first] = rejects;
    if (first === undefined) return { deadLettered: 0, filtered: 0 };
    const standsAt = this.#options.policy === 'suspend' ? undefined : rejects.find(({ suspends }) => suspends === true);
    if (standsAt !== undefined) throw suspended(this.#options.table, standsAt);
    switch (this.#options.policy) {
      case 'skip':
        return { deadLettered: 0, filtered: countRejected(rejects) };
      case 'suspend':
        throw suspended(this.#options.table, first);
      case 'dead-letter':
        await this.#store(batch.ranges, rejects, signal);
        return { deadLettered: countRejected(rejects), filtered: 0 };
      default:
        return assertNever(this.#options.policy);
    }
  }

  /** Gives the right to write back; a batch that is being written fails. */
  close(): Promise<void> {
    return this.#writers.close();
  }

  async #store(ranges: readonly BatchRange[], rejects: readonly RejectedRecord[], signal: AbortSignal | undefined): Promise<void> {
    const { incarnations, kafka, topic } = this.#options;
    const destined = await this.#destined(ranges, rejects);
    const withLetters = new Set(destined.map(({ source }) => source));
    const others = ranges.filter(({ writerId }) => !withLetters.has(writerId)).map((range) => this.#sourceOf(range));
    await incarnations?.look(kafka.admin, topic);
    for (let start = 0; start < destined.length; start += maxOpenWriters) {
      await this.#publish(destined.slice(start, start + maxOpenWriters), others, signal);
    }
  }

  /** After a failure that leaves open what happened, the next try reads what is there. */
  async #publish(destined: readonly SourceLetters[], others: readonly LetterSource[], signal: AbortSignal | undefined): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(signal);
      try {
        const writers = await this.#writers.of(destined, others, signal);
        const published = await Promise.allSettled(
          destined.flatMap((letters, index) => {
            const writer = writers[index];
            return writer === undefined ? [] : [this.#publishMissing(writer, letters)];
          }),
        );
        const failed = published.find((each) => each.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        return;
      } catch (error) {
        // The topic was deleted: what starts anew creates it.
        if (isServiceError(error) && error.code === 'KAFKA_DESTINATION_NOT_FOUND') throw kafkaTopicNotFound(this.#options.topic, error);
        if (this.#takesLess(error)) continue;
        if (!isServiceError(error, 'fenced', 'unknown-outcome')) throw error;
        if (attempt === maxAttempts) throw contested(this.#options, error);
      }
    }
  }

  /** After a refusal smaller letters are tried, as long as there are smaller ones: what the topic takes may have been changed, or not be ours to know. */
  #takesLess(error: unknown): boolean {
    const taken = this.#maxMessageBytes ?? defaultMaxMessageBytes;
    if (!isServiceError(error) || error.code !== 'KAFKA_RECORD_TOO_LARGE' || taken <= leastMaxMessageBytes) return false;
    this.#maxMessageBytes = Math.max(leastMaxMessageBytes, Math.floor(taken / 2));
    return true;
  }

  async #publishMissing({ producer, published }: DeadLetterWriter, { source, letters, partition }: SourceLetters): Promise<void> {
    const { topic, oversize, onFound } = this.#options;
    const at = { topic, partition, oversize, maxMessageBytes: this.#maxMessageBytes ?? defaultMaxMessageBytes };
    const missing = letters.filter(({ reject }) => published.get(reject.offset) !== reject.timestampMs);
    if (missing.length < letters.length) onFound?.(letters.length - missing.length);
    try {
      for (const parcel of deadLetterParcels(at, missing, this.#options)) {
        await producer.publish(parcel.batches);
        for (const { reject } of parcel.letters) published.set(reject.offset, reject.timestampMs);
      }
    } catch (error) {
      await this.#writers.drop(source);
      throw error;
    }
  }

  /** The records by the partition they come from, each once. */
  async #destined(ranges: readonly BatchRange[], rejects: readonly RejectedRecord[]): Promise<readonly SourceLetters[]> {
    const { table } = this.#options;
    await this.#lookAtTopic();
    const bySource = new Map<string, SourceLetters & { readonly letters: DeadLetter[] }>();
    for (const reject of rejects) {
      const { topic, partition } = reject;
      const range = ranges.find((each) => each.topic === topic && each.partition === partition);
      const known = present(range, 'a rejected record is of a partition of its batch');
      const source = known.writerId;
      const destined = bySource.get(source) ?? { ...this.#sourceOf(known), from: known.from, letters: [] };
      bySource.set(source, destined);
      destined.letters.push({ id: deadLetterIdOf(source, table, reject), reject });
    }
    return [...bySource.values()];
  }

  #sourceOf({ topic, partition, writerId }: BatchRange): LetterSource {
    const { pipeline, table, partitions } = this.#options;
    return {
      source: writerId,
      transactionalId: `tidewater-${pipeline}#dead-letters/${table}/${topic}/${partition}`,
      partition: partition % (this.#partitionCount ?? partitions),
    };
  }

  async #lookAtTopic(): Promise<void> {
    if (this.#partitionCount !== undefined) return;
    const { kafka, topic, partitions } = this.#options;
    await kafka.admin.ensureTopics([{ topic, partitions }]);
    const partitionCount = (await kafka.admin.partitionCount(topic)) ?? partitions;
    const config = await topicConfigOf(kafka, topic);
    const policy = config?.get('cleanup.policy') ?? '';
    if (policy.includes('compact')) throw compacted(this.#options, policy);
    this.#maxMessageBytes = maxMessageBytesIn(config);
    this.#partitionCount = partitionCount;
  }
}

function suspended(table: string, reject: RejectedRecord): ServiceError {
  const { topic, partition, offset, unopened } = reject;
  const offsets = unopened === undefined ? `offset ${offset}` : `offsets ${offset} to ${unopened.until - 1n}`;
  return serviceError.invalid(
    'INGEST_SUSPENDED',
    `table "${table}": topic "${topic}" partition ${partition} ${offsets}: ${reject.message}`,
    {
      hint:
        reject.suspends === true
          ? 'correct the expectation, or set its onFailure to reject or count; reading stands at this record'
          : 'correct the table definition, or set ingest.deadLetters.onReject to dead-letter or skip; reading stands at this record',
      context: { table, topic, partition, offset, until: unopened?.until, reason: reject.reason },
    },
  );
}

function compacted({ table, topic }: DeadLetterOptions, policy: string): ServiceError {
  return serviceError.invalid(
    'DEAD_LETTER_TOPIC_COMPACTED',
    `table "${table}": the dead-letter topic "${topic}" has cleanup.policy=${policy}, which keeps one letter of each key and takes none without a key`,
    {
      hint: `kafka-configs.sh --bootstrap-server <host:port> --alter --entity-type topics --entity-name ${topic} --add-config cleanup.policy=delete, then start again; or name another topic in ingest.deadLetters.topic`,
      context: { table, topic },
    },
  );
}

function contested({ table, topic }: DeadLetterOptions, cause: unknown): ServiceError {
  return serviceError.unavailable(
    'DEAD_LETTERS_CONTESTED',
    `table "${table}": topic "${topic}": dead letters could not be written in ${maxAttempts} tries, because another worker writes those of the same partitions or answers get lost`,
    { hint: 'the batch is read again; when it stays, look for a second pipeline of the same name', context: { table, topic }, cause },
  );
}
