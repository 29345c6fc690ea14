import type { Column, FixedValues } from '../../schema/columns.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownInt32 } from './growable.ts';
import { Validity } from './validity.ts';

export type Int32Type = { readonly kind: 'byte' } | { readonly kind: 'short' } | { readonly kind: 'integer' } | { readonly kind: 'date' };

/** byte, short, integer and date: values of at most 32 bits. */
export class Int32Builder implements ColumnBuilder {
  readonly type: Int32Type;
  readonly #validity = new Validity();
  #values: Int32Array = new Int32Array(0);
  #expected = 0;

  constructor(type: Int32Type) {
    this.type = type;
  }

  get length(): number {
    return this.#validity.length;
  }

  /** A value in the type's range. */
  append(value: number): void {
    this.#put(value);
    this.#validity.appendValid();
  }

  appendNull(): void {
    this.#put(0);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    const values = this.#values.subarray(0, counted.length);
    this.#values = new Int32Array(0);
    this.#expected = counted.length;
    return { layout: 'fixed', type: this.type, ...counted, values: narrowed(values, this.type) };
  }

  #put(value: number): void {
    const index = this.#validity.length;
    if (index >= this.#values.length) this.#values = grownInt32(this.#values, Math.max(index + 1, this.#expected));
    this.#values[index] = value;
  }
}

function narrowed(values: Int32Array, { kind }: Int32Type): FixedValues {
  if (kind === 'byte') return Int8Array.from(values);
  return kind === 'short' ? Int16Array.from(values) : values;
}
