import { serviceError } from '../base/errors.ts';

const initialCapacityBytes = 4096;
/** Largest text one buffer may hold: far above what any broker takes for one record. */
export const maxJsonBufferBytes: number = 256 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const hexDigits = Uint8Array.from(Buffer.from('0123456789abcdef', 'latin1'));
const shortEscapes: ReadonlyMap<number, number> = new Map([
  [0x08, 0x62],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0c, 0x66],
  [0x0d, 0x72],
  [quote, quote],
  [backslash, backslash],
]);
// Below this length a loop beats the call into the engine's copy routine.
const loopCopyBytes = 24;

/** JSON text as bytes, appended value by value and used again for the next record: no object and no string per row. */
export class JsonBuffer {
  #bytes: Uint8Array = new Uint8Array(initialCapacityBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The memory behind the text; valid until the next append. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  clear(): void {
    this.#length = 0;
  }

  /** A copy of what was written. */
  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  text(): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#length).toString('utf8');
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Text of ASCII characters, unquoted. */
  ascii(text: string): void {
    const count = text.length;
    this.#reserve(count);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  chunk(source: Uint8Array): void {
    const count = source.length;
    this.#reserve(count);
    const bytes = this.#bytes;
    if (count > loopCopyBytes) bytes.set(source, this.#length);
    else for (let i = 0, at = this.#length; i < count; i++) bytes[at++] = source[i] ?? 0;
    this.#length += count;
  }

  /** A safe integer in decimal digits. */
  integer(value: number): void {
    this.#reserve(20);
    let rest = value;
    if (rest < 0) {
      this.#bytes[this.#length++] = 0x2d;
      rest = -rest;
    }
    if (rest < 1e9) {
      this.#digits(rest, digitCount(rest));
      return;
    }
    const high = Math.floor(rest / 1e9);
    this.#digits(high, digitCount(high));
    this.#digits(rest - high * 1e9, 9);
  }

  /** `width` digits of a non-negative integer, zeros in front. */
  padded(value: number, width: number): void {
    this.#reserve(width);
    this.#digits(value, width);
  }

  /** UTF-8 bytes `[from, until)` as a quoted JSON string. Multi-byte characters stay as they are. */
  quotedUtf8(data: Uint8Array, from: number, until: number): void {
    // Worst case: each byte becomes a six byte escape.
    this.#reserve((until - from) * 6 + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = from; i < until; i++) {
      const code = data[i] ?? 0;
      if (code >= 0x20 && code !== quote && code !== backslash) bytes[at++] = code;
      else at = escapeInto(bytes, at, code);
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  quotedText(text: string): void {
    const utf8 = Buffer.from(text, 'utf8');
    this.quotedUtf8(utf8, 0, utf8.length);
  }

  #digits(value: number, width: number): void {
    const bytes = this.#bytes;
    let rest = value;
    for (let at = this.#length + width - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      bytes[at] = 0x30 + (rest - tenth * 10);
      rest = tenth;
    }
    this.#length += width;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    // The worst case of a string with escapes is reserved, hence the factor.
    if (needed > maxJsonBufferBytes * 6) {
      throw serviceError.unsupported('CDF_ROW_TOO_LARGE', `a change row needs more than ${maxJsonBufferBytes} bytes of JSON`, {
        hint: 'keep values of this size outside of the table, or leave the table without a feed',
      });
    }
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Decimal digits of a non-negative integer. */
export function digitCount(value: number): number {
  let count = 1;
  for (let limit = 10; value >= limit; limit *= 10) count++;
  return count;
}

function escapeInto(bytes: Uint8Array, start: number, code: number): number {
  let at = start;
  bytes[at++] = backslash;
  const short = shortEscapes.get(code);
  if (short !== undefined) {
    bytes[at++] = short;
    return at;
  }
  bytes[at++] = 0x75;
  bytes[at++] = 0x30;
  bytes[at++] = 0x30;
  bytes[at++] = hexDigits[code >> 4] ?? 0x30;
  bytes[at++] = hexDigits[code & 15] ?? 0x30;
  return at;
}
