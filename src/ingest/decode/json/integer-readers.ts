import type { Int32Builder, Int32Type } from '../../../codec/columns/int32-builder.ts';
import type { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { byteAt } from '../bytes.ts';
import { type ExactForm, readExact } from './exact-number.ts';
import { DOT, isExponentMark, MINUS, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';
import { powersOfTen } from './powers-of-ten.ts';

type NarrowType = Exclude<Int32Type['kind'], 'date'>;
const bitsOf = { byte: 8, short: 16, integer: 32 } as const;
const expectedOf = { byte: 'a byte', short: 'a short', integer: 'an integer' } as const;
// Nine digits always fit 32 bits.
const maxSmallDigits = 9;
const maxLongDigits = 19;

/** byte, short and integer. */
export class IntegerReader implements JsonReader {
  readonly column: Int32Builder;
  readonly #min: number;
  readonly #max: number;
  readonly #form: ExactForm;

  constructor(column: Int32Builder, kind: NarrowType) {
    this.column = column;
    this.#max = 2 ** (bitsOf[kind] - 1) - 1;
    this.#min = -this.#max - 1;
    this.#form = {
      expected: expectedOf[kind],
      scale: 0,
      acceptsStrings: false,
      min: BigInt(this.#min),
      max: BigInt(this.#max),
    };
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
    this.column.append(value);
    return true;
  }

  #readExact(cursor: JsonCursor): boolean {
    const exact = readExact(cursor, this.#form);
    if (exact === undefined) return false;
    this.column.append(Number(exact));
    return true;
  }
}

/** long: 64 bits, exact by text. A JSON string that is exactly a number counts. */
export class LongReader implements JsonReader {
  readonly column: Int64Builder;
  readonly #form: ExactForm = { expected: 'a long', scale: 0, acceptsStrings: true, min: -(2n ** 63n), max: 2n ** 63n - 1n };

  constructor(column: Int64Builder) {
    this.column = column;
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
    if (pos - first <= 15) {
      const magnitude = head * (powersOfTen[pos - headEnd] ?? 1) + tail;
      this.column.append(negative ? -magnitude : magnitude);
    } else if (!this.column.appendProduct(head, powersOfTen[pos - headEnd] ?? 1, tail, negative)) {
      return this.#readExact(cursor);
    }
    cursor.pos = pos;
    return true;
  }

  #readExact(cursor: JsonCursor): boolean {
    const exact = readExact(cursor, this.#form);
    if (exact === undefined) return false;
    this.column.appendBigInt(exact);
    return true;
  }
}

// True when the digits [first, pos) are a whole JSON number: no fraction, exponent or further digit follows, no leading zero.
function endsPlainInteger(bytes: Uint8Array, first: number, pos: number, end: number): boolean {
  if (pos === first || (pos > first + 1 && bytes[first] === ZERO)) return false;
  const next = byteAt(bytes, pos, end);
  return next !== DOT && !isExponentMark(next) && (next < ZERO || next > 0x39);
}
