/*
 * Murmur3 and xxHash64 as Spark computes them over the leaves of a row (`Murmur3_x86_32`, `XXH64` of Spark's `catalyst`), with 42 as the first
 * seed. Leaves come as text: see `expr/functions/hash-functions`.
 */

interface Hasher<Hash> {
  readonly int: (value: number, seed: Hash) => Hash;
  readonly long: (value: bigint, seed: Hash) => Hash;
  readonly bytes: (value: Uint8Array, seed: Hash) => Hash;
}

export function sparkMurmur3(leaves: string): bigint {
  return BigInt(folded(leaves, murmur3, 42));
}

export function sparkXxHash64(leaves: string): bigint {
  return BigInt.asIntN(64, folded(leaves, xxHash64, 42n));
}

const view = new DataView(new ArrayBuffer(8));

function folded<Hash>(leaves: string, hasher: Hasher<Hash>, seed: Hash): Hash {
  let hash = seed;
  for (let at = 0; at < leaves.length; ) {
    const end = leaves.indexOf(';', at);
    hash = hashLeaf(hasher, leaves.charAt(at), leaves.slice(at + 1, end), hash);
    at = end + 1;
  }
  return hash;
}

function hashLeaf<Hash>(hasher: Hasher<Hash>, kind: string, value: string, seed: Hash): Hash {
  switch (kind) {
    case 'i':
      return hasher.int(Number(value), seed);
    case 'l':
      return hasher.long(BigInt(value), seed);
    case 'f':
      view.setFloat32(0, numberOf(value));
      return hasher.int(view.getInt32(0), seed);
    case 'd':
      view.setFloat64(0, numberOf(value));
      return hasher.long(view.getBigInt64(0), seed);
    case 'n':
      return hasher.bytes(twosComplement(BigInt(value)), seed);
    default:
      return hasher.bytes(Buffer.from(value, 'hex'), seed);
  }
}

/** Zeros are one number, whatever their sign. */
function numberOf(text: string): number {
  if (text === 'nan') return Number.NaN;
  if (text === 'inf' || text === '-inf') return text === 'inf' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return Number(text) + 0;
}

/** The fewest bytes, the highest first. */
function twosComplement(value: bigint): Uint8Array {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length++;
  return Uint8Array.from({ length }, (_, index) => Number(BigInt.asUintN(8, value >> BigInt(8 * (length - 1 - index)))));
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
const mixWord = (word: number): number => Math.imul(rotate(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
const mixHash = (hash: number, word: number): number => (Math.imul(rotate(hash ^ word, 13), 5) + 0xe6546b64) | 0;

function finished(hash: number, length: number): number {
  let mixed = hash ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const murmur3: Hasher<number> = {
  int: (value, seed) => finished(mixHash(seed, mixWord(value)), 4),
  long: (value, seed) => {
    const low = Number(BigInt.asIntN(32, value));
    const high = Number(BigInt.asIntN(32, value >> 32n));
    return finished(mixHash(mixHash(seed, mixWord(low)), mixWord(high)), 8);
  },
  // Bytes behind the last whole word are words of their own.
  bytes: (value, seed) => {
    const data = new DataView(value.buffer, value.byteOffset, value.byteLength);
    const whole = value.length - (value.length % 4);
    let hash = seed;
    for (let at = 0; at < whole; at += 4) hash = mixHash(hash, mixWord(data.getInt32(at, true)));
    for (let at = whole; at < value.length; at++) hash = mixHash(hash, mixWord(data.getInt8(at)));
    return finished(hash, value.length);
  },
};

const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;
const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate64 = (value: bigint, by: bigint): bigint => u64((value << by) | (u64(value) >> (64n - by)));
const round = (hash: bigint, word: bigint): bigint => u64(rotate64(u64(hash + word * prime2), 31n) * prime1);

function avalanche(hash: bigint): bigint {
  let mixed = u64((hash ^ (hash >> 33n)) * prime2);
  mixed = u64((mixed ^ (mixed >> 29n)) * prime3);
  return mixed ^ (mixed >> 32n);
}

const withInt = (hash: bigint, word: bigint): bigint => u64(rotate64(u64(hash ^ u64(word * prime1)), 23n) * prime2 + prime3);
const withLong = (hash: bigint, word: bigint): bigint => u64(rotate64(hash ^ round(0n, word), 27n) * prime1 + prime4);

const xxHash64: Hasher<bigint> = {
  int: (value, seed) => avalanche(withInt(u64(seed + prime5 + 4n), BigInt(value >>> 0))),
  long: (value, seed) => avalanche(withLong(u64(seed + prime5 + 8n), u64(value))),
  bytes: (value, seed) => {
    const data = new DataView(value.buffer, value.byteOffset, value.byteLength);
    const { length } = value;
    const striped = length - (length % 32);
    let hash = u64(seed + prime5);
    if (striped > 0) {
      let lanes = [seed + prime1 + prime2, seed + prime2, seed, seed - prime1].map(u64);
      for (let at = 0; at < striped; at += 32) lanes = lanes.map((lane, index) => round(lane, data.getBigUint64(at + 8 * index, true)));
      const [one = 0n, two = 0n, three = 0n, four = 0n] = lanes;
      hash = u64(rotate64(one, 1n) + rotate64(two, 7n) + rotate64(three, 12n) + rotate64(four, 18n));
      for (const lane of lanes) hash = u64((hash ^ round(0n, lane)) * prime1 + prime4);
    }
    hash = u64(hash + BigInt(length));
    let at = striped;
    for (; at + 8 <= length; at += 8) hash = withLong(hash, data.getBigUint64(at, true));
    for (; at + 4 <= length; at += 4) hash = withInt(hash, BigInt(data.getUint32(at, true)));
    for (; at < length; at++) hash = u64(rotate64(hash ^ u64(BigInt(data.getUint8(at)) * prime5), 11n) * prime1);
    return avalanche(hash);
  },
};
