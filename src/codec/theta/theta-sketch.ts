import { Murmur3x128 } from './murmur3-128.ts';

/** Distinct values that are kept, about: the estimate is right to 1.6 % (one standard deviation). */
const nominalEntries = 4_096;
/** What each further value takes off the part of the hashes that counts. */
const alpha = nominalEntries / (nominalEntries + 1);
const updateSeed = 9_001;
/** Of the seed: sketches of other seeds do not go together. */
const seedHash = 0x93cc;
const maxTheta = 2n ** 63n - 1n;
/** Hashes that are held before those that count no more are let go. */
const maxHeld = 2 * nominalEntries;

/** A sketch as other programs read it. */
export interface CompactTheta {
  readonly bytes: Uint8Array;
  /** Distinct values, about. Exact up to `nominalEntries`. */
  readonly estimate: number;
}

/**
 * How many distinct values there are, in bounded memory: a theta sketch of Apache DataSketches, of the family Alpha with 4,096 nominal entries and
 * the default seed, whose compact form (serial version 3) its implementations read and unite. Values come as bytes; no bytes are no value.
 */
export class ThetaSketch {
  readonly #hasher = new Murmur3x128(updateSeed);
  #held = new Set<bigint>();
  #theta = maxTheta;
  /** `theta` in the halves of hashes before they lose their lowest bit. */
  #thetaHigh = 0xffffffff;
  /** Distinct values that counted when they came. */
  #inserted = 0;
  /** The hash that came last: values often come again at once. */
  #last = -1n;

  /** Takes in the value of the bytes `[from, until)`. */
  add(data: Uint8Array, from: number = 0, until: number = data.length): void {
    if (from === until) return;
    this.#hasher.hash(data, from, until);
    const { high } = this.#hasher;
    // Most hashes of many values are too large by their upper half.
    if (high > this.#thetaHigh) return;
    const hash = (BigInt(high) << 31n) | BigInt(this.#hasher.low >>> 1);
    if (hash === this.#last || hash >= this.#theta || hash === 0n) return;
    this.#last = hash;
    if (this.#held.has(hash)) return;
    this.#held.add(hash);
    this.#inserted += 1;
    if (this.#inserted <= nominalEntries) return;
    this.#setTheta(BigInt(Math.trunc(Number(this.#theta) * alpha)));
    if (this.#held.size > maxHeld) this.#held = new Set(this.#counting());
  }

  /** What was taken in so far, in the form of the library's unions: at most `nominalEntries` hashes, ascending. */
  compact(): CompactTheta {
    const hashes = BigUint64Array.from(this.#counting()).sort();
    const beyond = hashes[nominalEntries];
    const theta = beyond ?? this.#theta;
    const kept = hashes.subarray(0, nominalEntries);
    return { bytes: compactBytes(kept, theta), estimate: kept.length * (Number(maxTheta) / Number(theta)) };
  }

  #counting(): readonly bigint[] {
    return [...this.#held].filter((hash) => hash < this.#theta);
  }

  #setTheta(theta: bigint): void {
    this.#theta = theta;
    this.#thetaHigh = Number(theta >> 31n);
  }
}

const flags = { readOnly: 2, empty: 4, compact: 8, ordered: 16, single: 32 } as const;
const serialVersion = 3;
const compactFamily = 3;

/** Little-endian: lengths and flags, the count, theta, the hashes; what follows from the count is left out. */
function compactBytes(hashes: BigUint64Array, theta: bigint): Uint8Array {
  const isWhole = theta === maxTheta;
  const isEmpty = isWhole && hashes.length === 0;
  const isSingle = isWhole && hashes.length === 1;
  const words = !isWhole ? 3 : hashes.length > 1 ? 2 : 1;
  const bytes = new Uint8Array(8 * (words + hashes.length));
  const view = new DataView(bytes.buffer);
  const shape = (isEmpty ? flags.empty : 0) | (isSingle ? flags.single : 0);
  bytes.set([words, serialVersion, compactFamily, 0, 0, flags.readOnly | flags.compact | flags.ordered | shape]);
  // Empty sketches go with all.
  view.setUint16(6, isEmpty ? 0 : seedHash, true);
  if (words > 1) {
    view.setInt32(8, hashes.length, true);
    // The part of the values that was looked at: the library in Java says so, nobody reads it.
    view.setFloat32(12, 1, true);
  }
  if (words > 2) view.setBigUint64(16, theta, true);
  for (const [index, hash] of hashes.entries()) view.setBigUint64(8 * (words + index), hash, true);
  return bytes;
}
