import type { Column } from '../../schema/columns.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { Int64Values } from './int64-values.ts';
import { Validity } from './validity.ts';

export interface Int64Type {
  readonly kind: 'long' | 'timestamp' | 'timestamp_ntz' | 'time' | 'timestamp_ns' | 'timestamp_ntz_ns';
}

/** long, and the times that are counted in 64 bits. */
export class Int64Builder implements ColumnBuilder {
  readonly type: Int64Type;
  readonly #validity = new Validity();
  readonly #values = new Int64Values();

  constructor(type: Int64Type) {
    this.type = type;
  }

  get length(): number {
    return this.#validity.length;
  }

  /** A safe integer. */
  append(value: number): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.put(index, value);
    this.#validity.appendValid();
  }

  /** A value in the 64-bit range. */
  appendBigInt(value: bigint): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.putBigInt(index, value);
    this.#validity.appendValid();
  }

  /** Two halves of 32 bits. */
  appendWords(low: number, high: number): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.putWords(index, low, high);
    this.#validity.appendValid();
  }

  /** `head * factor + tail`, as `Int64Values.putProduct` takes it; false, and nothing appended, when it leaves the 64-bit range. */
  appendProduct(head: number, factor: number, tail: number, negative: boolean): boolean {
    const index = this.#validity.length;
    this.#values.reserve(index);
    if (!this.#values.putProduct(index, head, factor, tail, negative)) return false;
    this.#validity.appendValid();
    return true;
  }

  appendNull(): void {
    const index = this.#validity.length;
    this.#values.reserve(index);
    this.#values.put(index, 0);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    return { layout: 'fixed', type: this.type, ...counted, values: this.#values.finish(counted.length) };
  }
}
