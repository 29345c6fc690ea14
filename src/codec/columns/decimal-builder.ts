import type { Column } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownInt64 } from './growable.ts';
import { Validity } from './validity.ts';

export type DecimalType = Extract<DataType, { kind: 'decimal' }>;
const twoTo32 = 0x1_0000_0000;

/** decimal(p,s): unscaled values of 128 bits. */
export class DecimalBuilder implements ColumnBuilder {
  readonly type: DecimalType;
  readonly #validity = new Validity();
  /** Two 64-bit words a value, and the same bytes as four 32-bit ones. */
  #words: BigInt64Array = new BigInt64Array(0);
  #halves: Int32Array = new Int32Array(0);
  #expected = 0;

  constructor(type: DecimalType) {
    this.type = type;
  }

  get length(): number {
    return this.#validity.length;
  }

  /** A safe integer of at most as many digits as the type has. */
  append(unscaled: number): void {
    this.#put(unscaled);
    this.#validity.appendValid();
  }

  /** An integer of at most as many digits as the type has. */
  appendBigInt(unscaled: bigint): void {
    const at = this.#validity.length * 2;
    this.#reserve();
    // A 64-bit element keeps the low 64 bits of what is stored.
    this.#words[at] = unscaled;
    this.#words[at + 1] = unscaled >> 64n;
    this.#validity.appendValid();
  }

  appendNull(): void {
    this.#put(0);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    const words = this.#words.subarray(0, counted.length * 2);
    this.#words = new BigInt64Array(0);
    this.#halves = new Int32Array(0);
    this.#expected = counted.length;
    return { layout: 'decimal', type: this.type, ...counted, words };
  }

  #put(unscaled: number): void {
    this.#reserve();
    const at = this.#validity.length * 4;
    const high = Math.floor(unscaled / twoTo32);
    const sign = unscaled < 0 ? -1 : 0;
    this.#halves[at] = unscaled - high * twoTo32;
    this.#halves[at + 1] = high;
    this.#halves[at + 2] = sign;
    this.#halves[at + 3] = sign;
  }

  #reserve(): void {
    const needed = (this.#validity.length + 1) * 2;
    if (needed <= this.#words.length) return;
    this.#words = grownInt64(this.#words, Math.max(needed, this.#expected * 2));
    this.#halves = new Int32Array(this.#words.buffer);
  }
}
