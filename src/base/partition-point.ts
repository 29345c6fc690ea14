/**
 * The first whole number of `[from, until)` that is not before what is looked for; `until` where all are. Binary search.
 *
 * @param isBefore true up to some number, false from there on.
 */
export function partitionPoint(from: number, until: number, isBefore: (index: number) => boolean): number {
  let low = from;
  let high = until;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
