import { BATCH_HEADER_BYTES, type BatchHeader, batchField, corruptBatch, readBatchHeader } from './batch-header.ts';
import { DEFAULT_MAX_UNPACKED_BYTES, decompress } from './compression.ts';
import { crc32c } from './crc32c.ts';

export interface RecordCursorOptions {
  /** Limit of the unpacked records in bytes. Default `DEFAULT_MAX_UNPACKED_BYTES` (256 MiB). */
  readonly maxUnpackedBytes?: number | undefined;
  /** Compare the checksum before the first record. Default true. */
  readonly verifyCrc?: boolean | undefined;
}

/**
 * Walks the records of one batch without making an object per record: `next()` moves, then the fields hold byte positions of
 * the current record in `data`. Made for worker threads; everything is synchronous.
 *
 * ```
 * const cursor = new RecordCursor(bytes);
 * while (cursor.next()) {
 *   if (cursor.valueStart >= 0) decode(cursor.data, cursor.valueStart, cursor.valueEnd);
 * }
 * ```
 *
 * The fields are public and writable because a getter per field and record would be paid on the hot path; only `next()` writes them.
 */
export class RecordCursor {
  readonly header: BatchHeader;
  /** What the positions point into: the batch itself when it is not compressed, else its unpacked records. */
  readonly data: Uint8Array;
  /** `[recordStart, recordEnd)` in `data`: all of the current record, its length included. */
  recordStart = 0;
  recordEnd = 0;
  /** Offset of the current record minus `header.baseOffset`. */
  offsetDelta = -1;
  /** Timestamp of the current record, epoch milliseconds. */
  timestampMs = 0;
  /** `[keyStart, keyEnd)` in `data`; both -1 for a null key. */
  keyStart = -1;
  keyEnd = -1;
  /** `[valueStart, valueEnd)` in `data`; both -1 for a null value (a tombstone). */
  valueStart = -1;
  valueEnd = -1;
  headerCount = 0;
  /** `[headersStart, headersEnd)` in `data`: the headers' own encoding, read by `headers()`. */
  headersStart = 0;
  headersEnd = 0;
  #at: number;
  #recordsLeft: number;
  readonly #limit: number;

  /**
   * @param batch one whole record batch, as fetched (bytes after it are ignored).
   * @throws ServiceError `KAFKA_BATCH_CORRUPT`, `KAFKA_BATCH_TOO_LARGE` or `KAFKA_BATCH_UNSUPPORTED`.
   */
  constructor(batch: Uint8Array, options: RecordCursorOptions = {}) {
    this.header = readBatchHeader(batch);
    if (options.verifyCrc !== false) verifyBatchCrc(batch, this.header);
    if (this.header.compression === 'none') {
      // Nothing is unpacked, but what reads the records takes as much for them.
      decompress('none', batch.subarray(BATCH_HEADER_BYTES, this.header.byteLength), options.maxUnpackedBytes ?? Number.POSITIVE_INFINITY);
      this.data = plainView(batch);
      this.#at = BATCH_HEADER_BYTES;
      this.#limit = this.header.byteLength;
    } else {
      const packed = batch.subarray(BATCH_HEADER_BYTES, this.header.byteLength);
      const maxBytes = options.maxUnpackedBytes ?? DEFAULT_MAX_UNPACKED_BYTES;
      // A batch emptied by compaction keeps its header and codec, without records.
      this.data = plainView(this.header.recordCount === 0 ? packed : decompress(this.header.compression, packed, maxBytes));
      this.#at = 0;
      this.#limit = this.header.recordCount === 0 ? 0 : this.data.length;
    }
    this.#recordsLeft = this.header.recordCount;
  }

