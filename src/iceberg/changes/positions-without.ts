/** The positions of an ascending list that are not in another one. */
export function positionsWithout(positions: BigInt64Array, others: BigInt64Array): BigInt64Array {
  if (others.length === 0 || positions.length === 0) return positions;
  const kept = new BigInt64Array(positions.length);
  let count = 0;
  let at = 0;
  for (const position of positions) {
    while (at < others.length && (others[at] ?? 0n) < position) at += 1;
    if (at < others.length && others[at] === position) continue;
    kept[count] = position;
    count += 1;
  }
  return kept.subarray(0, count);
}
