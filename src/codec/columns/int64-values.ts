import { grownInt64 } from './growable.ts';

const twoTo32 = 0x1_0000_0000;
const twoTo16 = 0x1_0000;

/**
 * Signed 64-bit values written as two 32-bit words, so that the hot path makes no `bigint`. Little-endian machines only
 * (`RecordDecoder` checks).
 */
export class Int64Values {
  #values: BigInt64Array = new BigInt64Array(0);
  #words: Int32Array = new Int32Array(0);
  #expected = 0;

  /** Makes room for index `index`; call it before a `put`. */
  reserve(index: number): void {
    if (index < this.#values.length) return;
    this.#values = grownInt64(this.#values, Math.max(index + 1, this.#expected));
    this.#words = new Int32Array(this.#values.buffer);
  }

  /** A safe integer. */
  put(index: number, value: number): void {
    const high = Math.floor(value / twoTo32);
    this.#words[index * 2] = value - high * twoTo32;
    this.#words[index * 2 + 1] = high;
  }

  putWords(index: number, low: number, high: number): void {
    this.#words[index * 2] = low;
    this.#words[index * 2 + 1] = high;
  }

  putBigInt(index: number, value: bigint): void {
    this.#values[index] = value;
  }

  /**
   * Writes `head * factor + tail`, negated when asked; false, with nothing promised about the slot, when it leaves the 64-bit range.
   * |head| is below 2^38 and head * factor below 2^67; factor is at most 10^10; tail is in [0, factor). Positional, so that no object is
   * made a value.
   */
  putProduct(index: number, head: number, factor: number, tail: number, negative: boolean): boolean {
    // head * factor is taken in two halves of head so that every intermediate stays an exact double.
    const headHigh = Math.floor(head / twoTo16);
    const upper = headHigh * factor;
    const upperHigh = Math.floor(upper / twoTo16);
    const lower = (upper - upperHigh * twoTo16) * twoTo16 + (head - headHigh * twoTo16) * factor + tail;
    const carry = Math.floor(lower / twoTo32);
    const low = lower - carry * twoTo32;
    const high = upperHigh + carry;
    if (high > 0x7fff_ffff && !(negative && high === 0x8000_0000 && low === 0)) return false;
    this.#words[index * 2] = negative ? -low : low;
    this.#words[index * 2 + 1] = negative ? (low === 0 ? -high : -1 - high) : high;
    return true;
  }

  /** Hands out the first `length` values and starts anew, expecting as many. */
  finish(length: number): BigInt64Array {
    const values = this.#values.subarray(0, length);
    this.#expected = length;
    this.#values = new BigInt64Array(0);
    this.#words = new Int32Array(0);
    return values;
  }
}
