import { isUtf8 } from 'node:buffer';
import { assert } from '../../base/assert.ts';
import type { BytesColumn } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import type { ByteCursor } from './byte-cursor.ts';
import { type ColumnBuilder, grown, INITIAL_CAPACITY, Validity } from './column-builder.ts';

/** What strings and binaries of a column are made of. */
export interface BytesForm {
  /** Bytes of each value; `undefined` when a length is before them. */
  readonly size: number | undefined;
  /** Makes the stored bytes what the column holds, for values that are stored in another form. */
  readonly convert?: ((bytes: Uint8Array) => Uint8Array) | undefined;
}

/** Strings and binaries. */
export class BytesBuilder implements ColumnBuilder {
  readonly #type: DataType;
  readonly #form: BytesForm;
  readonly #validity = new Validity();
  #offsets = new Int32Array(INITIAL_CAPACITY);
  #data = new Uint8Array(16 * INITIAL_CAPACITY);
  #end = 0;

  constructor(type: DataType, form: BytesForm) {
    this.#type = type;
    this.#form = form;
  }

  read(cursor: ByteCursor): void {
    const size = this.#form.size ?? cursor.length();
    if (this.#form.convert !== undefined) {
      const bytes = this.#form.convert(cursor.fixed(size));
      this.#room(bytes.length, cursor);
      this.#data.set(bytes, this.#end);
      this.#end += bytes.length;
    } else {
      const from = cursor.skip(size);
      this.#room(size, cursor);
      cursor.copy(from, size, this.#data, this.#end);
      this.#end += size;
    }
    this.#validity.valid();
    this.#endValue();
  }

  readNull(): void {
    this.#validity.null();
    this.#endValue();
  }

  take(cursor: ByteCursor): BytesColumn {
    const base = this.#validity.take(this.#type);
    const offsets = this.#offsets.subarray(0, base.length + 1);
    const data = this.#data.subarray(0, this.#end);
    if (this.#type.kind === 'string' && !areTexts(data, offsets)) throw cursor.fail('a string is not valid UTF-8, before');
    this.#offsets = new Int32Array(Math.max(INITIAL_CAPACITY, base.length + 1));
    this.#data = new Uint8Array(Math.max(16 * INITIAL_CAPACITY, this.#end));
    this.#end = 0;
    return { ...base, layout: 'bytes', offsets, data };
  }

  #endValue(): void {
    const index = this.#validity.length;
    if (index >= this.#offsets.length) {
      const offsets = new Int32Array(2 * this.#offsets.length);
      offsets.set(this.#offsets);
      this.#offsets = offsets;
    }
    this.#offsets[index] = this.#end;
  }

  #room(size: number, cursor: ByteCursor): void {
    const wanted = this.#end + size;
    if (wanted <= this.#data.length) return;
    if (wanted > maxDataBytes) throw cursor.fail(`a batch of more than ${maxDataBytes} bytes in one column`);
    this.#data = grown(this.#data, wanted);
  }
}

const maxDataBytes = 2 ** 31 - 1;

/** Valid as a whole, and no value begins inside of a character. */
function areTexts(data: Uint8Array, offsets: Int32Array): boolean {
  if (!isUtf8(data)) return false;
  return offsets.every((offset) => ((data[offset] ?? 0) & 0xc0) !== 0x80);
}

/** Where the elements of each list or map end. */
export class OffsetsBuilder {
  readonly #validity = new Validity();
  #offsets = new Int32Array(INITIAL_CAPACITY);
  #end = 0;

  /** Ends a value of `count` elements. */
  valid(count: number): void {
    this.#validity.valid();
    this.#endValue(count);
  }

  null(): void {
    this.#validity.null();
    this.#endValue(0);
  }

  take<Type extends DataType>(
    type: Type,
  ): { type: Type; length: number; nullCount: number; validity: Uint8Array | undefined; offsets: Int32Array } {
    const base = this.#validity.take(type);
    const offsets = this.#offsets.subarray(0, base.length + 1);
    this.#offsets = new Int32Array(Math.max(INITIAL_CAPACITY, base.length + 1));
    this.#end = 0;
    return { ...base, offsets };
  }

  #endValue(count: number): void {
    const index = this.#validity.length;
    if (index >= this.#offsets.length) {
      const offsets = new Int32Array(2 * this.#offsets.length);
      offsets.set(this.#offsets);
      this.#offsets = offsets;
    }
    this.#end += count;
    assert(this.#end <= maxDataBytes, 'a batch has more elements than an offset can hold');
    this.#offsets[index] = this.#end;
  }
}
