import type { FloatingBuilder } from '../../../codec/columns/floating-builder.ts';
import { byteAt } from '../bytes.ts';
import { DOT, isDigit, isExponentMark, MINUS, QUOTE, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';
import { maxExactDigits, powersOfTen } from './powers-of-ten.ts';

/**
 * double, correctly rounded from the text, and float, rounded from that double. The strings "NaN", "Infinity" and "-Infinity" count;
 * a number past the range does not.
 */
export class FloatingReader implements JsonReader {
  readonly column: FloatingBuilder;
  readonly #single: boolean;
  readonly #expectedType: string;

  constructor(column: FloatingBuilder) {
    this.column = column;
    this.#single = column.type.kind === 'float';
    this.#expectedType = `a ${column.type.kind}`;
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
    this.column.append(negative ? -value : value);
    return true;
  }

  #readOther(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    const byte = byteAt(cursor.bytes, from, cursor.end);
    if (byte === QUOTE) return this.#readNamed(cursor);
    if (byte !== MINUS && !isDigit(byte)) return cursor.wrongType(this.#expectedType);
    if (!cursor.scanNumber()) return false;
    const value = cursor.lexeme.toDouble();
    if (!Number.isFinite(this.#single ? Math.fround(value) : value)) return this.#outOfRange(cursor, from);
    this.column.append(value);
    return true;
  }

  #readNamed(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (!cursor.scanString()) return false;
    const value = namedValue(cursor.text, cursor.textStart, cursor.textEnd);
    if (value === undefined) return cursor.fail('wrong-type', `is not ${this.#expectedType}`, from, cursor.pos);
    this.column.append(value);
    return true;
  }

  #outOfRange(cursor: JsonCursor, from: number): false {
    return cursor.fail('out-of-range', `does not fit ${this.#expectedType}`, from, cursor.pos);
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
