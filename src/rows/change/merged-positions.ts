/** All positions of the lists, once each, ascending. A list alone that is so already is given back as it is. */
export function mergedPositions(lists: readonly BigInt64Array[]): BigInt64Array {
  const [only] = lists;
  if (lists.length === 1 && only !== undefined && isAscending(only)) return only;
  const all = joinedPositions(lists).sort();
  let kept = 0;
  for (let index = 0; index < all.length; index++) {
    const value = all[index] ?? 0n;
    if (kept > 0 && value === all[kept - 1]) continue;
    all[kept] = value;
    kept += 1;
  }
  return all.subarray(0, kept);
}

/** All of them, list after list, in an array of their own. */
export function joinedPositions(lists: readonly BigInt64Array[]): BigInt64Array {
  const all = new BigInt64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

function isAscending(list: BigInt64Array): boolean {
  for (let index = 1; index < list.length; index++) {
    if ((list[index] ?? 0n) <= (list[index - 1] ?? 0n)) return false;
  }
  return true;
}
