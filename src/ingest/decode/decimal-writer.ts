import type { Column } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import type { ColumnWriter } from './column-writer.ts';
import { type ExactForm, readExact } from './exact-number.ts';
import { grownInt64 } from './growable.ts';
import { byteAt, DOT, isExponentMark, MINUS, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { maxExactDigits, powersOfTen } from './powers-of-ten.ts';
import { Validity } from './validity.ts';

type DecimalType = Extract<DataType, { kind: 'decimal' }>;
const twoTo32 = 0x1_0000_0000;

/** decimal(p,s): exact by text, from a number or a string that is exactly a number. Digits below the scale must be zeros. */
export class DecimalWriter implements ColumnWriter {
  readonly #type: DecimalType;
  readonly #validity = new Validity();
  readonly #form: ExactForm;
  readonly #limit: number;
  /** Two 64-bit words a value, and the same bytes as four 32-bit ones. */
  #words: BigInt64Array = new BigInt64Array(0);
  #halves: Int32Array = new Int32Array(0);
  #expected = 0;

  constructor(type: DecimalType) {
    this.#type = type;
    const limit = 10n ** BigInt(type.precision);
    this.#form = {
      expected: `a decimal(${type.precision},${type.scale})`,
      scale: type.scale,
      acceptsStrings: true,
      min: 1n - limit,
      max: limit - 1n,
    };
    this.#limit = 10 ** Math.min(type.precision, maxExactDigits);
  }

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    const negative = bytes[cursor.pos] === MINUS;
    const first = negative ? cursor.pos + 1 : cursor.pos;
    let pos = first;
    let digits = 0;
    let point = -1;
    while (pos < end) {
      const byte = bytes[pos] ?? 0;
      const digit = byte - ZERO;
      if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
      else if (byte === DOT && point < 0) point = pos;
      else break;
      pos += 1;
    }
    const integerDigits = (point < 0 ? pos : point) - first;
    const fractionDigits = point < 0 ? 0 : pos - point - 1;
    const missing = this.#type.scale - fractionDigits;
    const plain =
      integerDigits > 0 &&
      (integerDigits === 1 || bytes[first] !== ZERO) &&
      (point < 0 || fractionDigits > 0) &&
      missing >= 0 &&
      integerDigits + this.#type.scale <= maxExactDigits &&
      !isExponentMark(byteAt(bytes, pos, end));
    if (!plain) return this.#readExact(cursor);
    const magnitude = digits * (powersOfTen[missing] ?? 1);
    if (magnitude >= this.#limit) return this.#readExact(cursor);
    cursor.pos = pos;
    this.#put(negative ? -magnitude : magnitude);
    this.#validity.appendValid();
    return true;
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
    return { layout: 'decimal', type: this.#type, ...counted, words };
  }

  #readExact(cursor: JsonCursor): boolean {
    const unscaled = readExact(cursor, this.#form);
    if (unscaled === undefined) return false;
    const at = this.#validity.length * 2;
    this.#reserve();
    // A 64-bit element keeps the low 64 bits of what is stored.
    this.#words[at] = unscaled;
    this.#words[at + 1] = unscaled >> 64n;
    this.#validity.appendValid();
    return true;
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
