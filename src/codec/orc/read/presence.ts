import { countOnes } from '../../../schema/bitmap.ts';
import { streamKind } from '../proto/numbers.ts';
import { BitDecoder } from '../rle/bits.ts';
import type { OrcType } from '../schema/orc-type.ts';
import type { Stripe } from './stripe.ts';

/** Which of the next values are there. */
export interface Present {
  readonly length: number;
  /** Values that are stored; the others are null. */
  readonly count: number;
  readonly nullCount: number;
  /** `undefined` when none is null. */
  readonly validity: Uint8Array | undefined;
}

/** The stream that tells nulls. A column under a null struct has an entry in no stream at all. */
export class Presence {
  readonly #bits: BitDecoder | undefined;

  constructor(stripe: Stripe, orc: OrcType) {
    const source = stripe.stream(orc, streamKind.present);
    this.#bits = source === undefined ? undefined : new BitDecoder(source);
  }

  /** No more values than this can follow, when the stream alone decides. */
  get capacity(): number {
    return this.#bits?.capacity ?? 0;
  }

  /** Of the next `length` values; `parent` has the bits of the structs around that are there, `undefined` for all. */
  next(length: number, parent: Uint8Array | undefined): Present {
    if (this.#bits === undefined) return presentOf(length, parent);
    if (parent === undefined) return presentOf(length, this.#bits.read(length));
    return presentOf(length, spreadBits(this.#bits.read(countOnes(parent, length)), parent, length));
  }
}

function presentOf(length: number, validity: Uint8Array | undefined): Present {
  const count = validity === undefined ? length : countOnes(validity, length);
  return { length, count, nullCount: length - count, validity: count === length ? undefined : validity };
}

/** A bitmap with bit `i` of `bits` at the place of the `i`-th one of `mask`, and zeros elsewhere. */
export function spreadBits(bits: Uint8Array, mask: Uint8Array, length: number): Uint8Array {
  const target = new Uint8Array((length + 7) >> 3);
  let next = 0;
  for (let index = 0; index < length; index++) {
    if (((mask[index >> 3] ?? 0) & (1 << (index & 7))) === 0) continue;
    if (((bits[next >> 3] ?? 0) & (1 << (next & 7))) !== 0) target[index >> 3] = (target[index >> 3] ?? 0) | (1 << (index & 7));
    next += 1;
  }
  return target;
}

/**
 * Moves `count` values at the front of `values` to the places of valid bits, in place; the other places become 0. `lanes`: array elements
 * a value.
 */
export function spreadValues(
  values: Int8Array | Int16Array | Int32Array | Float32Array | Float64Array,
  present: Present,
  lanes: 1 | 2 | 4 = 1,
): void {
  const { validity, length, count } = present;
  if (validity === undefined) return;
  let next = count;
  for (let index = length - 1; index >= 0; index--) {
    const at = index * lanes;
    if (((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0) {
      for (let lane = 0; lane < lanes; lane++) values[at + lane] = 0;
    } else {
      next -= 1;
      const from = next * lanes;
      for (let lane = 0; lane < lanes; lane++) values[at + lane] = values[from + lane] ?? 0;
    }
  }
}
