import type { ServiceError } from '../../base/errors.ts';
import { isServiceError } from '../../base/errors.ts';
import type { EncodedRecordBatch } from '../client.ts';
import {
  kafkaDestinationReplaced,
  kafkaFenced,
  kafkaNoSuchDestination,
  kafkaOutcomeUnknown,
  kafkaRecordTooLarge,
  kafkaUnavailable,
} from '../errors.ts';
import { stampRecordBatch } from '../records/record-batch-builder.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { answerError, isFencing, kafkaCode, kafkaCodeOf, toServiceError } from './kafkajs-errors.ts';
import { metadataFrom, noTopicId, type TopicMetadata } from './metadata-request.ts';
import { produceTo } from './produce-request.ts';

// Brokers take requests of up to 100 MB; smaller ones keep memory and retries small.
const maxRequestBytes = 16 * 1024 * 1024;
const sequenceLimit = 2 ** 31;

/** A batch under way: its bytes never change once stamped, so that a repeated request is recognised by the broker. */
interface Delivery {
  readonly batch: EncodedRecordBatch;
  /** An attempt ended without an answer: the batch may be stored. */
  unheard: boolean;
}

interface ProduceSessionParts {
  readonly connection: KafkaConnection;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly deliveryTimeoutMs: number;
  readonly transactionalId?: string | undefined;
}

/**
 * One producer id and epoch with its sequence numbers. Delivers batches in order per partition, repeating the same bytes on trouble
 * until the delivery timeout; the broker drops repetitions. After a rejection the session must not be used again.
 */
export class ProduceSession {
  readonly #options: ProduceSessionParts;
  readonly #sequences = new Map<string, number>();

  constructor(options: ProduceSessionParts) {
    this.#options = options;
  }

  /**
   * Resolves when all batches are stored. `afterRequest` runs after each set of requests.
   *
   * @throws ServiceError `KAFKA_DESTINATION_NOT_FOUND` (nothing sent), `KAFKA_RECORD_TOO_LARGE`, `KAFKA_UNAVAILABLE`,
   *   `KAFKA_OUTCOME_UNKNOWN`, `KAFKA_FENCED`.
   */
  async deliver(batches: readonly EncodedRecordBatch[], afterRequest?: () => Promise<void>): Promise<void> {
    await this.locate(batches);
    for (const round of roundsOf(batches)) {
      for (const batch of round) this.#stamp(batch);
      await this.#deliverRound(round.map((batch) => ({ batch, unheard: false })));
      await afterRequest?.();
    }
  }

  /**
   * Learns where the batches go; sends none.
   *
   * @throws ServiceError `KAFKA_DESTINATION_NOT_FOUND`, `KAFKA_NOT_AUTHORIZED`, `KAFKA_UNAVAILABLE`.
   */
  async locate(batches: readonly EncodedRecordBatch[]): Promise<void> {
    const topics = [...new Set(batches.map((batch) => batch.topic))];
    for (const topic of topics) {
      try {
        await this.#options.connection.follow([topic]);
      } catch (error) {
        throw isServiceError(error) && error.code === 'KAFKA_TOPIC_NOT_FOUND' ? kafkaNoSuchDestination(topic, error) : error;
      }
    }
    for (const { topic, partition } of batches) {
      const count = this.#options.connection.partitionCount(topic);
      if (partition < 0 || (count > 0 && partition >= count)) throw kafkaNoSuchDestination(topic);
    }
  }

