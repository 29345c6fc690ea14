import { PbfWriter } from 'pbf';

// Numbers below this keep all their bits when they are doubled.
const safeSigned = 2n ** 52n;

/** A protobuf message; absent values are left out. Fields stand in the order of the calls. */
export class MessageWriter {
  readonly #writer = new PbfWriter();

  integer(tag: number, value: number | undefined): this {
    if (value !== undefined) this.#writer.writeVarintField(tag, value);
    return this;
  }

  /** sint64 */
  signed(tag: number, value: bigint | undefined): this {
    if (value === undefined) return this;
    if (value < safeSigned && value > -safeSigned) this.#writer.writeSVarintField(tag, Number(value));
    else this.#large(tag, BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
    return this;
  }

  boolean(tag: number, value: boolean): this {
    this.#writer.writeBooleanField(tag, value);
    return this;
  }

  double(tag: number, value: number | undefined): this {
    if (value !== undefined) this.#writer.writeDoubleField(tag, value);
    return this;
  }

  text(tag: number, value: string | undefined): this {
    if (value !== undefined) this.#writer.writeStringField(tag, value);
    return this;
  }

  bytes(tag: number, value: Uint8Array | undefined): this {
    if (value !== undefined) this.#writer.writeBytesField(tag, value);
    return this;
  }

  /** Packed; nothing for an empty list. */
  integers(tag: number, values: readonly number[]): this {
    this.#writer.writePackedVarint(tag, [...values]);
    return this;
  }

  message(tag: number, value: MessageWriter | undefined): this {
    return this.bytes(tag, value?.finish());
  }

  /** What was written; nothing may be added after. */
  finish(): Uint8Array {
    return this.#writer.finish();
  }

  /** Byte by byte: the library's varints are doubles. */
  #large(tag: number, value: bigint): void {
    const writer = this.#writer;
    writer.writeTag(tag, 0);
    writer.realloc(10);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) writer.buf[writer.pos++] = Number(rest & 0x7fn) | 0x80;
    writer.buf[writer.pos++] = Number(rest);
  }
}
