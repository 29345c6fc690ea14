import { BATCH_HEADER_BYTES, batchField } from './batch-header.ts';
import { crc32c } from './crc32c.ts';

/** Some records of a batch, by their places in its unpacked records. */
export interface RecordSubset {
  /** The batch as it was fetched; its header is taken over. */
  readonly batch: Uint8Array;
  /** What `starts` and `ends` point into, as `RecordCursor.data`. */
  readonly data: Uint8Array;
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** The records, by their numbers, ascending. */
  readonly picks: readonly number[];
}

const codecBits = 7;

/**
 * A batch that has these records alone, not compressed, with the offsets and times they have. Its checksum is 0: whoever made the cursor has compared
 * that of the whole batch, and to make one and compare it again takes a tenth of the way to the table. `withChecksum` is for what leaves the process.
 */
export function recordSubset({ batch, data, starts, ends, picks }: RecordSubset): Uint8Array {
  const length = picks.reduce((sum, pick) => sum + ((ends[pick] ?? 0) - (starts[pick] ?? 0)), BATCH_HEADER_BYTES);
  const bytes = new Uint8Array(length);
  bytes.set(batch.subarray(0, BATCH_HEADER_BYTES));
  let at = BATCH_HEADER_BYTES;
  for (const pick of picks) {
    const record = data.subarray(starts[pick], ends[pick]);
    bytes.set(record, at);
    at += record.length;
  }
  const view = new DataView(bytes.buffer);
  view.setInt32(batchField.length, length - batchField.leaderEpoch);
  view.setInt16(batchField.attributes, view.getInt16(batchField.attributes) & ~codecBits);
  view.setInt32(batchField.recordCount, picks.length);
  view.setUint32(batchField.crc, 0);
  return bytes;
}

/** A copy of the batch with the checksum of its bytes. */
export function withChecksum(batch: Uint8Array): Uint8Array {
  const bytes = batch.slice();
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(batchField.crc, crc32c(bytes, batchField.attributes));
  return bytes;
}
