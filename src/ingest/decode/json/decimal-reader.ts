import type { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { byteAt } from '../bytes.ts';
import { type ExactForm, readExact } from './exact-number.ts';
import { DOT, isExponentMark, MINUS, ZERO } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';
import { maxExactDigits, powersOfTen } from './powers-of-ten.ts';

/** decimal(p,s): exact by text, from a number or a string that is exactly a number. Digits below the scale must be zeros. */
export class DecimalReader implements JsonReader {
  readonly column: DecimalBuilder;
  readonly #form: ExactForm;
  readonly #scale: number;
  readonly #limit: number;

  constructor(column: DecimalBuilder) {
    const { type } = column;
    this.column = column;
    this.#scale = type.scale;
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
    const missing = this.#scale - fractionDigits;
    const plain =
      integerDigits > 0 &&
      (integerDigits === 1 || bytes[first] !== ZERO) &&
      (point < 0 || fractionDigits > 0) &&
      missing >= 0 &&
      integerDigits + this.#scale <= maxExactDigits &&
      !isExponentMark(byteAt(bytes, pos, end));
    if (!plain) return this.#readExact(cursor);
    const magnitude = digits * (powersOfTen[missing] ?? 1);
    if (magnitude >= this.#limit) return this.#readExact(cursor);
    cursor.pos = pos;
    this.column.append(negative ? -magnitude : magnitude);
    return true;
  }

  #readExact(cursor: JsonCursor): boolean {
    const unscaled = readExact(cursor, this.#form);
    if (unscaled === undefined) return false;
    this.column.appendBigInt(unscaled);
    return true;
  }
}
