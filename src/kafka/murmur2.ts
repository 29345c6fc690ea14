const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/** Kafka's hash of a key (Java clients' default partitioner), a signed 32-bit number. */
export function murmur2(data: Uint8Array, length: number = data.length): number {
  let hash = seed ^ length;
  const wordsEnd = length & ~3;
  for (let at = 0; at < wordsEnd; at += 4) {
    let word = (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16) | ((data[at + 3] ?? 0) << 24);
    word = Math.imul(word, multiplier);
    word ^= word >>> 24;
    hash = Math.imul(hash, multiplier) ^ Math.imul(word, multiplier);
  }
  const left = length & 3;
  if (left === 3) hash ^= (data[wordsEnd + 2] ?? 0) << 16;
  if (left >= 2) hash ^= (data[wordsEnd + 1] ?? 0) << 8;
  if (left >= 1) hash = Math.imul(hash ^ (data[wordsEnd] ?? 0), multiplier);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, multiplier);
  return hash ^ (hash >>> 15);
}

/** The partition Java clients choose for the key. */
export function partitionOfKey(key: Uint8Array, length: number, partitions: number): number {
  return (murmur2(key, length) & 0x7fff_ffff) % partitions;
}
