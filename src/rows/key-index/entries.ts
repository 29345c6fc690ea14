/** Words of 32 bits that an entry has before the carried numbers: four of the hash, the file, the position. */
const placeWords = 6;
export const hashWords = 4;
export const fileWord = 4;
export const positionWord = 5;

export function entryWords(carried: number): number {
  return placeWords + 2 * carried;
}

export function entryBytes(carried: number): number {
  return entryWords(carried) * Uint32Array.BYTES_PER_ELEMENT;
}

/** Compares the hashes at two places. */
export function compareHashes(a: Uint32Array, at: number, b: Uint32Array, bt: number): number {
  for (let word = 0; word < hashWords; word += 1) {
    const difference = (a[at + word] ?? 0) - (b[bt + word] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A carried number, which is where its words say. */
export function carriedAt(words: Uint32Array, at: number): bigint {
  return BigInt.asIntN(64, (BigInt(words[at + 1] ?? 0) << 32n) | BigInt(words[at] ?? 0));
}
