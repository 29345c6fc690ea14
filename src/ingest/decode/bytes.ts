/** The byte at `index`, or -1 at and after `end`. */
export function byteAt(bytes: Uint8Array, index: number, end: number): number {
  return index < end ? (bytes[index] ?? -1) : -1;
}

/** True when both ranges hold the same bytes. */
export function sameBytes(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) {
    if (a[aStart + i] !== b[bStart + i]) return false;
  }
  return true;
}
