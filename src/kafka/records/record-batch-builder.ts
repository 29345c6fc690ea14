import { assert } from '../../base/assert.ts';
import { BATCH_HEADER_BYTES, batchField, batchFlag, codecNumber } from './batch-header.ts';
import { type Compression, compress } from './compression.ts';
import { crc32c, crc32cReplaced } from './crc32c.ts';

/** Positions of a record's key and value in a byte array of the caller; -1 for null. */
export interface RecordRanges {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Epoch milliseconds. */
  readonly timestampMs: number;
  /** Made by `encodeHeaders`; one value serves any number of records. Default: no headers. */
  readonly headers?: Uint8Array | undefined;
}

export type RecordHeaders = readonly (readonly [name: string, value: Uint8Array])[];

/**
 * Builds record batches: append records, look at `sizeBytes` to decide when a batch is full, `finish`, go on with the next. Reuses
 * its buffer between batches.
 */
export class RecordBatchBuilder {
  readonly #compression: Compression;
  #bytes: Uint8Array = new Uint8Array(initialBytes);
  #at: number = BATCH_HEADER_BYTES;
  #recordCount = 0;
  #baseTimestampMs = 0;
  #maxTimestampMs = 0;

  constructor(options: { readonly compression?: Compression | undefined } = {}) {
    this.#compression = options.compression ?? 'none';
  }

  get recordCount(): number {
    return this.#recordCount;
  }

  /** Length the batch has before compression, header included. */
  get sizeBytes(): number {
    return this.#at;
  }

  /** Appends one record; `undefined` key or value is null. */
  append(record: {
    readonly key?: Uint8Array | undefined;
    readonly value?: Uint8Array | undefined;
    readonly timestampMs: number;
    readonly headers?: RecordHeaders | undefined;
  }): void {
    const headers = record.headers === undefined || record.headers.length === 0 ? noHeaders : encodeHeaders(record.headers);
    const keyLength = record.key === undefined ? -1 : record.key.length;
    const valueLength = record.value === undefined ? -1 : record.value.length;
    this.#begin(keyLength, valueLength, record.timestampMs, headers);
    this.#putVarint(keyLength);
    if (record.key !== undefined) this.#putBytes(record.key, 0, keyLength);
    this.#putVarint(valueLength);
    if (record.value !== undefined) this.#putBytes(record.value, 0, valueLength);
    this.#putBytes(headers, 0, headers.length);
  }

  /** Appends one record whose key and value lie in `source`. Allocates nothing per record. */
  appendRanges(source: Uint8Array, ranges: RecordRanges): void {
    const headers = ranges.headers ?? noHeaders;
    const keyLength = ranges.keyStart < 0 ? -1 : ranges.keyEnd - ranges.keyStart;
    const valueLength = ranges.valueStart < 0 ? -1 : ranges.valueEnd - ranges.valueStart;
    this.#begin(keyLength, valueLength, ranges.timestampMs, headers);
    this.#putVarint(keyLength);
    if (keyLength > 0) this.#putBytes(source, ranges.keyStart, ranges.keyEnd);
    this.#putVarint(valueLength);
    if (valueLength > 0) this.#putBytes(source, ranges.valueStart, ranges.valueEnd);
    this.#putBytes(headers, 0, headers.length);
  }

