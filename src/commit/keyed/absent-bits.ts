import { BooleanBuilder } from '../../codec/columns/boolean-builder.ts';
import type { BytesColumn, Column } from '../../schema/columns.ts';

/** The column that says which others a row leaves as they are: a bit for each of `columns`, no bytes for none. Columns are told by their places. */
export interface AbsentColumn {
  readonly index: number;
  readonly columns: readonly number[];
}

/** What each row leaves as it is. */
export class AbsentBits {
  readonly #column: BytesColumn;

  constructor(column: BytesColumn) {
    this.#column = column;
  }

  get any(): boolean {
    const { offsets, length } = this.#column;
    return (offsets[length] ?? 0) > (offsets[0] ?? 0);
  }

  hasAny(row: number): boolean {
    const { offsets } = this.#column;
    return (offsets[row + 1] ?? 0) > (offsets[row] ?? 0);
  }

  has(row: number, bit: number): boolean {
    const { offsets, data } = this.#column;
    const at = (offsets[row] ?? 0) + (bit >> 3);
    return at < (offsets[row + 1] ?? 0) && ((data[at] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** The bits of these rows in one column, as a column of booleans; `undefined`: none is set. */
  flags(rows: Int32Array, bit: number): Column | undefined {
    if (!rows.some((row) => this.has(row, bit))) return undefined;
    const flags = new BooleanBuilder();
    for (const row of rows) flags.append(this.has(row, bit));
    return flags.finish();
  }

  /** Bits of so many rows, none set. */
  static empty(rowCount: number, columnCount: number): AbsentBitsBuilder {
    return new AbsentBitsBuilder(rowCount, (columnCount + 7) >> 3);
  }
}

/** Bits of rows as they are found out. */
class AbsentBitsBuilder {
  readonly #width: number;
  readonly #bits: Uint8Array;
  readonly #isSet: Uint8Array;

  constructor(rowCount: number, width: number) {
    this.#width = width;
    this.#bits = new Uint8Array(rowCount * width);
    this.#isSet = new Uint8Array(rowCount);
  }

  set(row: number, bit: number): void {
    const at = row * this.#width + (bit >> 3);
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (bit & 7));
    this.#isSet[row] = 1;
  }

  column(): BytesColumn {
    const length = this.#isSet.length;
    const offsets = new Int32Array(length + 1);
    for (let row = 0; row < length; row++) offsets[row + 1] = (offsets[row] ?? 0) + (this.#isSet[row] === 1 ? this.#width : 0);
    const data = new Uint8Array(offsets[length] ?? 0);
    for (let row = 0; row < length; row++)
      if (this.#isSet[row] === 1) data.set(this.#bits.subarray(row * this.#width, (row + 1) * this.#width), offsets[row] ?? 0);
    return { layout: 'bytes', type: { kind: 'binary' }, length, nullCount: 0, validity: undefined, offsets, data };
  }
}
