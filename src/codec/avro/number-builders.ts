import type { BooleanColumn, DecimalColumn, FixedColumn, FixedValues } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import type { ByteCursor } from './byte-cursor.ts';
import { type ColumnBuilder, grown, INITIAL_CAPACITY, Validity } from './column-builder.ts';

type NumberValues = Int8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** Values of up to 32 bits, floats and doubles. */
export class NumberBuilder implements ColumnBuilder {
  readonly #type: DataType;
  readonly #allocate: (length: number) => NumberValues;
  readonly #decode: (cursor: ByteCursor) => number;
  readonly #validity = new Validity();
  #values: NumberValues;

  constructor(type: DataType, allocate: (length: number) => NumberValues, decode: (cursor: ByteCursor) => number) {
    this.#type = type;
    this.#allocate = allocate;
    this.#decode = decode;
    this.#values = allocate(INITIAL_CAPACITY);
  }

  read(cursor: ByteCursor): void {
    const index = this.#validity.length;
    if (index === this.#values.length) this.#grow();
    this.#values[index] = this.#decode(cursor);
    this.#validity.valid();
  }

  readNull(): void {
    if (this.#validity.length === this.#values.length) this.#grow();
    this.#validity.null();
  }

  take(): FixedColumn {
    const base = this.#validity.take(this.#type);
    const values: FixedValues = this.#values.subarray(0, base.length);
    this.#values = this.#allocate(Math.max(INITIAL_CAPACITY, base.length));
    return { ...base, layout: 'fixed', values };
  }

  #grow(): void {
    const values = this.#allocate(2 * this.#values.length);
    values.set(this.#values);
    this.#values = values;
  }
}

/** Reads a value and puts its low and high word to `words[index]` and `words[index + 1]`. */
export type StoreLong = (cursor: ByteCursor, words: Int32Array, index: number) => void;

/** Values of 64 bits. */
export class LongBuilder implements ColumnBuilder {
  readonly #type: DataType;
  readonly #store: StoreLong;
  readonly #validity = new Validity();
  #words = new Int32Array(2 * INITIAL_CAPACITY);

  constructor(type: DataType, store: StoreLong) {
    this.#type = type;
    this.#store = store;
  }

  read(cursor: ByteCursor): void {
    const index = 2 * this.#validity.length;
    if (index === this.#words.length) this.#grow();
    this.#store(cursor, this.#words, index);
    this.#validity.valid();
  }

  readNull(): void {
    if (2 * this.#validity.length === this.#words.length) this.#grow();
    this.#validity.null();
  }

  take(): FixedColumn {
    const base = this.#validity.take(this.#type);
    const values = new BigInt64Array(this.#words.buffer, 0, base.length);
    this.#words = new Int32Array(2 * Math.max(INITIAL_CAPACITY, base.length));
    return { ...base, layout: 'fixed', values };
  }

  #grow(): void {
    const words = new Int32Array(2 * this.#words.length);
    words.set(this.#words);
    this.#words = words;
  }
}

export class BooleanBuilder implements ColumnBuilder {
  readonly #type: DataType;
  readonly #validity = new Validity();
  #bits = new Uint8Array(INITIAL_CAPACITY >> 3);

  constructor(type: DataType) {
    this.#type = type;
  }

  read(cursor: ByteCursor): void {
    const index = this.#validity.length;
    if (index >> 3 >= this.#bits.length) this.#bits = grown(this.#bits, 2 * this.#bits.length);
    if (cursor.boolean()) this.#bits[index >> 3] = (this.#bits[index >> 3] ?? 0) | (1 << (index & 7));
    this.#validity.valid();
  }

  readNull(): void {
    const index = this.#validity.length;
    if (index >> 3 >= this.#bits.length) this.#bits = grown(this.#bits, 2 * this.#bits.length);
    this.#validity.null();
  }

  take(): BooleanColumn {
    const base = this.#validity.take(this.#type);
    const bits = this.#bits.subarray(0, (base.length + 7) >> 3);
    this.#bits = new Uint8Array(Math.max(INITIAL_CAPACITY >> 3, bits.length));
    return { ...base, layout: 'boolean', bits };
  }
}

/** Decimals from big-endian two's complement of `size` bytes, or of as many as a length says. */
export class DecimalBuilder implements ColumnBuilder {
  readonly #type: DataType;
  readonly #size: number | undefined;
  readonly #validity = new Validity();
  #bytes = new Uint8Array(decimalBytes * INITIAL_CAPACITY);

  constructor(type: DataType, size: number | undefined) {
    this.#type = type;
    this.#size = size;
  }

  read(cursor: ByteCursor): void {
    const at = decimalBytes * this.#validity.length;
    if (at === this.#bytes.length) this.#bytes = grown(this.#bytes, 2 * at);
    const source = cursor.fixed(this.#size ?? cursor.length());
    const sign = (source[0] ?? 0) > 0x7f ? 0xff : 0;
    const excess = source.length - decimalBytes;
    for (let index = 0; index < excess; index++) if (source[index] !== sign) throw cursor.fail('a decimal has more than 38 digits');
    const size = Math.min(source.length, decimalBytes);
    for (let index = 0; index < size; index++) this.#bytes[at + index] = source[source.length - 1 - index] ?? 0;
    this.#bytes.fill(sign, at + size, at + decimalBytes);
    this.#validity.valid();
  }

  readNull(): void {
    const at = decimalBytes * this.#validity.length;
    if (at === this.#bytes.length) this.#bytes = grown(this.#bytes, 2 * at);
    this.#validity.null();
  }

  take(): DecimalColumn {
    const base = this.#validity.take(this.#type);
    const words = new BigInt64Array(this.#bytes.buffer, 0, 2 * base.length);
    this.#bytes = new Uint8Array(decimalBytes * Math.max(INITIAL_CAPACITY, base.length));
    return { ...base, layout: 'decimal', words };
  }
}

const decimalBytes = 16;
