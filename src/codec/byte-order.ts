interface ByteRange {
  readonly from: number;
  readonly until: number;
}

/** Compares two ranges of bytes as unsigned numbers, a prefix before what it begins: the order of UTF-8 text. Negative: left first. */
export function compareBytes(left: Uint8Array, leftRange: ByteRange, right: Uint8Array, rightRange: ByteRange): number {
  const leftLength = leftRange.until - leftRange.from;
  const rightLength = rightRange.until - rightRange.from;
  const common = Math.min(leftLength, rightLength);
  for (let index = 0; index < common; index++) {
    const difference = (left[leftRange.from + index] ?? 0) - (right[rightRange.from + index] ?? 0);
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}
