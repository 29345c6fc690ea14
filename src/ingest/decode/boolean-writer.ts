import type { Column } from '../../schema/columns.ts';
import type { ColumnWriter } from './column-writer.ts';
import { grownBytes } from './growable.ts';
import type { JsonCursor } from './json-cursor.ts';
import { finishedBits, Validity } from './validity.ts';

/** boolean: `true` and `false` only. */
export class BooleanWriter implements ColumnWriter {
  readonly #validity = new Validity();
  #bits: Uint8Array = new Uint8Array(0);

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    const value = cursor.readBoolean();
    if (value < 0) return false;
    this.#put(value === 1);
    this.#validity.appendValid();
    return true;
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
