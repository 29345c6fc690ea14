import type { Column } from '../../schema/columns.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownBytes } from './growable.ts';
import { finishedBits, Validity } from './validity.ts';

export class BooleanBuilder implements ColumnBuilder {
  readonly #validity = new Validity();
  #bits: Uint8Array = new Uint8Array(0);

  get length(): number {
    return this.#validity.length;
  }

  append(value: boolean): void {
    this.#put(value);
    this.#validity.appendValid();
  }

  appendNull(): void {
    this.#put(false);
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#validity.truncate(length);
  }

  finish(): Column {
    const counted = this.#validity.finish();
    const bits = finishedBits(this.#bits, counted.length);
    this.#bits = new Uint8Array(0);
    return { layout: 'boolean', type: { kind: 'boolean' }, ...counted, bits };
  }

  #put(value: boolean): void {
    const index = this.#validity.length;
    const at = index >> 3;
    if (at >= this.#bits.length) this.#bits = grownBytes(this.#bits, at + 1);
    const mask = 1 << (index & 7);
    const byte = this.#bits[at] ?? 0;
    this.#bits[at] = value ? byte | mask : byte & ~mask;
  }
}
