import { byteAt } from '../bytes.ts';
import { DOT, isDigit, isExponentMark, MINUS, PLUS, ZERO } from './json-bytes.ts';

// Longer than any precision a column has; a value with more significant digits fits none.
const maxSignificantDigits = 40;
// Far past every range, small enough to add to a digit count exactly.
const exponentCeiling = 2 ** 40;

/** The parts of one number in JSON's grammar, and what it denotes, exactly. */
export class NumberLexeme {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;
  #negative = false;
  #digitsStart = 0;
  #digitsEnd = 0;
  /** Index of the decimal point, or of the end of the digits when there is none. */
  #point = 0;
  #exponent = 0;

  /** Reads the longest number at `start`; the index after it, or -1 when there is none. */
  parse(bytes: Uint8Array, start: number, end: number): number {
    this.#bytes = bytes;
    this.#start = start;
    this.#negative = byteAt(bytes, start, end) === MINUS;
    this.#digitsStart = start + (this.#negative ? 1 : 0);
    let pos = skipDigits(bytes, this.#digitsStart, end);
    if (pos === this.#digitsStart) return -1;
    if (bytes[this.#digitsStart] === ZERO && pos > this.#digitsStart + 1) return -1;
    this.#point = pos;
    if (byteAt(bytes, pos, end) === DOT) {
      const until = skipDigits(bytes, pos + 1, end);
      if (until === pos + 1) return -1;
      pos = until;
    }
    this.#digitsEnd = pos;
    this.#exponent = 0;
    if (isExponentMark(byteAt(bytes, pos, end))) pos = this.#parseExponent(pos + 1, end);
    this.#end = pos;
    return pos;
  }

  /** The nearest double; infinite when the number is out of range. */
  toDouble(): number {
    return Number(Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + this.#start, this.#end - this.#start).toString('latin1'));
  }

  /** The number times 10^scale, when that is an integer of at most 40 digits. */
  toUnscaled(scale: number): bigint | undefined {
    let first = this.#digitsStart;
    let last = this.#digitsEnd - 1;
    while (first <= last && isZeroOrPoint(this.#bytes[first])) first += 1;
    while (last >= first && isZeroOrPoint(this.#bytes[last])) last -= 1;
    if (first > last) return 0n;
    const holdsPoint = first < this.#point && this.#point < last;
    const significant = last - first + (holdsPoint ? 0 : 1);
    // Power of ten of the last significant digit.
    const power = last < this.#point ? this.#point - 1 - last : this.#point - last;
    const shift = power + this.#exponent + scale;
    if (shift < 0 || significant + shift > maxSignificantDigits) return undefined;
    let digits = '';
    for (let pos = first; pos <= last; pos += 1) {
      if (pos !== this.#point) digits += String.fromCharCode(this.#bytes[pos] ?? 0);
    }
    const magnitude = BigInt(digits) * 10n ** BigInt(shift);
    return this.#negative ? -magnitude : magnitude;
  }

  #parseExponent(start: number, end: number): number {
    const sign = byteAt(this.#bytes, start, end);
    const first = sign === MINUS || sign === PLUS ? start + 1 : start;
    const until = skipDigits(this.#bytes, first, end);
    if (until === first) return -1;
    let exponent = 0;
    for (let pos = first; pos < until; pos += 1) exponent = Math.min(exponentCeiling, exponent * 10 + (this.#bytes[pos] ?? 0) - ZERO);
    this.#exponent = sign === MINUS ? -exponent : exponent;
    return until;
  }
}

function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let pos = start;
  while (isDigit(byteAt(bytes, pos, end))) pos += 1;
  return pos;
}

function isZeroOrPoint(byte: number | undefined): boolean {
  return byte === ZERO || byte === DOT;
}
