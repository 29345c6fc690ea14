/**
 * MurmurHash3, x86, 32 bits, seed 0 (https://iceberg.apache.org/spec/#appendix-b-32-bit-hash-requirements), as a signed number, of
 * `bytes[from, until)`.
 */
export function murmur3(bytes: Uint8Array, from: number, until: number): number {
  let hash = 0;
  let at = from;
  for (; at + 4 <= until; at += 4) {
    const block = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    hash = mixHash(hash, block);
  }
  let tail = 0;
  for (let index = until - 1; index >= at; index--) tail = (tail << 8) | (bytes[index] ?? 0);
  if (at < until) hash ^= mixBlock(tail);
  return finish(hash, until - from);
}

/** The hash of a long's eight bytes, little endian, from its words. */
export function murmur3OfLong(low: number, high: number): number {
  return finish(mixHash(mixHash(0, low), high), 8);
}

function mixBlock(block: number): number {
  const multiplied = Math.imul(block, 0xcc9e2d51);
  return Math.imul((multiplied << 15) | (multiplied >>> 17), 0x1b873593);
}

function mixHash(hash: number, block: number): number {
  const mixed = hash ^ mixBlock(block);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number, length: number): number {
  let mixed = hash ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
