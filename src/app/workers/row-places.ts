import { present } from '../../base/assert.ts';

/** Where in a task the rows of a decoder are from. */
export class RowPlaces {
  /** By row: the offset of its record in the record batch, from the batch's first. */
  readonly #deltas: number[] = [];
  /** First row of each record batch, ascending. */
  readonly #batches: { readonly firstRow: number; readonly index: number }[] = [];

  /** The rows from now on are of the record batch of that number. */
  startBatch(index: number): void {
    this.#batches.push({ firstRow: this.#deltas.length, index });
  }

  readonly add = (offsetDelta: number): void => {
    this.#deltas.push(offsetDelta);
  };

  /** Forgets all rows behind the first `rowCount`. */
  truncate(rowCount: number): void {
    this.#deltas.length = Math.min(this.#deltas.length, rowCount);
  }

  clear(): void {
    this.#deltas.length = 0;
    this.#batches.length = 0;
  }

  /** What is told of rows, by number of the record batch and offset in it. `told`: ascending. */
  byBatch<Told extends { readonly row: number }>(told: readonly Told[]): ReadonlyMap<number, ReadonlyMap<number, Told>> {
    const found = new Map<number, Map<number, Told>>();
    let at = 0;
    for (const each of told) {
      while ((this.#batches[at + 1]?.firstRow ?? Number.POSITIVE_INFINITY) <= each.row) at += 1;
      const { index } = present(this.#batches[at], 'a row is of a record batch');
      const ofBatch = found.get(index) ?? new Map<number, Told>();
      found.set(index, ofBatch);
      ofBatch.set(present(this.#deltas[each.row], 'a row has a place'), each);
    }
    return found;
  }
}
