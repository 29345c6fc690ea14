import type { Column } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { grownFloat64 } from './growable.ts';
import { byteAt, DOT, isDigit, isExponentMark, MINUS, QUOTE, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { maxExactDigits, powersOfTen } from './powers-of-ten.ts';
import { Validity } from './validity.ts';

type FloatingType = { readonly kind: 'float' } | { readonly kind: 'double' };

/**
 * double, correctly rounded from the text, and float, rounded from that double. The strings "NaN", "Infinity" and "-Infinity" count;
 * a number past the range does not.
 */
export class FloatingWriter implements ColumnWriter {
  readonly #type: FloatingType;
  readonly #validity = new Validity();
  readonly #single: boolean;
  readonly #expectedType: string;
  #values: Float64Array = new Float64Array(0);
  #expected = 0;

  constructor(type: FloatingType) {
    this.#type = type;
    this.#single = type.kind === 'float';
    this.#expectedType = `a ${type.kind}`;
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
    while (pos < end) {
      const digit = (bytes[pos] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) break;
      digits = digits * 10 + digit;
      pos += 1;
    }
    let digitCount = pos - first;
    if (digitCount === 0 || (digitCount > 1 && bytes[first] === ZERO)) return this.#readOther(cursor);
    let value = digits;
    if (byteAt(bytes, pos, end) === DOT) {
      const point = pos;
      pos += 1;
      while (pos < end) {
        const digit = (bytes[pos] ?? 0) - ZERO;
        if (digit < 0 || digit > 9) break;
        digits = digits * 10 + digit;
        pos += 1;
      }
      const fractionDigits = pos - point - 1;
      digitCount += fractionDigits;
      if (fractionDigits === 0 || digitCount > maxExactDigits) return this.#readOther(cursor);
      // Both operands are exact, so the one division rounds correctly.
      value = digits / (powersOfTen[fractionDigits] ?? 1);
    }
    if (digitCount > maxExactDigits || isExponentMark(byteAt(bytes, pos, end))) return this.#readOther(cursor);
    cursor.pos = pos;
    this.#append(negative ? -value : value);
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
    const values = this.#values.subarray(0, counted.length);
    this.#values = new Float64Array(0);
    this.#expected = counted.length;
    return { layout: 'fixed', type: this.#type, ...counted, values: this.#single ? Float32Array.from(values) : values };
  }

  #readOther(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    const byte = byteAt(cursor.bytes, from, cursor.end);
    if (byte === QUOTE) return this.#readNamed(cursor);
    if (byte !== MINUS && !isDigit(byte)) return cursor.wrongType(this.#expectedType);
    if (!cursor.scanNumber()) return false;
    const value = cursor.lexeme.toDouble();
    if (!Number.isFinite(this.#single ? Math.fround(value) : value)) return this.#outOfRange(cursor, from);
    this.#append(value);
    return true;
  }

  #readNamed(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (!cursor.scanString()) return false;
    const value = namedValue(cursor.text, cursor.textStart, cursor.textEnd);
    if (value === undefined) return cursor.fail('wrong-type', `is not ${this.#expectedType}`, from, cursor.pos);
    this.#append(value);
    return true;
  }

  #outOfRange(cursor: JsonCursor, from: number): false {
    return cursor.fail('out-of-range', `does not fit ${this.#expectedType}`, from, cursor.pos);
  }

  #append(value: number): void {
    this.#put(value);
    this.#validity.appendValid();
  }

  #put(value: number): void {
    const index = this.#validity.length;
    if (index >= this.#values.length) this.#values = grownFloat64(this.#values, Math.max(index + 1, this.#expected));
    this.#values[index] = value;
  }
}

const longestName = 9;

function namedValue(text: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > longestName) return undefined;
  switch (String.fromCharCode(...text.subarray(start, end))) {
    case 'NaN':
      return Number.NaN;
    case 'Infinity':
      return Number.POSITIVE_INFINITY;
    case '-Infinity':
      return Number.NEGATIVE_INFINITY;
    default:
      return undefined;
  }
}
