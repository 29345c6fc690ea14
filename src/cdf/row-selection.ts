import type { ColumnBatch } from '../schema/columns.ts';
import { takeRows } from '../schema/take.ts';
import type { ChangeFile } from '../table/changes.ts';

/** Picks the rows of a file that are changes, batch after batch: without those deleted before, or the only ones that the version concerns. */
export class RowSelection {
  readonly #only: Positions | undefined;
  readonly #deleted: Positions | undefined;
  #first: number;

  /** `first`: the row of the file that the first batch begins with. */
  constructor({ deletedRows, onlyRows }: Pick<ChangeFile, 'deletedRows' | 'onlyRows'>, first = 0) {
    this.#first = first;
    this.#only = onlyRows === undefined ? undefined : new Positions(onlyRows);
    this.#deleted = deletedRows === undefined ? undefined : new Positions(deletedRows);
  }

  /** The rows of the file's next batch that count; the batch itself where all do. */
  of(batch: ColumnBatch): ColumnBatch {
    const first = this.#first;
    this.#first += batch.rowCount;
    if (this.#only === undefined && this.#deleted === undefined) return batch;
    const kept = new Int32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      // Both are asked about every row: they only ever move forward.
      const isDeleted = this.#deleted?.has(first + row) === true;
      if (this.#only?.has(first + row) === false || isDeleted) continue;
      kept[count] = row;
      count++;
    }
    return count === batch.rowCount ? batch : takeRows(batch, kept.subarray(0, count));
  }
}

/** Ascending positions, asked about in ascending order. */
class Positions {
  readonly #positions: BigInt64Array;
  #next = 0;

  constructor(positions: BigInt64Array) {
    this.#positions = positions;
  }

  has(position: number): boolean {
    while (this.#next < this.#positions.length && Number(this.#positions[this.#next]) < position) this.#next++;
    return Number(this.#positions[this.#next] ?? -1n) === position;
  }
}
