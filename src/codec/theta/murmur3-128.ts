/**
 * MurmurHash3 of 128 bits in its form for 64-bit machines, by Austin Appleby in the public domain, of which the first word counts here. Words
 * are two halves of 32 bits: arithmetic of `bigint` takes ten times as long.
 */
export class Murmur3x128 {
  readonly #seed: number;
  /** Halves of the two words of state, and of what was multiplied last. */
  #h1 = 0;
  #l1 = 0;
  #h2 = 0;
  #l2 = 0;
  #high = 0;
  #low = 0;

  /** @param seed 32 bits without a sign. */
  constructor(seed: number) {
    this.#seed = seed >>> 0;
  }

  /** Upper half of the hash of what was hashed last; 32 bits without a sign. */
  get high(): number {
    return this.#h1;
  }

  /** Lower half. */
  get low(): number {
    return this.#l1;
  }

  /** Hashes the bytes `[from, until)`. */
  hash(data: Uint8Array, from: number, until: number): void {
    this.#h1 = 0;
    this.#h2 = 0;
    this.#l1 = this.#seed;
    this.#l2 = this.#seed;
    const length = until - from;
    const tail = until - (length & 15);
    for (let at = from; at < tail; at += 16) {
      this.#mixFirst(word(data, at + 4, 4), word(data, at, 4));
      this.#stir(27, true, 0x52dce729);
      this.#mixSecond(word(data, at + 12, 4), word(data, at + 8, 4));
      this.#stir(31, false, 0x38495ab5);
    }
    this.#mixSecond(word(data, tail + 12, until - tail - 12), word(data, tail + 8, until - tail - 8));
    this.#mixFirst(word(data, tail + 4, until - tail - 4), word(data, tail, until - tail));
    this.#finish(length);
  }

  /** The first word takes a word in. */
  #mixFirst(high: number, low: number): void {
    this.#multiply(high, low, 0x87c37b91, 0x114253d5);
    this.#multiply(rotatedHigh(this.#high, this.#low, 31), rotatedHigh(this.#low, this.#high, 31), 0x4cf5ad43, 0x2745937f);
    this.#h1 = (this.#h1 ^ this.#high) >>> 0;
    this.#l1 = (this.#l1 ^ this.#low) >>> 0;
  }

  #mixSecond(high: number, low: number): void {
    this.#multiply(high, low, 0x4cf5ad43, 0x2745937f);
    // A turn by 33 is one by 1 with the halves changed.
    this.#multiply(rotatedHigh(this.#low, this.#high, 1), rotatedHigh(this.#high, this.#low, 1), 0x87c37b91, 0x114253d5);
    this.#h2 = (this.#h2 ^ this.#high) >>> 0;
    this.#l2 = (this.#l2 ^ this.#low) >>> 0;
  }

  /** One of the words is turned, takes the other in, and becomes five times itself and something. */
  #stir(turn: number, isFirst: boolean, addend: number): void {
    const [h, l] = isFirst ? [this.#h1, this.#l1] : [this.#h2, this.#l2];
    const [otherHigh, otherLow] = isFirst ? [this.#h2, this.#l2] : [this.#h1, this.#l1];
    const low = rotatedHigh(l, h, turn) + otherLow;
    const high = rotatedHigh(h, l, turn) + otherHigh + (low > 0xffffffff ? 1 : 0);
    this.#multiply(high >>> 0, low >>> 0, 0, 5);
    const sum = this.#low + addend;
    const carried = (this.#high + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    if (isFirst) {
      this.#h1 = carried;
      this.#l1 = sum >>> 0;
    } else {
      this.#h2 = carried;
      this.#l2 = sum >>> 0;
    }
  }

  #finish(length: number): void {
    this.#l1 = (this.#l1 ^ length) >>> 0;
    this.#l2 = (this.#l2 ^ length) >>> 0;
    this.#addSecondToFirst();
    const sum = this.#l2 + this.#l1;
    this.#h2 = (this.#h2 + this.#h1 + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    this.#l2 = sum >>> 0;
    this.#avalanche(this.#h1, this.#l1);
    this.#h1 = this.#high;
    this.#l1 = this.#low;
    this.#avalanche(this.#h2, this.#l2);
    this.#h2 = this.#high;
    this.#l2 = this.#low;
    this.#addSecondToFirst();
  }

  #addSecondToFirst(): void {
    const sum = this.#l1 + this.#l2;
    this.#h1 = (this.#h1 + this.#h2 + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    this.#l1 = sum >>> 0;
  }

  #avalanche(high: number, low: number): void {
    this.#multiply(high, (low ^ (high >>> 1)) >>> 0, 0xff51afd7, 0xed558ccd);
    this.#multiply(this.#high, (this.#low ^ (this.#high >>> 1)) >>> 0, 0xc4ceb9fe, 0x1a85ec53);
    this.#low = (this.#low ^ (this.#high >>> 1)) >>> 0;
  }

  /** The lower 64 bits of a product. Products of quarters and what is carried stay below 2^32. */
  #multiply(aHigh: number, aLow: number, bHigh: number, bLow: number): void {
    const a0 = aLow & 0xffff;
    const a1 = aLow >>> 16;
    const b0 = bLow & 0xffff;
    const b1 = bLow >>> 16;
    const lowest = a0 * b0;
    const middle = a0 * b1 + (lowest >>> 16);
    const other = a1 * b0 + (middle & 0xffff);
    const carried = a1 * b1 + (middle >>> 16) + (other >>> 16);
    this.#high = (carried + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) >>> 0;
    this.#low = ((other << 16) | (lowest & 0xffff)) >>> 0;
  }
}

/** Up to four bytes, the first one lowest; 0 for none. */
function word(data: Uint8Array, at: number, count: number): number {
  if (count <= 0) return 0;
  let value = data[at] ?? 0;
  if (count > 1) value |= (data[at + 1] ?? 0) << 8;
  if (count > 2) value |= (data[at + 2] ?? 0) << 16;
  if (count > 3) value |= (data[at + 3] ?? 0) << 24;
  return value >>> 0;
}

/** Upper half of a word that is turned to the left by less than 32 bits; with the halves changed, the lower one. */
function rotatedHigh(high: number, low: number, turn: number): number {
  return ((high << turn) | (low >>> (32 - turn))) >>> 0;
}
