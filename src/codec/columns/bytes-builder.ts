import type { BytesColumn } from '../../schema/columns.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownBytes, grownInt32 } from './growable.ts';
import { Validity } from './validity.ts';

export type BytesType = BytesColumn['type'];

/**
 * string and binary: values of any length back to back. Who appends reserves room in `data` from `dataLength` on, fills it, and commits the new
 * end. What is appended to a string column is valid UTF-8.
 */
export class BytesBuilder implements ColumnBuilder {
  readonly type: BytesType;
  readonly #validity = new Validity();
  #offsets: Int32Array = new Int32Array(1);
  #data: Uint8Array = new Uint8Array(0);
  #dataLength = 0;
  #expectedBytes = 0;
  #expectedValues = 0;

  constructor(type: BytesType) {
    this.type = type;
  }

  get length(): number {
    return this.#validity.length;
  }

  get dataLength(): number {
    return this.#dataLength;
  }

  /** The data buffer with room for `byteCount` bytes after `dataLength`. */
  reserve(byteCount: number): Uint8Array {
    const needed = this.#dataLength + byteCount;
    if (needed > this.#data.length) this.#data = grownBytes(this.#data, Math.max(needed, this.#expectedBytes));
    return this.#data;
  }

  /** Ends a value at `dataEnd`. */
  commit(dataEnd: number): void {
    this.#close(dataEnd);
    this.#validity.appendValid();
  }

  appendNull(): void {
    this.#close(this.#dataLength);
    this.#validity.appendNull();
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const at = this.#dataLength;
    const data = this.reserve(end - start);
    for (let i = start; i < end; i += 1) data[at + i - start] = bytes[i] ?? 0;
    this.commit(at + end - start);
  }

  /** Whether the last value has no bytes. */
  get lastIsEmpty(): boolean {
    return this.offsetOf(this.length - 1) === this.#dataLength;
  }

  /** Whether the last value has exactly these bytes. */
  lastIs(bytes: Uint8Array): boolean {
    const from = this.offsetOf(this.length - 1);
    if (this.#dataLength - from !== bytes.length) return false;
    for (let i = 0; i < bytes.length; i += 1) if (this.#data[from + i] !== bytes[i]) return false;
    return true;
  }

  /** Where value `index` lies in the data buffer; `index` up to `length`. */
  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
    this.#dataLength = this.offsetOf(length);
  }

  finish(): BytesColumn {
    const counted = this.#validity.finish();
    const offsets = this.#offsets.subarray(0, counted.length + 1);
    const data = this.#data.subarray(0, this.#dataLength);
    this.#expectedBytes = this.#dataLength;
    this.#expectedValues = counted.length;
    this.#offsets = new Int32Array(1);
    this.#data = new Uint8Array(0);
    this.#dataLength = 0;
    return { layout: 'bytes', type: this.type, ...counted, offsets, data };
  }

  #close(dataEnd: number): void {
    const next = this.#validity.length + 1;
    if (next >= this.#offsets.length) this.#offsets = grownInt32(this.#offsets, Math.max(next + 1, this.#expectedValues + 1));
    this.#offsets[next] = dataEnd;
    this.#dataLength = dataEnd;
  }
}
