import { toEpochMs } from '../../base/clock.ts';
import type { EncodedRecordBatch, KafkaRecord, OutgoingRecord, TopicPartition } from '../client.ts';
import type { Compression } from './compression.ts';
import { RecordBatchBuilder } from './record-batch-builder.ts';
import { RecordCursor, type RecordCursorOptions } from './record-cursor.ts';

/**
 * Encodes records of one partition as one batch. For long runs of records use `RecordBatchBuilder`, which takes byte ranges.
 *
 * @throws ServiceError `KAFKA_COMPRESSION_UNSUPPORTED` for zstd; `ASSERTION_FAILED` without records.
 */
export function encodeRecordBatch(
  batch: TopicPartition & { readonly records: readonly OutgoingRecord[]; readonly compression?: Compression | undefined },
): EncodedRecordBatch {
  const builder = new RecordBatchBuilder({ compression: batch.compression });
  for (const record of batch.records) builder.append(record);
  return { topic: batch.topic, partition: batch.partition, ...builder.finish() };
}

/**
 * Calls `visit` for every record of a batch with one cursor, whose fields hold the record's byte positions until `visit` returns.
 *
 * @throws ServiceError as `RecordCursor`.
 */
export function forEachRecord(batch: Uint8Array, visit: (cursor: RecordCursor) => void, options?: RecordCursorOptions): void {
  const cursor = new RecordCursor(batch, options);
  while (cursor.next()) visit(cursor);
}

/** Decodes a whole batch into objects with bytes of their own: for tools, positions and tests, not for the hot path. */
export function decodeRecords(batch: Uint8Array, at: TopicPartition, options?: RecordCursorOptions): readonly KafkaRecord[] {
  const records: KafkaRecord[] = [];
  forEachRecord(
    batch,
    (cursor) => {
      records.push({
        topic: at.topic,
        partition: at.partition,
        offset: cursor.offset(),
        timestampMs: toEpochMs(cursor.timestampMs),
        key: cursor.key()?.slice(),
        value: cursor.value()?.slice(),
        headers: cursor.headers().map(([name, value]) => [name, value.slice()] as const),
      });
    },
    options,
  );
  return records;
}
