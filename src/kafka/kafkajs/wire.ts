import { corruptBatch } from '../records/batch-header.ts';

/** Reads the big-endian fields of a broker's answer, one after the other. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  int64(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8));
  }

  string(): string {
    const length = this.int16();
    return length < 0 ? '' : this.#text(length);
  }

  /** A view of length-prefixed bytes; empty for null. */
  bytes(): Uint8Array {
    return this.raw(Math.max(0, this.int32()));
  }

  raw(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Items of an array in their order; none for null. */
  array<T>(item: () => T): readonly T[] {
    const items: T[] = [];
    for (let left = this.int32(); left > 0; left -= 1) items.push(item());
    return items;
  }

  /** Unsigned varint of the flexible encoding. */
  uvarint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#advance(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }

  /** Compact string; empty for null. */
  compactString(): string {
    const length = this.uvarint() - 1;
    return length <= 0 ? '' : this.#text(length);
  }

  /** A view of compact bytes; empty for null. */
  compactBytes(): Uint8Array {
    return this.raw(Math.max(0, this.uvarint() - 1));
  }

  compactArray<T>(item: () => T): readonly T[] {
    const items: T[] = [];
    for (let left = this.uvarint() - 1; left > 0; left -= 1) items.push(item());
    return items;
  }

  /** Skips tagged fields: none is known to this reader. */
  skipTags(): void {
    for (let left = this.uvarint(); left > 0; left -= 1) {
      this.uvarint();
      this.raw(this.uvarint());
    }
  }

  #text(length: number): string {
    const start = this.#advance(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  #advance(length: number): number {
    const start = this.#at;
    if (length < 0 || start + length > this.#bytes.length) {
      throw corruptBatch(`an answer of the broker ends early: ${this.#bytes.length} bytes, ${start + length} needed`);
    }
    this.#at += length;
    return start;
  }
}

/** Collects the big-endian fields of a request. */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];

  int8(value: number): this {
    return this.raw(Uint8Array.of(value));
  }

  int16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeInt16BE(value);
    return this.raw(part);
  }

  int32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.raw(part);
  }

  int64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.raw(part);
  }

  string(value: string | undefined): this {
    if (value === undefined) return this.int16(-1);
    const part = Buffer.from(value);
    return this.int16(part.length).raw(part);
  }

  /** Length-prefixed bytes; not copied until `toBuffer`. */
  bytes(value: Uint8Array): this {
    return this.int32(value.length).raw(value);
  }

  array<T>(items: readonly T[], write: (item: T) => void): this {
    this.int32(items.length);
    for (const item of items) write(item);
    return this;
  }

  /** Unsigned varint of the flexible encoding. */
  uvarint(value: number): this {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    return this.raw(Uint8Array.of(...bytes, rest));
  }

  compactString(value: string): this {
    const part = Buffer.from(value);
    return this.uvarint(part.length + 1).raw(part);
  }

  compactArray<T>(items: readonly T[], write: (item: T) => void): this {
    this.uvarint(items.length + 1);
    for (const item of items) write(item);
    return this;
  }

  /** No tagged fields. */
  tags(): this {
    return this.int8(0);
  }

  raw(part: Uint8Array): this {
    this.#parts.push(part);
    return this;
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
