import type { Column } from '../../schema/columns.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownFloat64 } from './growable.ts';
import { Validity } from './validity.ts';

export type FloatingType = { readonly kind: 'float' } | { readonly kind: 'double' };

/** float and double. What a float column gets is rounded to the nearest float at the end. */
export class FloatingBuilder implements ColumnBuilder {
  readonly type: FloatingType;
  readonly #validity = new Validity();
  #values: Float64Array = new Float64Array(0);
  #expected = 0;

  constructor(type: FloatingType) {
    this.type = type;
  }

  get length(): number {
    return this.#validity.length;
  }

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
    this.#values = new Float64Array(0);
    this.#expected = counted.length;
    return { layout: 'fixed', type: this.type, ...counted, values: this.type.kind === 'float' ? Float32Array.from(values) : values };
  }

  #put(value: number): void {
    const index = this.#validity.length;
    if (index >= this.#values.length) this.#values = grownFloat64(this.#values, Math.max(index + 1, this.#expected));
    this.#values[index] = value;
  }
}
