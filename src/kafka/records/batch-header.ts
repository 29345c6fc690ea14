import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { Compression } from './compression.ts';

/** Bytes of a record batch before its records (magic 2). */
export const BATCH_HEADER_BYTES = 61;

/** Where the fields of a record batch lie (KIP-98, message format 2). The CRC covers everything from `attributes` on. */
export const batchField = {
  baseOffset: 0,
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
} as const;

/** Bits of the attributes field above the three of the codec. */
export const batchFlag = { logAppendTime: 0x08, transactional: 0x10, control: 0x20 } as const;

/** The fixed part of a record batch. */
export interface BatchHeader {
  readonly baseOffset: bigint;
  /** Offset of the last record the batch had when it was written; compaction may have removed it since. */
  readonly lastOffset: bigint;
  /** Whole length of the batch, header included. */
  readonly byteLength: number;
  readonly compression: Compression;
  readonly transactional: boolean;
  /** A transaction marker, not data. */
  readonly control: boolean;
  /** All records carry the time at which the broker stored the batch (`maxTimestampMs`). */
  readonly logAppendTime: boolean;
  readonly baseTimestampMs: number;
  readonly maxTimestampMs: number;
  /** -1 when the producer was neither idempotent nor transactional. */
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly recordCount: number;
}

/**
 * Parses the header of the record batch that starts at `at`; the records are not touched and the CRC is not checked.
 *
 * @throws ServiceError `KAFKA_BATCH_CORRUPT` when the bytes end too early or the lengths contradict each other;
 *   `KAFKA_BATCH_UNSUPPORTED` for the message formats before magic 2 and for unknown codecs.
 */
export function readBatchHeader(bytes: Uint8Array, at = 0): BatchHeader {
  if (bytes.length - at < BATCH_HEADER_BYTES) {
    throw corruptBatch(`a record batch header needs ${BATCH_HEADER_BYTES} bytes, ${bytes.length - at} are left`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, BATCH_HEADER_BYTES);
  const baseOffset = view.getBigInt64(batchField.baseOffset);
  const magic = view.getInt8(batchField.magic);
  if (magic !== 2) throw unsupportedMagic(magic, baseOffset);
  const byteLength = wholeLength(view);
  const recordCount = view.getInt32(batchField.recordCount);
  const lastOffsetDelta = view.getInt32(batchField.lastOffsetDelta);
  if (byteLength < BATCH_HEADER_BYTES || byteLength > bytes.length - at) {
    throw corruptBatch(`the record batch at offset ${String(baseOffset)} claims ${byteLength} bytes, ${bytes.length - at} are there`);
  }
  if (recordCount < 0 || lastOffsetDelta < 0) {
    throw corruptBatch(
      `the record batch at offset ${String(baseOffset)} claims ${recordCount} records up to offset delta ${lastOffsetDelta}`,
    );
  }
  const attributes = view.getInt16(batchField.attributes);
  return {
    baseOffset,
    lastOffset: baseOffset + BigInt(lastOffsetDelta),
    byteLength,
    compression: codecOf(attributes & 7, baseOffset),
    transactional: (attributes & batchFlag.transactional) !== 0,
    control: (attributes & batchFlag.control) !== 0,
    logAppendTime: (attributes & batchFlag.logAppendTime) !== 0,
    baseTimestampMs: Number(view.getBigInt64(batchField.baseTimestamp)),
    maxTimestampMs: Number(view.getBigInt64(batchField.maxTimestamp)),
    producerId: view.getBigInt64(batchField.producerId),
    producerEpoch: view.getInt16(batchField.producerEpoch),
    baseSequence: view.getInt32(batchField.baseSequence),
    recordCount,
  };
}

/**
 * Cuts the bytes of a fetch response into its whole record batches, in order, as views. The broker cuts a response at its size
 * limit, so a last batch that is not all there is left out.
 *
 * @throws ServiceError as `readBatchHeader`.
 */
export function splitRecordBatches(bytes: Uint8Array): readonly { readonly header: BatchHeader; readonly bytes: Uint8Array }[] {
  const batches: { readonly header: BatchHeader; readonly bytes: Uint8Array }[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (bytes.length - at >= batchField.magic + 1) {
    const magic = view.getInt8(at + batchField.magic);
    if (magic !== 2) throw unsupportedMagic(magic, view.getBigInt64(at));
    const byteLength = batchField.leaderEpoch + view.getInt32(at + batchField.length);
    if (byteLength < BATCH_HEADER_BYTES) throw corruptBatch(`a record batch claims ${byteLength} bytes, less than its header`);
    if (byteLength > bytes.length - at) break;
    batches.push({ header: readBatchHeader(bytes, at), bytes: bytes.subarray(at, at + byteLength) });
    at += byteLength;
  }
  return batches;
}

/** A record batch whose bytes contradict the format; never retried. */
export function corruptBatch(message: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('KAFKA_BATCH_CORRUPT', message, {
    hint: 'look at the partition with a second consumer; if it fails too, the broker lost data: skip the batch or restore the topic',
    cause,
  });
}

const codecs: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

/** The number of a codec in the attributes field. */
export function codecNumber(compression: Compression): number {
  return codecs.indexOf(compression);
}

function codecOf(code: number, baseOffset: bigint): Compression {
  const compression = codecs[code];
  if (compression !== undefined) return compression;
  throw serviceError.unsupported('KAFKA_BATCH_UNSUPPORTED', `the record batch at offset ${String(baseOffset)} uses unknown codec ${code}`);
}

function wholeLength(view: DataView): number {
  return batchField.leaderEpoch + view.getInt32(batchField.length);
}

function unsupportedMagic(magic: number, baseOffset: bigint): ServiceError {
  return serviceError.unsupported(
    'KAFKA_BATCH_UNSUPPORTED',
    `the batch at offset ${String(baseOffset)} has message format ${magic}, only format 2 is read`,
    { hint: 'rewrite the topic with a producer of Kafka 0.11 or later' },
  );
}
