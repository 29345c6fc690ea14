import { isUtf8 } from 'node:buffer';
import { avroCorrupt } from './avro-errors.ts';

/** Values without bytes that any file may have, and any single value that stands for itself. */
const freeItemsOfFile = 2 ** 20;
const freeItemsOfValue = 1024;
/** And so many more for each byte: rows that have some bytes may hold columns that have none. */
const freeItemsOfByte = 4;

/**
 * How many values without bytes (nulls, empty records) may still be read. They cost a file nothing, so their number is limited for all blocks
 * of it together: else a few bytes in each ask for an endless loop.
 */
export class FreeItems {
  #left: number;

  constructor(atFirst: number = freeItemsOfFile) {
    this.#left = atFirst;
  }

  /** Tells of bytes that are read. */
  earn(bytes: number): void {
    this.#left += freeItemsOfByte * bytes;
  }

  /** Whether so many were left. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}

const longScratch = new BigInt64Array(1);
const wordScratch = new Int32Array(longScratch.buffer);

/**
 * Reads Avro's binary encoding from a range of bytes.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` from every read that passes the end or finds an impossible value.
 */
export class ByteCursor {
  #bytes: Buffer;
  /** Over the same bytes. */
  #view: DataView;
  readonly #where: string;
  #at = 0;
  #end: number;
  #freeItems: FreeItems;
  #blockBytes: number | undefined;

  /** `freeItems`: of the file, where the bytes are a part of one. */
  constructor(bytes: Uint8Array, where: string, freeItems: FreeItems = new FreeItems()) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length;
    this.#where = where;
    this.#freeItems = freeItems;
  }

  /** Goes to `[start, end)` of `bytes`, a value of its own. */
  load(bytes: Uint8Array, start: number, end: number): void {
    const held = this.#bytes;
    if (bytes.buffer !== held.buffer || bytes.byteOffset !== held.byteOffset || bytes.length !== held.length) {
      this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.#at = start;
    this.#end = end;
    this.#freeItems = new FreeItems(freeItemsOfValue);
    this.#freeItems.earn(end - start);
  }

  get at(): number {
    return this.#at;
  }

  /** Goes to where it was before. */
  goTo(at: number): void {
    this.#at = at;
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  fail(detail: string): Error {
    return avroCorrupt(this.#where, `${detail} at byte ${this.#at}`);
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined || this.#at >= this.#end) throw this.#ended();
    this.#at++;
    return value;
  }

  boolean(): boolean {
    const value = this.byte();
    if (value > 1) throw this.fail(`${value} is no boolean`);
    return value === 1;
  }

  int(): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80 && this.#at < this.#end) {
      this.#at++;
      return (first >>> 1) ^ -(first & 1);
    }
    this.long64(wordScratch, 0);
    const low = wordScratch[0] ?? 0;
    if (low >> 31 !== wordScratch[1]) throw this.fail('an int has more than 32 bits');
    return low;
  }

  long(): bigint {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80 && this.#at < this.#end) {
      this.#at++;
      return BigInt((first >>> 1) ^ -(first & 1));
    }
    this.long64(wordScratch, 0);
    return longScratch[0] ?? 0n;
  }

  /** Puts the low and the high word of a long to `words[index]` and `words[index + 1]`, which spares making a bigint. */
  long64(words: Int32Array, index: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let byte = bytes[at++] ?? 0;
    let low = byte & 0x7f;
    let high = 0;
    for (let shift = 7; byte > 0x7f && shift < 28; shift += 7) {
      byte = bytes[at++] ?? 0;
      low |= (byte & 0x7f) << shift;
    }
    if (byte > 0x7f) {
      byte = bytes[at++] ?? 0;
      low |= (byte & 0x0f) << 28;
      high = (byte & 0x7f) >> 4;
      for (let shift = 3; byte > 0x7f; shift += 7) {
        if (shift > 31) throw this.fail('a long has more than 64 bits');
        byte = bytes[at++] ?? 0;
        high |= (byte & 0x7f) << shift;
      }
    }
    if (at > this.#end) throw this.#ended();
    this.#at = at;
    const sign = -(low & 1);
    words[index] = ((low >>> 1) | (high << 31)) ^ sign;
    words[index + 1] = (high >>> 1) ^ sign;
  }

  float(): number {
    const from = this.skip(4);
    return this.#view.getFloat32(from, true);
  }

  double(): number {
    const from = this.skip(8);
    return this.#view.getFloat64(from, true);
  }

  /** A view: it keeps the whole block alive. */
  bytes(): Uint8Array {
    return this.fixed(this.length());
  }

  fixed(size: number): Uint8Array {
    const from = this.skip(size);
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + from, size);
  }