  /**
   * Moves to the next record; false after the last.
   *
   * @throws ServiceError `KAFKA_BATCH_CORRUPT` when the records contradict the format.
   */
  next(): boolean {
    if (this.#recordsLeft === 0) {
      if (this.#at !== this.#limit) throw this.#corrupt('has bytes after its last record');
      return false;
    }
    this.#recordsLeft -= 1;
    this.recordStart = this.#at;
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#limit) throw this.#corrupt('has a record that passes its end');
    this.#at += 1; // Attributes of a record are unused.
    const timestampDelta = this.#varlong();
    this.timestampMs = this.header.logAppendTime ? this.header.maxTimestampMs : this.header.baseTimestampMs + timestampDelta;
    this.offsetDelta = this.#varint();
    const keyLength = this.#varint();
    if (keyLength < 0) {
      this.keyStart = -1;
      this.keyEnd = -1;
    } else {
      this.keyStart = this.#at;
      this.#at += keyLength;
      this.keyEnd = this.#at;
    }
    const valueLength = this.#varint();
    if (valueLength < 0) {
      this.valueStart = -1;
      this.valueEnd = -1;
    } else {
      this.valueStart = this.#at;
      this.#at += valueLength;
      this.valueEnd = this.#at;
    }
    this.headerCount = this.#varint();
    this.headersStart = this.#at;
    this.headersEnd = end;
    // Every length above only moved forward, so one look at the sum finds any that passed the record's end.
    if (this.#at > end || keyLength < -1 || valueLength < -1 || this.headerCount < 0 || this.offsetDelta < 0) {
      throw this.#corrupt('has a record whose fields pass its end');
    }
    this.#at = end;
    this.recordEnd = end;
    return true;
  }

  /** Offset of the current record. */
  offset(): bigint {
    return this.header.baseOffset + BigInt(this.offsetDelta);
  }

  /** `offset` as an offset delta of this batch, at least 0: records whose `offsetDelta` is below it lie before `offset`. */
  deltaOf(offset: bigint): number {
    return offset <= this.header.baseOffset ? 0 : Number(offset - this.header.baseOffset);
  }

  /** The current key as a view of `data`; `undefined` for null. */
  key(): Uint8Array | undefined {
    return this.keyStart < 0 ? undefined : this.data.subarray(this.keyStart, this.keyEnd);
  }

  /** The current value as a view of `data`; `undefined` for null. */
  value(): Uint8Array | undefined {
    return this.valueStart < 0 ? undefined : this.data.subarray(this.valueStart, this.valueEnd);
  }

  /**
   * The current headers, in order, names may repeat; a null header value reads as empty. Values are views of `data`.
   *
   * @throws ServiceError `KAFKA_BATCH_CORRUPT` when the headers contradict the format.
   */
  headers(): readonly (readonly [name: string, value: Uint8Array])[] {
    if (this.headerCount === 0) return [];
    const headers: (readonly [name: string, value: Uint8Array])[] = [];
    const resumeAt = this.#at;
    this.#at = this.headersStart;
    for (let index = 0; index < this.headerCount; index += 1) {
      const nameLength = this.#varint();
      const nameStart = this.#at;
      this.#at += Math.max(0, nameLength);
      const nameEnd = this.#at;
      const valueLength = Math.max(0, this.#varint());
      const valueStart = this.#at;
      this.#at += valueLength;
      if (nameLength < 0 || this.#at > this.headersEnd) throw this.#corrupt('has headers that pass the end of their record');
      headers.push([utf8.decode(this.data.subarray(nameStart, nameEnd)), this.data.subarray(valueStart, this.#at)]);
    }
    if (this.#at !== this.headersEnd) throw this.#corrupt('has bytes after the headers of a record');
    this.#at = resumeAt;
    return headers;
  }

  /** Zigzag varint of up to 32 bits. Reading past the end yields zeros; the caller compares positions afterwards. */
  #varint(): number {
    const data = this.data;
    let at = this.#at;
    let byte = data[at] ?? 0;
    at += 1;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80 && shift < 35; shift += 7) {
      byte = data[at] ?? 0;
      at += 1;
      value |= (byte & 0x7f) << shift;
    }
    this.#at = at;
    return (value >>> 1) ^ -(value & 1);
  }

  /** Zigzag varint of up to 64 bits as a number: exact up to 2^53, which milliseconds never reach. */
  #varlong(): number {
    const data = this.data;
    let at = this.#at;
    let byte = data[at] ?? 0;
    at += 1;
    let value = byte & 0x7f;
    for (let scale = 128, length = 1; byte >= 0x80 && length < 10; scale *= 128, length += 1) {
      byte = data[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * scale;
    }
    this.#at = at;
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #corrupt(what: string): Error {
    return corruptBatch(`the record batch at offset ${String(this.header.baseOffset)} ${what}`);
  }
}

/**
 * Compares the checksum of a batch.
 *
 * @throws ServiceError `KAFKA_BATCH_CORRUPT` when it differs.
 */
export function verifyBatchCrc(batch: Uint8Array, header: BatchHeader): void {
  const stored = new DataView(batch.buffer, batch.byteOffset, batch.byteLength).getUint32(batchField.crc);
  const computed = crc32c(batch, batchField.attributes, header.byteLength);
  if (stored !== computed) {
    throw corruptBatch(`the record batch at offset ${String(header.baseOffset)} has checksum ${stored}, its bytes give ${computed}`);
  }
}

/** A `Uint8Array` even where a `Buffer` was given: one hidden class keeps the hot path fast, and `slice` copies. */
function plainView(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const utf8 = new TextDecoder();