  /**
   * Asks the brokers that lead the batches' partitions which incarnations they serve: each answers for what it stored itself.
   * (Produce goes by topic id from version 13 on only, which brings the transactions of KIP-890 with it.)
   *
   * @throws ServiceError `KAFKA_DESTINATION_REPLACED`, `KAFKA_UNAVAILABLE`.
   */
  async confirm(batches: readonly EncodedRecordBatch[], incarnations: ReadonlyMap<string, string>): Promise<void> {
    const wanted = new Map<number, Set<string>>();
    for (const { topic, partition } of batches) {
      const leader = this.#options.connection.leaderOf(topic, partition);
      if (leader === undefined) throw kafkaUnavailable(`${topic}/${partition} has no leader`);
      wanted.set(leader, (wanted.get(leader) ?? new Set()).add(topic));
    }
    await Promise.all(
      [...wanted].map(async ([leader, topics]) => {
        const { topics: found } = await metadataFrom(await this.#options.connection.broker(leader), [...topics]);
        for (const each of found) confirmTopic(each, incarnations.get(each.topic));
      }),
    );
  }

  #stamp(batch: EncodedRecordBatch): void {
    const key = keyOf(batch);
    const baseSequence = this.#sequences.get(key) ?? 0;
    this.#sequences.set(key, (baseSequence + batch.recordCount) % sequenceLimit);
    stampRecordBatch(batch.bytes, {
      producerId: this.#options.producerId,
      producerEpoch: this.#options.producerEpoch,
      baseSequence,
      transactional: this.#options.transactionalId !== undefined,
    });
  }

  async #deliverRound(deliveries: readonly Delivery[]): Promise<void> {
    const deadline = this.#options.connection.clock.monotonicMs() + this.#options.deliveryTimeoutMs;
    let waiting = deliveries;
    for (let attempt = 0; ; attempt += 1) {
      const failures = await this.#attempt(waiting);
      if (failures.size === 0) return;
      waiting = waiting.filter((delivery) => failures.has(delivery));
      if (this.#options.connection.clock.monotonicMs() >= deadline) throw timedOut(waiting, [...failures.values()][0]);
      await this.#options.connection.pause(movedBackoff, attempt);
      await this.#refreshQuietly([...new Set(waiting.map(({ batch }) => batch.topic))]);
    }
  }

  /** One attempt for all; resolves with those to repeat and why. Throws what no repetition helps. */
  async #attempt(deliveries: readonly Delivery[]): Promise<ReadonlyMap<Delivery, ServiceError>> {
    const failures = new Map<Delivery, ServiceError>();
    const byLeader = new Map<number, Delivery[]>();
    for (const delivery of deliveries) {
      const leader = this.#options.connection.leaderOf(delivery.batch.topic, delivery.batch.partition);
      if (leader === undefined) failures.set(delivery, kafkaUnavailable(`${keyOf(delivery.batch)} has no leader`));
      else byLeader.set(leader, [...(byLeader.get(leader) ?? []), delivery]);
    }
    const results = await Promise.allSettled([...byLeader].map(([leader, owned]) => this.#sendTo(leader, owned, failures)));
    for (const result of results) if (result.status === 'rejected') throw toServiceError(result.reason, 'produce');
    return failures;
  }

  async #sendTo(leader: number, deliveries: readonly Delivery[], failures: Map<Delivery, ServiceError>): Promise<void> {
    let broker;
    try {
      broker = await this.#options.connection.broker(leader);
    } catch (error) {
      for (const delivery of deliveries) failures.set(delivery, toServiceError(error, 'produce'));
      return;
    }
    try {
      const answers = await produceTo(broker, {
        transactionalId: this.#options.transactionalId,
        timeoutMs: this.#options.deliveryTimeoutMs,
        batches: deliveries.map((delivery) => delivery.batch),
      });
      const codes = new Map(answers.map((answer) => [keyOf(answer), answer.errorCode]));
      for (const delivery of deliveries) this.#judge(delivery, codes.get(keyOf(delivery.batch)), failures);
    } catch (error) {
      if (isServiceError(error)) throw error;
      const failure = toServiceError(error, 'produce');
      if (kafkaCodeOf(error) !== undefined) throw failure;
      for (const delivery of deliveries) {
        delivery.unheard = true;
        failures.set(delivery, failure);
      }
    }
  }