  /**
   * The batch as bytes of its own, CRC included, base offset 0, without a producer; and starts the next batch. At least one record
   * must have been appended.
   */
  finish(): { readonly bytes: Uint8Array; readonly recordCount: number } {
    assert(this.#recordCount > 0, 'a record batch has records');
    const records = compress(this.#compression, this.#bytes.subarray(BATCH_HEADER_BYTES, this.#at));
    const bytes = new Uint8Array(BATCH_HEADER_BYTES + records.length);
    bytes.set(records, BATCH_HEADER_BYTES);
    const view = new DataView(bytes.buffer);
    view.setInt32(batchField.length, bytes.length - batchField.leaderEpoch);
    view.setInt32(batchField.leaderEpoch, -1);
    view.setInt8(batchField.magic, 2);
    view.setInt16(batchField.attributes, codecNumber(this.#compression));
    view.setInt32(batchField.lastOffsetDelta, this.#recordCount - 1);
    view.setBigInt64(batchField.baseTimestamp, BigInt(this.#baseTimestampMs));
    view.setBigInt64(batchField.maxTimestamp, BigInt(this.#maxTimestampMs));
    view.setBigInt64(batchField.producerId, -1n);
    view.setInt16(batchField.producerEpoch, -1);
    view.setInt32(batchField.baseSequence, -1);
    view.setInt32(batchField.recordCount, this.#recordCount);
    view.setUint32(batchField.crc, crc32c(bytes, batchField.attributes));
    const recordCount = this.#recordCount;
    this.#recordCount = 0;
    this.#at = BATCH_HEADER_BYTES;
    return { bytes, recordCount };
  }

  #begin(keyLength: number, valueLength: number, timestampMs: number, headers: Uint8Array): void {
    if (this.#recordCount === 0) {
      this.#baseTimestampMs = timestampMs;
      this.#maxTimestampMs = timestampMs;
    } else if (timestampMs > this.#maxTimestampMs) {
      this.#maxTimestampMs = timestampMs;
    }
    const timestampDelta = timestampMs - this.#baseTimestampMs;
    const offsetDelta = this.#recordCount;
    const length =
      1 +
      varlongSize(timestampDelta) +
      varintSize(offsetDelta) +
      varintSize(keyLength) +
      Math.max(0, keyLength) +
      varintSize(valueLength) +
      Math.max(0, valueLength) +
      headers.length;
    this.#reserve(length + maxVarintBytes);
    this.#putVarint(length);
    this.#bytes[this.#at] = 0;
    this.#at += 1;
    this.#putVarlong(timestampDelta);
    this.#putVarint(offsetDelta);
    this.#recordCount += 1;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + more));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }

  #putVarint(value: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    while (rest >= 0x80) {
      bytes[at] = (rest & 0x7f) | 0x80;
      at += 1;
      rest >>>= 7;
    }
    bytes[at] = rest;
    this.#at = at + 1;
  }

  #putVarlong(value: number): void {
    if (fitsVarint(value)) {
      this.#putVarint(value);
      return;
    }
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    while (rest >= 0x80) {
      this.#bytes[this.#at] = (rest % 128) | 0x80;
      this.#at += 1;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at] = rest;
    this.#at += 1;
  }

  #putBytes(source: Uint8Array, from: number, until: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    if (until - from > copyLoopBytes) {
      bytes.set(until - from === source.length ? source : source.subarray(from, until), at);
      this.#at = at + until - from;
      return;
    }
    // A loop beats `set`, which needs a view, for short fields.
    for (let index = from; index < until; index += 1) {
      bytes[at] = source[index] ?? 0;
      at += 1;
    }
    this.#at = at;
  }
}

/** Headers in their wire form: count, then name and value with their lengths. */
export function encodeHeaders(headers: RecordHeaders): Uint8Array {
  const parts: Uint8Array[] = [varint(headers.length)];
  for (const [name, value] of headers) {
    const nameBytes = utf8.encode(name);
    parts.push(varint(nameBytes.length), nameBytes, varint(value.length), value);
  }
  return Buffer.concat(parts);
}

/** What a producer adds to a batch. */
export interface ProducerStamp {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  /** Sequence number of the batch's first record; the batch takes as many as it has records. */
  readonly baseSequence: number;
  readonly transactional: boolean;
}

/** Writes the producer's fields into a batch whose CRC is right, in place, and renews it; the records are not looked at. */
export function stampRecordBatch(bytes: Uint8Array, stamp: ProducerStamp): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const before = crc32c(bytes, batchField.attributes, BATCH_HEADER_BYTES);
  const codec = view.getInt16(batchField.attributes) & ~batchFlag.transactional;
  view.setInt16(batchField.attributes, stamp.transactional ? codec | batchFlag.transactional : codec);
  view.setBigInt64(batchField.producerId, stamp.producerId);
  view.setInt16(batchField.producerEpoch, stamp.producerEpoch);
  view.setInt32(batchField.baseSequence, stamp.baseSequence);
  const now = crc32c(bytes, batchField.attributes, BATCH_HEADER_BYTES);
  const crc = crc32cReplaced(view.getUint32(batchField.crc), { before, now, restBytes: bytes.length - BATCH_HEADER_BYTES });
  view.setUint32(batchField.crc, crc);
}

const initialBytes = 64 * 1024;
const maxVarintBytes = 5;
const copyLoopBytes = 64;
const noHeaders = Uint8Array.of(0);
const utf8 = new TextEncoder();

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function varintSize(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 0x80) return 1;
  if (zigzag < 0x4000) return 2;
  if (zigzag < 0x20_0000) return 3;
  return zigzag < 0x1000_0000 ? 4 : 5;
}

function fitsVarint(value: number): boolean {
  return value >= -0x8000_0000 && value <= 0x7fff_ffff;
}

function varlongSize(value: number): number {
  if (fitsVarint(value)) return varintSize(value);
  let size = 1;
  for (let rest = value >= 0 ? value * 2 : -value * 2 - 1; rest >= 0x80; rest = Math.floor(rest / 128)) size += 1;
  return size;
}