  text(): string {
    const size = this.length();
    const from = this.skip(size);
    const text = this.#bytes.toString('utf8', from, from + size);
    // Decoding puts this character for what is no UTF-8; it may also be meant.
    if (text.includes('\uFFFD') && !isUtf8(this.#bytes.subarray(from, from + size))) throw this.fail('a string is not valid UTF-8');
    return text;
  }

  /** A length of bytes that are there. */
  length(): number {
    const first = this.#bytes[this.#at];
    // Of less than 64 bytes, as most are: one byte, even because it is not negative.
    if (first !== undefined && first < 0x80 && (first & 1) === 0) {
      const size = first >>> 1;
      if (size >= this.#end - this.#at) throw this.fail('a length passes the end');
      this.#at++;
      return size;
    }
    this.long64(wordScratch, 0);
    const low = wordScratch[0] ?? 0;
    if (wordScratch[1] !== 0 || low < 0 || low > this.remaining) throw this.fail('a length passes the end');
    return low;
  }

  /**
   * The number of items in the next block of an array or map, 0 at its end. The caller reads them before it asks again.
   * `itemBytes` is the least an item takes.
   */
  blockLength(itemBytes: number): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80 && (first & 1) === 0 && this.#at < this.#end) {
      this.#at++;
      this.#blockBytes = undefined;
      return this.checkCount(first >>> 1, itemBytes);
    }
    this.long64(wordScratch, 0);
    const count = Number(longScratch[0] ?? 0n);
    // A negative count is followed by the bytes of the block.
    this.#blockBytes = count < 0 ? this.length() : undefined;
    return this.checkCount(Math.abs(count), itemBytes);
  }

  /** The bytes of the block that `blockLength` told last, where the file tells them. */
  get blockBytes(): number | undefined {
    return this.#blockBytes;
  }

  /** Refuses a number of items that cannot follow. */
  checkCount(count: number, itemBytes: number): number {
    if (itemBytes > 0) {
      if (count * itemBytes > this.remaining) throw this.fail(`${count} items pass the end`);
    } else {
      this.free(count);
    }
    return count;
  }

  /** Counts values that take no bytes. */
  free(count = 1): void {
    if (!this.#freeItems.take(count)) throw this.fail('the file has too many values without bytes');
  }

  /** The index of a branch of a union that has so many. */
  branch(branches: number): number {
    const index = this.int();
    if (index < 0 || index >= branches) throw this.fail(`a union has no branch ${index}`);
    return index;
  }

  /** Passes over an int or long. */
  skipVarint(): void {
    const bytes = this.#bytes;
    const last = this.#at + maxVarintBytes;
    while ((bytes[this.#at++] ?? 0) > 0x7f) if (this.#at >= last) throw this.fail('a long has more than 64 bits');
    if (this.#at > this.#end) throw this.#ended();
  }

  /** Passes over `size` bytes and tells where they begin. */
  skip(size: number): number {
    if (size === 0) this.free();
    const from = this.#at;
    if (size > this.#end - from) throw this.#ended();
    this.#at = from + size;
    return from;
  }

  /** Copies `size` bytes from `from` to `target`. */
  copy(from: number, size: number, target: Uint8Array, at: number): void {
    const bytes = this.#bytes;
    if (size > loopBytes) bytes.copy(target, at, from, from + size);
    else for (let index = 0; index < size; index++) target[at + index] = bytes[from + index] ?? 0;
  }

  /** `copy` of a string; false when the bytes are no UTF-8. */
  copyText(from: number, size: number, target: Uint8Array, at: number): boolean {
    const bytes = this.#bytes;
    if (size <= loopBytes) {
      let seen = 0;
      for (let index = 0; index < size; index++) {
        const byte = bytes[from + index] ?? 0;
        seen |= byte;
        target[at + index] = byte;
      }
      return seen < 0x80 || isUtf8(bytes.subarray(from, from + size));
    }
    bytes.copy(target, at, from, from + size);
    return isUtf8(bytes.subarray(from, from + size));
  }

  #ended(): Error {
    return avroCorrupt(this.#where, `ends inside of a value at byte ${this.#at}`);
  }
}

const maxVarintBytes = 10;
// Below this a loop beats the call.
const loopBytes = 24;
