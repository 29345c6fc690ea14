import type { ByteSource } from '../streams/byte-source.ts';

/**
 * 64-bit integers as pairs of 32-bit words, low word first: value `i` is `words[2 * i]` and `words[2 * i + 1]`. It is the memory of a
 * `BigInt64Array`, and much faster to compute with than `bigint`.
 */
export type LongWords = Int32Array;

/** The words of an array of longs: the same memory. */
export function wordsOf(longs: BigInt64Array): LongWords {
  return new Int32Array(longs.buffer, longs.byteOffset, 2 * longs.length);
}

const two32 = 2 ** 32;

/** Value `index` as a number: exact up to 2^53. */
export function numberAt(words: LongWords, index: number): number {
  return (words[2 * index + 1] ?? 0) * two32 + ((words[2 * index] ?? 0) >>> 0);
}

/** Value `index`, exact. */
export function longAt(words: LongWords, index: number): bigint {
  return (BigInt(words[2 * index + 1] ?? 0) << 32n) | BigInt((words[2 * index] ?? 0) >>> 0);
}

export function setLong(words: LongWords, index: number, value: bigint): void {
  words[2 * index] = Number(BigInt.asIntN(32, value));
  words[2 * index + 1] = Number(BigInt.asIntN(32, value >> 32n));
}

/** Sets value `index` to an integer within 2^53. */
export function setNumber(words: LongWords, index: number, value: number): void {
  words[2 * index] = value | 0;
  words[2 * index + 1] = Math.floor(value / two32);
}

/** Undoes zigzag in place: 0, 1, 2, 3 become 0, -1, 1, -2. */
export function unzigzag(words: LongWords, from: number, until: number): void {
  for (let at = 2 * from; at < 2 * until; at += 2) {
    const low = words[at] ?? 0;
    const high = words[at + 1] ?? 0;
    const sign = -(low & 1);
    words[at] = ((low >>> 1) | (high << 31)) ^ sign;
    words[at + 1] = (high >>> 1) ^ sign;
  }
}

/** value[target] = value[left] + sign * addend, wrapping; the addend is a pair of words, the sign 1 or -1. */
export function addLong(words: LongWords, target: number, left: number, low: number, high: number): void {
  const sum = ((words[2 * left] ?? 0) >>> 0) + (low >>> 0);
  words[2 * target] = sum | 0;
  words[2 * target + 1] = ((words[2 * left + 1] ?? 0) + high + (sum >= two32 ? 1 : 0)) | 0;
}

const maxVarintBytes = 10;

/** Reads an unsigned varint of at most 64 bits to value `index`. */
export function readVarint(source: ByteSource, words: LongWords, index: number): void {
  let low = 0;
  let high = 0;
  for (let count = 0; ; count++) {
    if (count === maxVarintBytes) throw source.corrupt('a varint has more than ten bytes');
    const byte = source.byte();
    const bits = byte & 0x7f;
    const shift = 7 * count;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high |= bits >>> 4;
    } else high |= bits << (shift - 32);
    if (byte < 0x80) break;
  }
  words[2 * index] = low;
  words[2 * index + 1] = high;
}
