import type { Clock } from '../../base/clock.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { EncodedRecordBatch, KafkaClient } from '../../kafka/client.ts';
import { partitionOfKey } from '../../kafka/murmur2.ts';
import { RecordBatchBuilder } from '../../kafka/records/record-batch-builder.ts';
import type { ReplayRecord } from './replay-source.ts';

export interface ReplayOptions {
  readonly kafka: KafkaClient;
  /** Must exist. Nobody else may write to it. */
  readonly topic: string;
  readonly records: readonly ReplayRecord[];
  readonly clock: Clock;
  /** `undefined`: as fast as the broker takes them. */
  readonly recordsPerSecond?: number | undefined;
  /** Ends the replay between two sends; what was sent stays, and the next replay continues behind it. */
  readonly signal: AbortSignal;
  /** Called after each send. */
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined;
}

export interface ReplayProgress {
  /** Records of the source. */
  readonly total: number;
  /** What the topic held before this replay. */
  readonly found: number;
  /** What this replay added. */
  readonly sent: number;
}

const maxSendRecords = 2_000;
const sendIntervalMs = 100;

/**
 * Writes the records, keyed and in order, each once however often the replay is interrupted: a record's partition is that of its key, so the
 * end offset of a partition says how many of its records are there already. Resolves when all are stored, or the signal fired.
 *
 * @throws ServiceError `REPLAY_TOPIC_FOREIGN` (conflict) when a partition holds more than the source would have put there;
 *   `KAFKA_TOPIC_NOT_FOUND`; what the producer throws: call it again, it goes on where the topic ends.
 */
export async function replay(options: ReplayOptions): Promise<ReplayProgress> {
  const { kafka, topic, records, clock, signal } = options;
  const held = new Map((await kafka.admin.offsets(topic)).map(({ partition, latest }) => [partition, Number(latest)]));
  const missing = findMissing(records, held, topic);
  const found = records.length - missing.length;
  const producer = await kafka.producer();
  let sent = 0;
  try {
    const startedAt = clock.monotonicMs();
    while (sent < missing.length && !signal.aborted) {
      const due = dueRecords(clock.monotonicMs() - startedAt, options.recordsPerSecond) - sent;
      const chunk = missing.slice(sent, sent + Math.min(due, maxSendRecords));
      if (chunk.length > 0) {
        await producer.send(encodeChunk(chunk, topic, clock));
        sent += chunk.length;
        options.onProgress?.({ total: records.length, found, sent });
      } else {
        await pause(clock, signal);
      }
    }
  } finally {
    await producer.close();
  }
  return { total: records.length, found, sent };
}

interface PlacedRecord {
  readonly partition: number;
  readonly record: ReplayRecord;
}

/** The records the topic lacks, in order. */
function findMissing(records: readonly ReplayRecord[], held: ReadonlyMap<number, number>, topic: string): readonly PlacedRecord[] {
  const seen = new Map<number, number>();
  const missing: PlacedRecord[] = [];
  for (const record of records) {
    const partition = partitionOfKey(record.key, record.key.length, held.size);
    const ordinal = seen.get(partition) ?? 0;
    seen.set(partition, ordinal + 1);
    if (ordinal >= (held.get(partition) ?? 0)) missing.push({ partition, record });
  }
  for (const [partition, count] of held) {
    const own = seen.get(partition) ?? 0;
    if (count > own) throw foreignTopic(topic, partition, count, own);
  }
  return missing;
}

function dueRecords(elapsedMs: number, recordsPerSecond: number | undefined): number {
  if (recordsPerSecond === undefined) return Number.POSITIVE_INFINITY;
  // Ahead by one interval, so that the first records leave at once and sends come in small groups.
  return Math.floor(((Math.floor(elapsedMs / sendIntervalMs) + 1) * sendIntervalMs * recordsPerSecond) / 1000);
}

function encodeChunk(chunk: readonly PlacedRecord[], topic: string, clock: Clock): readonly EncodedRecordBatch[] {
  const builders = new Map<number, RecordBatchBuilder>();
  const timestampMs = clock.now();
  for (const { partition, record } of chunk) {
    let builder = builders.get(partition);
    if (builder === undefined) {
      builder = new RecordBatchBuilder({ compression: 'gzip' });
      builders.set(partition, builder);
    }
    builder.append({ key: record.key, value: record.value, timestampMs });
  }
  return [...builders].map(([partition, builder]) => ({ topic, partition, ...builder.finish() }));
}

async function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(sendIntervalMs / 2, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function foreignTopic(topic: string, partition: number, held: number, own: number): ServiceError {
  return serviceError.conflict(
    'REPLAY_TOPIC_FOREIGN',
    `topic "${topic}" partition ${partition} holds ${held} records, the sample has ${own} for it`,
    { hint: `the demonstration needs a topic of its own: delete "${topic}", or start without --demo` },
  );
}
