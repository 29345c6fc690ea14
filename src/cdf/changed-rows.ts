import type { ColumnBatch } from '../schema/columns.ts';
import { takeRows } from '../schema/take.ts';
import type { ChangeFile } from '../table/changes.ts';

/** The rows of a file that are changes: without those deleted before, or the only ones that the version concerns. */
export function changedRows(batches: readonly ColumnBatch[], file: ChangeFile): readonly ColumnBatch[] {
  const { deletedRows, onlyRows } = file;
  if (deletedRows === undefined && onlyRows === undefined) return batches;
  const only = onlyRows === undefined ? undefined : new Positions(onlyRows);
  const deleted = deletedRows === undefined ? undefined : new Positions(deletedRows);
  let first = 0;
  return batches.map((batch) => {
    const kept = new Int32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      const position = first + row;
      // Both are asked about every row: they only ever move forward.
      const isDeleted = deleted?.has(position) === true;
      if (only?.has(position) === false || isDeleted) continue;
      kept[count] = row;
      count++;
    }
    first += batch.rowCount;
    return count === batch.rowCount ? batch : takeRows(batch, kept.subarray(0, count));
  });
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
