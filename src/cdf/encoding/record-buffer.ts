import { serviceError } from '../../base/errors.ts';

const initialCapacityBytes = 4096;
/** Largest text one buffer may hold: far above what any broker takes for one record. */
export const maxRecordBufferBytes: number = 256 * 1024 * 1024;

const maxVarintBytes = 10;
/** Up to here division is that of integers. */
const maxSmall = 0x3fff_ffff;
const scratchBytes = new Uint8Array(8);
// Little-endian, as all machines that Node runs on.
const floatScratch = new Float32Array(scratchBytes.buffer, 0, 1);
const doubleScratch = new Float64Array(scratchBytes.buffer);

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

/** A record's bytes, appended value by value and used again for the next record: no object and no string per row. */
export class RecordBuffer {
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

  /** What was written, as UTF-8. */
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

  /** Bytes `[from, until)` as they are. */
  range(data: Uint8Array, from: number, until: number): void {
    const count = until - from;
    this.#reserve(count);
    if (count > loopCopyBytes) this.#bytes.set(data.subarray(from, until), this.#length);
    else for (let i = from, at = this.#length; i < until; i++) this.#bytes[at++] = data[i] ?? 0;
    this.#length += count;
  }

  /** A non-negative safe integer in groups of seven bits, the lowest first. */
  varint(value: number): void {
    this.#reserve(maxVarintBytes);
    let rest = value;
    while (rest > 0x7fff_ffff) {
      this.#bytes[this.#length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** The 64 bits of a low and a high word in groups of seven, the lowest first. */
  varint64(low: number, high: number): void {
    this.#reserve(maxVarintBytes);
    const bytes = this.#bytes;
    let lower = low >>> 0;
    let upper = high >>> 0;
    while (upper !== 0) {
      bytes[this.#length++] = (lower & 0x7f) | 0x80;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    while (lower > 0x7f) {
      bytes[this.#length++] = (lower & 0x7f) | 0x80;
      lower >>>= 7;
    }
    bytes[this.#length++] = lower;
  }

  /** A 32-bit integer in zigzag: small magnitudes are short. */
  zigzag(value: number): void {
    this.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  /** The 64-bit integer of a low and a high word in zigzag. */
  zigzag64(low: number, high: number): void {
    const sign = high >> 31;
    this.varint64((low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign);
  }

  float(value: number): void {
    floatScratch[0] = value;
    this.range(scratchBytes, 0, 4);
  }

  double(value: number): void {
    doubleScratch[0] = value;
    this.range(scratchBytes, 0, 8);
  }

  /** Begins something that its length in bytes stands in front of; answers what `closeSized` takes. */
  openSized(): number {
    this.byte(0);
    return this.#length;
  }

  /** Ends it. `factor`: 1, or 2 for lengths in zigzag. */
  closeSized(start: number, factor: 1 | 2): void {
    const size = (this.#length - start) * factor;
    const extra = varintBytes(size) - 1;
    const end = this.#length + extra;
    if (extra > 0) {
      this.#reserve(extra);
      this.#bytes.copyWithin(start + extra, start, this.#length);
    }
    this.#length = start - 1;
    this.varint(size);
    this.#length = end;
  }

  #digits(value: number, width: number): void {
    const bytes = this.#bytes;
    const start = this.#length;
    let at = start + width;
    let rest = value;
    for (; rest > maxSmall; rest = Math.floor(rest / 10)) bytes[--at] = 0x30 + (rest % 10);
    for (let small = rest | 0; at > start; small = (small / 10) | 0) bytes[--at] = 0x30 + (small % 10);
    this.#length = start + width;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    // The worst case of a string with escapes is reserved, hence the factor.
    if (needed > maxRecordBufferBytes * 6) {
      throw serviceError.unsupported('CDF_ROW_TOO_LARGE', `a change row needs more than ${maxRecordBufferBytes} bytes`, {
        hint: 'keep values of this size outside of the table, or leave the table without a feed',
      });
    }
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Bytes of a non-negative safe integer in groups of seven bits. */
export function varintBytes(value: number): number {
  let count = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) count++;
  return count;
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
