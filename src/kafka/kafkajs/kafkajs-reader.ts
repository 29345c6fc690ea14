import { throwIfAborted } from '../../base/abort.ts';
import type { KafkaRecord } from '../client.ts';
import { kafkaOffsetOutOfRange, kafkaTopicNotFound, kafkaUnavailable } from '../errors.ts';
import { visibleBatches } from '../isolation.ts';
import { decodeRecords } from '../records/record-batch.ts';
import { type FetchAnswer, fetchFrom } from './fetch-request.ts';
import { type KafkaConnection, movedBackoff } from './kafkajs-connection.ts';
import { answerError, isPermanent, kafkaCode, toServiceError } from './kafkajs-errors.ts';

export interface ReadOptions {
  readonly topic: string;
  readonly partition: number;
  readonly from: bigint;
  readonly until: bigint;
  readonly readCommitted?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const maxBytes = 4 * 1024 * 1024;
const maxWaitMs = 100;
const giveUpAfterMs = 30_000;
/** A broker that is just finishing a transaction says "out of range" of an offset it holds: only a repeated answer is believed. */
const doubtedAnswers = 3;

/** Reads a partition without a group. Ends at `until` or where the readable part ends; retries for half a minute, then rejects. */
export async function* readPartition(connection: KafkaConnection, options: ReadOptions): AsyncIterable<KafkaRecord> {
  const readCommitted = options.readCommitted ?? true;
  let at = options.from;
  while (at < options.until) {
    throwIfAborted(options.signal);
    const answer = await fetchOne(connection, options, at);
    const { batches, untilOffset } = visibleBatches(answer.records, readCommitted ? answer.aborted : []);
    for (const batch of batches) {
      for (const record of decodeRecords(batch.bytes, options)) {
        if (record.offset >= at && record.offset < options.until) yield record;
      }
    }
    const end = readCommitted ? answer.lastStableOffset : answer.highWatermark;
    if (untilOffset === undefined || untilOffset <= at) {
      if (at >= end) return;
      throw kafkaUnavailable(`${options.topic}/${options.partition}: nothing at offset ${String(at)} though the end is ${String(end)}`);
    }
    at = untilOffset;
    if (at >= end) return;
  }
}

async function fetchOne(connection: KafkaConnection, options: ReadOptions, at: bigint): Promise<FetchAnswer> {
  const { topic, partition } = options;
  const deadline = connection.clock.monotonicMs() + giveUpAfterMs;
  for (let attempt = 0; ; attempt += 1) {
    throwIfAborted(options.signal);
    let failure;
    try {
      const answer = await fetchOnce(connection, options, at);
      if (answer.errorCode === kafkaCode.none) return answer;
      failure = answerError(answer.errorCode, `read ${topic}/${partition}`, topic);
    } catch (error) {
      failure = toServiceError(error, `read ${topic}/${partition}`, topic);
    }
    const doubted = failure.code === 'KAFKA_OFFSET_OUT_OF_RANGE' && attempt < doubtedAnswers;
    if ((isPermanent(failure) && !doubted) || connection.clock.monotonicMs() >= deadline) throw failure;
    await connection.pause(movedBackoff, attempt, options.signal);
    await connection.refresh().catch((error: unknown) => {
      const refreshing = toServiceError(error, `read ${topic}/${partition}`, topic);
      if (isPermanent(refreshing)) throw refreshing;
    });
  }
}

async function fetchOnce(connection: KafkaConnection, options: ReadOptions, at: bigint): Promise<FetchAnswer> {
  const { topic, partition } = options;
  await connection.follow([topic]);
  if (partition >= connection.partitionCount(topic)) throw kafkaTopicNotFound(topic);
  const leader = connection.leaderOf(topic, partition);
  if (leader === undefined) throw kafkaUnavailable(`${topic}/${partition} has no leader`);
  const answers = await fetchFrom(await connection.broker(leader), {
    targets: [{ topic, partition, offset: at, maxBytes }],
    readCommitted: options.readCommitted ?? true,
    maxBytes,
    maxWaitMs,
  });
  const [answer] = answers;
  if (answer === undefined) throw kafkaUnavailable(`${topic}/${partition}: the broker left the partition out of its answer`);
  if (answer.errorCode === kafkaCode.offsetOutOfRange) {
    throw kafkaOffsetOutOfRange({ topic, partition, offset: at }, { earliest: -1n, latest: answer.highWatermark });
  }
  return answer;
}
