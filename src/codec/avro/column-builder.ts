import type { Column } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import type { DataType } from '../../schema/types.ts';
import type { ByteCursor } from './byte-cursor.ts';

/** Appends one value to a column at a time. */
export interface ColumnBuilder {
  /** Appends the value at the cursor. */
  read(cursor: ByteCursor): void;
  /** Appends a null that the file does not spell: the value around it is null. */
  readNull(): void;
  /** The column since the last call. */
  take(cursor: ByteCursor): Column;
}

/** Values a builder has room for at first. */
export const INITIAL_CAPACITY = 1024;

/** A column that the file does not have: nulls only. */
export class AbsentBuilder implements ColumnBuilder {
  readonly #type: DataType;
  #length = 0;

  constructor(type: DataType) {
    this.#type = type;
  }

  read(): void {
    this.#length++;
  }

  readNull(): void {
    this.#length++;
  }

  take(): Column {
    const column = nullColumn(this.#type, this.#length);
    this.#length = 0;
    return column;
  }
}

/** Counts values and notes which are null. */
export class Validity {
  length = 0;
  #nullCount = 0;
  #bits: Uint8Array | undefined;

  valid(): void {
    if (this.#bits !== undefined) this.#set(this.#bits, this.length);
    this.length++;
  }

  null(): void {
    if (this.#bits === undefined) {
      // Everything so far was valid.
      this.#bits = new Uint8Array(Math.max(INITIAL_CAPACITY >> 3, (this.length >> 3) + 1)).fill(0xff, 0, this.length >> 3);
      for (let index = this.length & ~7; index < this.length; index++) this.#set(this.#bits, index);
    }
    this.#nullCount++;
    this.length++;
  }

  take<Type extends DataType>(type: Type): { type: Type; length: number; nullCount: number; validity: Uint8Array | undefined } {
    const taken = { type, length: this.length, nullCount: this.#nullCount, validity: this.#validity() };
    this.length = 0;
    this.#nullCount = 0;
    this.#bits = undefined;
    return taken;
  }

  #set(bits: Uint8Array, index: number): void {
    const at = index >> 3;
    const room = at < bits.length ? bits : grown(bits, at + 1);
    this.#bits = room;
    room[at] = (room[at] ?? 0) | (1 << (index & 7));
  }

  #validity(): Uint8Array | undefined {
    if (this.#bits === undefined) return undefined;
    const bytes = (this.length + 7) >> 3;
    return (this.#bits.length < bytes ? grown(this.#bits, bytes) : this.#bits).subarray(0, bytes);
  }
}

/** The bytes with room for at least `size`, at least doubled. */
export function grown(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(size, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}
