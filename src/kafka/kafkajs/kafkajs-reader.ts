import { throwIfAborted } from '../../base/abort.ts';
import type { ServiceError } from '../../base/errors.ts';
import type { FetchedPartition, KafkaRecord, PartitionOffsets, ReadRange, TopicPartition } from '../client.ts';
import { kafkaOffsetOutOfRange, kafkaTopicNotFound, kafkaTopicReplaced, kafkaUnavailable } from '../errors.ts';
import { visibleBatches } from '../isolation.ts';
import { decodeRecords } from '../records/record-batch.ts';
import { type FetchAnswer, fetchesById, fetchFrom } from './fetch-request.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { answerError, isPermanent, kafkaCode, toServiceError } from './kafkajs-errors.ts';
import { noTopicId } from './metadata-request.ts';

/** How a reader reaches the brokers. */
export interface ReaderRoute {
  readonly connection: KafkaConnection;
  /** Asks for the offsets that a partition holds. */
  readonly heldOffsets: (at: TopicPartition) => Promise<PartitionOffsets>;
}

/** An answer, and the incarnation it was asked of. */
interface PinnedAnswer extends FetchAnswer {
  readonly topicId: string;
}

const maxBytes = 4 * 1024 * 1024;
const maxWaitMs = 100;
const giveUpAfterMs = 30_000;

/** Reads the records of a partition without a group. */
export async function* readPartition(route: ReaderRoute, options: ReadRange): AsyncIterable<KafkaRecord> {
  for await (const { batches, fetchOffset } of readBatches(route, options)) {
    for (const batch of batches) {
      for (const record of decodeRecords(batch.bytes, options)) {
        if (record.offset >= fetchOffset && record.offset < options.until) yield record;
      }
    }
  }
}

/** Reads a partition without a group. Ends at `until` or where the readable part ends; retries for half a minute, then rejects. */
export async function* readBatches(route: ReaderRoute, options: ReadRange): AsyncIterable<FetchedPartition> {
  const { topic, partition, readCommitted = true } = options;
  let at = options.from;
  let pinned = options;
  while (at < options.until) {
    throwIfAborted(options.signal);
    const answer = await fetchOne(route, pinned, at);
    const { topicId } = answer;
    pinned = { ...pinned, topicId };
    const { batches, untilOffset } = visibleBatches(answer.records, readCommitted ? answer.aborted : []);
    const end = readCommitted ? answer.lastStableOffset : answer.highWatermark;
    if (untilOffset === undefined || untilOffset <= at) {
      if (at >= end) return;
      throw kafkaUnavailable(`${topic}/${partition}: nothing at offset ${String(at)} though the end is ${String(end)}`);
    }
    yield { topic, topicId, partition, fetchOffset: at, untilOffset, highWatermark: end, batches };
    at = untilOffset;
    if (at >= end) return;
  }
}

async function fetchOne(route: ReaderRoute, options: ReadRange, at: bigint): Promise<PinnedAnswer> {
  const { connection } = route;
  const { topic, partition } = options;
  const deadline = connection.clock.monotonicMs() + giveUpAfterMs;
  for (let attempt = 0; ; attempt += 1) {
    throwIfAborted(options.signal);
    let failure;
    try {
      const answer = await fetchOnce(connection, options, at);
      if (answer.errorCode === kafkaCode.none) return answer;
      if (answer.errorCode === kafkaCode.offsetOutOfRange) failure = await outOfRange(route, { topic, partition, offset: at });
      else failure = answerError(answer.errorCode, `read ${topic}/${partition}`, topic);
    } catch (error) {
      failure = toServiceError(error, `read ${topic}/${partition}`, topic);
    }
    if (isPermanent(failure) || connection.clock.monotonicMs() >= deadline) throw failure;
    await connection.pause(movedBackoff, attempt, options.signal);
    await connection.refresh([topic]).catch((error: unknown) => {
      const refreshing = toServiceError(error, `read ${topic}/${partition}`, topic);
      if (isPermanent(refreshing)) throw refreshing;
    });
  }
}

async function fetchOnce(connection: KafkaConnection, options: ReadRange, at: bigint): Promise<PinnedAnswer> {
  const { topic, partition } = options;
  await connection.follow([topic]);
  if (partition >= connection.partitionCount(topic)) throw kafkaTopicNotFound(topic);
  const leader = connection.leaderOf(topic, partition);
  if (leader === undefined) throw kafkaUnavailable(`${topic}/${partition} has no leader`);
  const broker = await connection.broker(leader);
  const topicId = connection.topic(topic)?.topicId ?? noTopicId;
  if (options.topicId !== undefined && options.topicId !== topicId) throw kafkaTopicReplaced(topic, options.topicId, topicId);
  const by = topicId !== noTopicId && fetchesById(broker) ? 'id' : 'name';
  const answers = await fetchFrom(broker, by, {
    targets: [{ topic, topicId, partition, offset: at, maxBytes }],
    readCommitted: options.readCommitted ?? true,
    maxBytes,
    maxWaitMs,
  });
  const [answer] = answers;
  if (answer === undefined) throw kafkaUnavailable(`${topic}/${partition}: the broker left the partition out of its answer`);
  return { ...answer, topicId };
}

/** A broker that is just finishing a transaction calls an offset it holds out of range: what it holds decides. */
async function outOfRange(route: ReaderRoute, position: TopicPartition & { readonly offset: bigint }): Promise<ServiceError> {
  const held = await route.heldOffsets(position);
  if (position.offset < held.earliest || position.offset > held.latest) return kafkaOffsetOutOfRange(position, held);
  return kafkaUnavailable(
    `${position.topic}/${position.partition}: the broker refuses offset ${String(position.offset)} though it holds it`,
  );
}
