const maxComparedLength = 64;

/** The candidate that `name` was probably meant to be, or `undefined` when none is near. Case counts little. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, maxComparedLength);
  const scored = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase().slice(0, maxComparedLength)) }))
    .toSorted((left, right) => left.distance - right.distance);
  const best = scored[0];
  if (best === undefined) return undefined;
  return best.distance <= Math.max(2, Math.floor(wanted.length / 3)) ? best.candidate : undefined;
}

/** How unlike two texts are: insertions, deletions, replacements and swaps of neighbours that turn `left` into `right` (optimal string alignment). */
export function editDistance(left: string, right: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = at(last, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1] ? at(beforeLast, j - 2) + 1 : replaced;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
