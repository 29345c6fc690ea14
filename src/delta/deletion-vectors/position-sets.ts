/** The positions of `left` that are not in `right`; both ascend, and so does the result. */
export function positionsWithout(left: BigInt64Array, right: BigInt64Array): BigInt64Array {
  const kept = new BigInt64Array(left.length);
  let count = 0;
  let other = 0;
  for (const position of left) {
    while (other < right.length && (right[other] ?? 0n) < position) other += 1;
    if (other < right.length && right[other] === position) continue;
    kept[count] = position;
    count += 1;
  }
  return kept.subarray(0, count);
}
