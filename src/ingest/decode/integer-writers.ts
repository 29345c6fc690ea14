import type { Column, FixedValues } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { type ExactForm, readExact } from './exact-number.ts';
import { grownInt32 } from './growable.ts';
import { Int64Values } from './int64-values.ts';
import { byteAt, DOT, isExponentMark, MINUS, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { powersOfTen } from './powers-of-ten.ts';
import { Validity } from './validity.ts';

type NarrowType = { readonly kind: 'byte' } | { readonly kind: 'short' } | { readonly kind: 'integer' };
const bitsOf = { byte: 8, short: 16, integer: 32 } as const;
const expectedOf = { byte: 'a byte', short: 'a short', integer: 'an integer' } as const;
// Nine digits always fit 32 bits.
const maxSmallDigits = 9;
const maxLongDigits = 19;

/** byte, short and integer. */
export class IntegerWriter implements ColumnWriter {
  readonly #type: NarrowType;
  readonly #validity = new Validity();
  readonly #min: number;
  readonly #max: number;
  readonly #form: ExactForm;
  #values: Int32Array = new Int32Array(0);
  #expected = 0;

  constructor(type: NarrowType) {
    this.#type = type;
    this.#max = 2 ** (bitsOf[type.kind] - 1) - 1;
    this.#min = -this.#max - 1;
    this.#form = {
      expected: expectedOf[type.kind],
      scale: 0,
      acceptsStrings: false,
      min: BigInt(this.#min),
      max: BigInt(this.#max),
    };
  }

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    const negative = bytes[cursor.pos] === MINUS;
    const first = negative ? cursor.pos + 1 : cursor.pos;
    let pos = first;
    let magnitude = 0;
    while (pos < end) {
      const digit = (bytes[pos] ?? 0) - ZERO;
      if (digit < 0 || digit > 9 || pos - first === maxSmallDigits) break;
      magnitude = (magnitude * 10 + digit) | 0;
      pos += 1;
    }
    const value = negative ? -magnitude : magnitude;
    if (!endsPlainInteger(bytes, first, pos, end) || value < this.#min || value > this.#max) return this.#readExact(cursor);
    cursor.pos = pos;
    this.append(value);
    return true;
  }

  appendNull(): void {
    this.#put(0);
    this.#validity.appendNull();
  }

  /** Appends a value that is in the type's range. */
  append(value: number): void {
    this.#put(value);
    this.#validity.appendValid();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    const values = this.#values.subarray(0, counted.length);
    this.#values = new Int32Array(0);
    this.#expected = counted.length;
    return { layout: 'fixed', type: this.#type, ...counted, values: narrowed(values, this.#type) };
  }

  #readExact(cursor: JsonCursor): boolean {
    const exact = readExact(cursor, this.#form);
    if (exact === undefined) return false;
    this.append(Number(exact));
    return true;
  }

  #put(value: number): void {
    const index = this.#validity.length;
    if (index >= this.#values.length) this.#values = grownInt32(this.#values, Math.max(index + 1, this.#expected));
    this.#values[index] = value;
  }
}

/** long: 64 bits, exact by text. A JSON string that is exactly a number counts. */
export class LongWriter implements ColumnWriter {
  readonly #validity = new Validity();
  readonly #values = new Int64Values();
  readonly #form: ExactForm = { expected: 'a long', scale: 0, acceptsStrings: true, min: -(2n ** 63n), max: 2n ** 63n - 1n };

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    const negative = bytes[cursor.pos] === MINUS;
    const first = negative ? cursor.pos + 1 : cursor.pos;
    let pos = first;
    let head = 0;
    while (pos < end) {
      const digit = (bytes[pos] ?? 0) - ZERO;
      if (digit < 0 || digit > 9 || pos - first === maxSmallDigits) break;
      head = (head * 10 + digit) | 0;
      pos += 1;
    }
    const headEnd = pos;
    let tail = 0;
    if (pos - first === maxSmallDigits) {
      while (pos < end && pos - first < maxLongDigits) {
        const digit = (bytes[pos] ?? 0) - ZERO;
        if (digit < 0 || digit > 9) break;
        tail = tail * 10 + digit;
        pos += 1;
      }
    }
    if (!endsPlainInteger(bytes, first, pos, end)) return this.#readExact(cursor);
    const index = this.#validity.length;
    this.#values.reserve(index);
    if (pos - first <= 15) {
      const magnitude = head * (powersOfTen[pos - headEnd] ?? 1) + tail;
      this.#values.put(index, negative ? -magnitude : magnitude);
    } else if (!this.#values.putProduct(index, head, powersOfTen[pos - headEnd] ?? 1, tail, negative)) {
      return this.#readExact(cursor);
    }
    cursor.pos = pos;
    this.#validity.appendValid();
    return true;
  }

  appendNull(): void {
    this.#values.reserve(this.#validity.length);
    this.#values.put(this.#validity.length, 0);
    this.#validity.appendNull();
  }

  /** Appends a value that is no JSON: a record's offset. It is in the 64-bit range. */
  append(value: bigint): void {
    this.#values.reserve(this.#validity.length);
    this.#values.putBigInt(this.#validity.length, value);
    this.#validity.appendValid();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    return { layout: 'fixed', type: { kind: 'long' }, ...counted, values: this.#values.finish(counted.length) };
  }

  #readExact(cursor: JsonCursor): boolean {
    const exact = readExact(cursor, this.#form);
    if (exact === undefined) return false;
    this.append(exact);
    return true;
  }
}

// True when the digits [first, pos) are a whole JSON number: no fraction, exponent or further digit follows, no leading zero.
function endsPlainInteger(bytes: Uint8Array, first: number, pos: number, end: number): boolean {
  if (pos === first || (pos > first + 1 && bytes[first] === ZERO)) return false;
  const next = byteAt(bytes, pos, end);
  return next !== DOT && !isExponentMark(next) && (next < ZERO || next > 0x39);
}

function narrowed(values: Int32Array, type: NarrowType): FixedValues {
  if (type.kind === 'byte') return Int8Array.from(values);
  return type.kind === 'short' ? Int16Array.from(values) : values;
}
