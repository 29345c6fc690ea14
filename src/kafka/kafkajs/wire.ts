import { corruptBatch } from '../records/batch-header.ts';

/** How lengths are written. The flexible encoding of newer versions has them as varints, and tagged fields behind each structure. */
export type WireEncoding = 'plain' | 'flexible';

/** Reads the big-endian fields of a broker's answer, one after the other. */
export class WireReader {
  readonly #bytes: Buffer;
  readonly #flexible: boolean;
  #at = 0;

  constructor(bytes: Uint8Array, encoding: WireEncoding = 'plain') {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#flexible = encoding === 'flexible';
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

  /** Empty for null. */
  string(): string {
    const length = this.#flexible ? this.#uvarint() - 1 : this.int16();
    if (length < 0) return '';
    const start = this.#advance(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** A view of length-prefixed bytes; empty for null. */
  bytes(): Uint8Array {
    return this.raw(Math.max(0, this.#length()));
  }

  raw(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Items of an array in their order; none for null. */
  array<T>(item: () => T): readonly T[] {
    const items: T[] = [];
    for (let left = this.#length(); left > 0; left -= 1) items.push(item());
    return items;
  }

  /** Passes over tagged fields, where the encoding has them: none is known to this reader. */
  tags(): void {
    if (!this.#flexible) return;
    for (let left = this.#uvarint(); left > 0; left -= 1) {
      this.#uvarint();
      this.raw(this.#uvarint());
    }
  }

  /** Below zero for null. */
  #length(): number {
    return this.#flexible ? this.#uvarint() - 1 : this.int32();
  }

  #uvarint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes.readUInt8(this.#advance(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
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

/** Up to here a copy costs less than a piece of its own. */
const maxCopiedBytes = 4096;

/** Collects the big-endian fields of a request. */
export class WireWriter {
  readonly encoding: WireEncoding;
  readonly #parts: Uint8Array[] = [];
  #byteLength = 0;

  constructor(encoding: WireEncoding = 'plain') {
    this.encoding = encoding;
    // Those of the request's header, which kafkajs does not write.
    this.tags();
  }

  get byteLength(): number {
    return this.#byteLength;
  }

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
    const part = value === undefined ? undefined : Buffer.from(value);
    const length = part?.length ?? -1;
    if (this.encoding === 'flexible') this.#uvarint(length + 1);
    else this.int16(length);
    return part === undefined ? this : this.raw(part);
  }

  /** Length-prefixed bytes; long ones are not copied. */
  bytes(value: Uint8Array): this {
    return this.#length(value.length).raw(value);
  }

  /** `undefined`: null in the place of an array. */
  array<T>(items: readonly T[] | undefined, write: (item: T) => void): this {
    this.#length(items?.length ?? -1);
    for (const item of items ?? []) write(item);
    return this;
  }

  /** No tagged fields. */
  tags(): this {
    return this.encoding === 'flexible' ? this.int8(0) : this;
  }

  raw(part: Uint8Array): this {
    this.#parts.push(part);
    this.#byteLength += part.length;
    return this;
  }

  /** All that the other collected. */
  append(other: WireWriter): this {
    for (const part of other.#parts) this.raw(part);
    return this;
  }

  /** What was collected, in few pieces. */
  toPieces(): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let short: Uint8Array[] = [];
    for (const part of this.#parts) {
      if (part.length <= maxCopiedBytes) short.push(part);
      else {
        pieces.push(Buffer.concat(short), part);
        short = [];
      }
    }
    return short.length === 0 ? pieces : [...pieces, Buffer.concat(short)];
  }

  #length(length: number): this {
    return this.encoding === 'flexible' ? this.#uvarint(length + 1) : this.int32(length);
  }

  #uvarint(value: number): this {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    return this.raw(Uint8Array.of(...bytes, rest));
  }
}
