import type { BooleanBuilder } from '../columns/boolean-builder.ts';
import type { BytesBuilder } from '../columns/bytes-builder.ts';
import type { DecimalBuilder } from '../columns/decimal-builder.ts';
import type { FloatingBuilder } from '../columns/floating-builder.ts';
import type { Int32Builder } from '../columns/int32-builder.ts';
import type { Int64Builder } from '../columns/int64-builder.ts';
import type { AvroReader } from './avro-reader.ts';
import type { ByteCursor } from './byte-cursor.ts';

type DecodeNumber = (cursor: ByteCursor) => number;

/** Values that a number holds exactly: of 32 bits, floats and doubles. */
export class NumberReader implements AvroReader {
  readonly column: Int32Builder | FloatingBuilder;
  readonly #decode: DecodeNumber;

  constructor(column: Int32Builder | FloatingBuilder, decode: DecodeNumber) {
    this.column = column;
    this.#decode = decode;
  }

  read(cursor: ByteCursor): void {
    this.column.append(this.#decode(cursor));
  }
}

/** Reads a value and puts its low and high word to `words[index]` and `words[index + 1]`. */
export type StoreLong = (cursor: ByteCursor, words: Int32Array, index: number) => void;

const words = new Int32Array(2);

/** Values of 64 bits. */
export class LongReader implements AvroReader {
  readonly column: Int64Builder;
  readonly #store: StoreLong;

  constructor(column: Int64Builder, store: StoreLong) {
    this.column = column;
    this.#store = store;
  }

  read(cursor: ByteCursor): void {
    this.#store(cursor, words, 0);
    this.column.appendWords(words[0] ?? 0, words[1] ?? 0);
  }
}

export class BooleanReader implements AvroReader {
  readonly column: BooleanBuilder;

  constructor(column: BooleanBuilder) {
    this.column = column;
  }

  read(cursor: ByteCursor): void {
    this.column.append(cursor.boolean());
  }
}

/** Decimals from big-endian two's complement of `size` bytes, or of as many as a length says. */
export class DecimalReader implements AvroReader {
  readonly column: DecimalBuilder;
  readonly #size: number | undefined;

  constructor(column: DecimalBuilder, size: number | undefined) {
    this.column = column;
    this.#size = size;
  }

  read(cursor: ByteCursor): void {
    const size = this.#size ?? cursor.length();
    const source = cursor.fixed(size);
    const unscaled = size <= safeBytes ? smallInteger(source) : largeInteger(source);
    if (unscaled === undefined) throw cursor.fail('a decimal has more than 38 digits');
    if (typeof unscaled === 'number') this.column.append(unscaled);
    else this.column.appendBigInt(unscaled);
  }
}

// So many bytes are a safe integer.
const safeBytes = 6;
const decimalBytes = 16;

/** Big-endian two's complement of at most `safeBytes` bytes. */
export function smallInteger(bytes: Uint8Array): number {
  let value = (bytes[0] ?? 0) > 0x7f ? -1 : 0;
  for (const byte of bytes) value = value * 256 + byte;
  return value;
}

/** Big-endian two's complement; `undefined` when it takes more than 16 bytes. */
export function largeInteger(bytes: Uint8Array): bigint | undefined {
  const sign = (bytes[0] ?? 0) > 0x7f ? 0xff : 0;
  const excess = bytes.length - decimalBytes;
  for (let index = 0; index < excess; index += 1) if (bytes[index] !== sign) return undefined;
  const hex = Buffer.from(bytes.subarray(Math.max(0, excess))).toString('hex');
  return BigInt.asIntN(Math.min(bytes.length, decimalBytes) * 8, BigInt(`0x${hex}`));
}

/** Strings. */
export class TextReader implements AvroReader {
  readonly column: BytesBuilder;

  constructor(column: BytesBuilder) {
    this.column = column;
  }

  read(cursor: ByteCursor): void {
    const { column } = this;
    const size = cursor.length();
    const from = cursor.skip(size);
    const data = column.reserve(size);
    const at = column.dataLength;
    if (!cursor.copyText(from, size, data, at)) throw cursor.fail('a string is not valid UTF-8, before');
    column.commit(at + size);
  }
}

/** Bytes of `size`, or of as many as a length says. */
export class BytesReader implements AvroReader {
  readonly column: BytesBuilder;
  readonly #size: number | undefined;

  constructor(column: BytesBuilder, size: number | undefined) {
    this.column = column;
    this.#size = size;
  }

  read(cursor: ByteCursor): void {
    const { column } = this;
    const size = this.#size ?? cursor.length();
    const from = cursor.skip(size);
    const data = column.reserve(size);
    const at = column.dataLength;
    cursor.copy(from, size, data, at);
    column.commit(at + size);
  }
}

/** Values that the column holds in another form than the file. */
export class ConvertedReader implements AvroReader {
  readonly column: BytesBuilder;
  readonly #convert: (cursor: ByteCursor) => Uint8Array;

  constructor(column: BytesBuilder, convert: (cursor: ByteCursor) => Uint8Array) {
    this.column = column;
    this.#convert = convert;
  }

  read(cursor: ByteCursor): void {
    const bytes = this.#convert(cursor);
    this.column.append(bytes, 0, bytes.length);
  }
}