  /** Files a partition's answer: stored, to be repeated, or thrown. */
  #judge(delivery: Delivery, code: number | undefined, failures: Map<Delivery, ServiceError>): void {
    const { batch } = delivery;
    if (code === kafkaCode.none || code === kafkaCode.duplicateSequence) return;
    if (code !== undefined) {
      if (isFencing(code)) throw kafkaFenced(this.#options.transactionalId ?? '-');
      if (code === kafkaCode.messageTooLarge || code === kafkaCode.recordListTooLarge) {
        throw kafkaRecordTooLarge(batch.topic, batch.bytes.length);
      }
      if (code === kafkaCode.outOfOrderSequence || code === kafkaCode.unknownProducerId) {
        throw delivery.unheard
          ? kafkaOutcomeUnknown(`${keyOf(batch)}: the broker lost track of the producer (error ${code})`)
          : kafkaUnavailable(`${keyOf(batch)}: the broker lost track of the producer (error ${code})`);
      }
      // Stored, but not by enough replicas: it may stay or vanish.
      if (code === kafkaCode.notEnoughReplicasAfterAppend || code === kafkaCode.requestTimedOut) delivery.unheard = true;
    }
    const error =
      code === undefined ? kafkaUnavailable(`${keyOf(batch)}: no answer`) : answerError(code, `produce to ${keyOf(batch)}`, batch.topic);
    if (error.kind !== 'unavailable' && error.kind !== 'not-found') throw error;
    failures.set(delivery, error);
  }

  async #refreshQuietly(topics: readonly string[]): Promise<void> {
    try {
      await this.#options.connection.refresh(topics);
    } catch (error) {
      // The next attempt meets the same trouble and reports it; a topic that is gone is final.
      if (isServiceError(error, 'not-found')) throw kafkaNoSuchDestination(error.message, error);
      if (!isServiceError(error)) throw error;
    }
  }
}

function confirmTopic({ topic, errorCode, topicId }: TopicMetadata, meant: string | undefined): void {
  if (meant === undefined) return;
  if (errorCode === kafkaCode.unknownTopicOrPartition) throw kafkaDestinationReplaced(topic, { meant, found: undefined });
  if (errorCode !== kafkaCode.none) throw answerError(errorCode, `ask for the id of topic "${topic}"`, topic);
  if (topicId !== noTopicId && topicId !== meant) throw kafkaDestinationReplaced(topic, { meant, found: topicId });
}

function timedOut(waiting: readonly Delivery[], cause: ServiceError | undefined): ServiceError {
  const keys = waiting.map((delivery) => keyOf(delivery.batch)).join(', ');
  return waiting.some((delivery) => delivery.unheard)
    ? kafkaOutcomeUnknown(`no answer in time for the records of ${keys}`, cause)
    : kafkaUnavailable(`the records of ${keys} could not be delivered in time`, cause);
}

/** Cuts the batches into sets with at most one per partition and a bounded size, keeping each partition's order. */
function roundsOf(batches: readonly EncodedRecordBatch[]): readonly (readonly EncodedRecordBatch[])[] {
  const rounds: { readonly keys: Set<string>; bytes: number; readonly batches: EncodedRecordBatch[] }[] = [];
  const firstRoundOf = new Map<string, number>();
  for (const batch of batches) {
    const key = keyOf(batch);
    let index = firstRoundOf.get(key) ?? 0;
    let round = rounds[index];
    while (round !== undefined && (round.keys.has(key) || round.bytes + batch.bytes.length > maxRequestBytes)) {
      index += 1;
      round = rounds[index];
    }
    if (round === undefined) {
      round = { keys: new Set(), bytes: 0, batches: [] };
      rounds.push(round);
    }
    round.keys.add(key);
    round.bytes += batch.bytes.length;
    round.batches.push(batch);
    firstRoundOf.set(key, index + 1);
  }
  return rounds.map((round) => round.batches);
}

function keyOf(at: { readonly topic: string; readonly partition: number }): string {
  return `${at.topic}/${at.partition}`;
}
