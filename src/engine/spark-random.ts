/*
 * Numbers of a seed as Spark's `rand` and `randn` count them through the rows of one partition: `XORShiftRandom` of Spark's core, below
 * the `nextDouble` and `nextGaussian` of `java.util.Random`.
 */

/** Numbers between two remembered states: as many are made again at most when rows are asked for out of order. */
const stride = 2048;

interface State {
  readonly high: number;
  readonly low: number;
  /** The second of a pair of normal numbers. */
  readonly spare?: number | undefined;
}

/** The numbers of one seed, by place. */
export class SeededNumbers {
  readonly #next: (random: XorShift) => number;
  readonly #random: XorShift;
  /** Before every `stride`th number. */
  readonly #states: State[];
  #place = 0;

  constructor(seed: bigint, kind: 'uniform' | 'normal') {
    this.#random = new XorShift(seed);
    this.#states = [this.#random.state];
    this.#next = kind === 'uniform' ? (random) => random.uniform() : (random) => random.normal();
  }

  /** The number at a place, from 0. Numbers in a row cost least. */
  at(place: number): number {
    if (place < this.#place || place >= this.#place + stride) this.#goTo(place);
    let number = 0;
    while (this.#place <= place) {
      number = this.#next(this.#random);
      this.#place += 1;
      if (this.#place % stride === 0 && this.#place / stride === this.#states.length) this.#states.push(this.#random.state);
    }
    return number;
  }

  #goTo(place: number): void {
    const index = Math.min(Math.floor(place / stride), this.#states.length - 1);
    const state = this.#states[index];
    if (state === undefined || (place >= this.#place && index * stride <= this.#place)) return;
    this.#random.state = state;
    this.#place = index * stride;
  }
}

/** 64 bits as two halves. */
class XorShift {
  #high: number;
  #low: number;
  #spare: number | undefined;

  constructor(seed: bigint) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt.asIntN(64, seed));
    this.#low = murmur3(bytes, 0x3c074a61);
    this.#high = murmur3(bytes, this.#low);
  }

  get state(): State {
    return { high: this.#high, low: this.#low, spare: this.#spare };
  }

  set state({ high, low, spare }: State) {
    this.#high = high;
    this.#low = low;
    this.#spare = spare;
  }

  uniform(): number {
    const first = this.#bits(26);
    return (first * 2 ** 27 + this.#bits(27)) * 2 ** -53;
  }

  /** Marsaglia's polar method, which makes two numbers. */
  normal(): number {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) return spare;
    for (;;) {
      const one = 2 * this.uniform() - 1;
      const other = 2 * this.uniform() - 1;
      const square = one * one + other * other;
      if (square >= 1 || square === 0) continue;
      const factor = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = other * factor;
      return one * factor;
    }
  }

  #bits(count: number): number {
    let high = this.#high ^ ((this.#high << 21) | (this.#low >>> 11));
    let low = this.#low ^ (this.#low << 21);
    low ^= high >>> 3;
    high ^= (high << 4) | (low >>> 28);
    low ^= low << 4;
    this.#high = high;
    this.#low = low;
    return low & ((1 << count) - 1);
  }
}

/** Murmur3 of Scala's library, of whole words. */
function murmur3(bytes: Buffer, seed: number): number {
  let hash = seed;
  for (let at = 0; at < bytes.length; at += 4) {
    const mixed = Math.imul(bytes.readInt32LE(at), 0xcc9e2d51);
    hash ^= Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
