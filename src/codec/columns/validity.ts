import { grownBytes } from './growable.ts';

export interface FinishedValidity {
  readonly length: number;
  readonly nullCount: number;
  readonly validity: Uint8Array | undefined;
}

const empty = new Uint8Array(0);

/** Counts the values of a column and remembers which are null. The bitmap exists only from the first null on. */
export class Validity {
  #length = 0;
  #nullCount = 0;
  #bits: Uint8Array | undefined;

  get length(): number {
    return this.#length;
  }

  appendValid(): void {
    const index = this.#length;
    this.#length = index + 1;
    if (this.#bits !== undefined) this.#mark(this.#bits, index, true);
  }

  appendNull(): void {
    const index = this.#length;
    this.#length = index + 1;
    this.#nullCount += 1;
    this.#mark(this.#bits ?? allValid(index), index, false);
  }

  truncate(length: number): void {
    if (this.#bits !== undefined) {
      for (let index = length; index < this.#length; index += 1) {
        if (((this.#bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0) this.#nullCount -= 1;
      }
    }
    this.#length = length;
  }

  /** Hands out what was counted and starts from zero. */
  finish(): FinishedValidity {
    const length = this.#length;
    const nullCount = this.#nullCount;
    const validity = nullCount === 0 || this.#bits === undefined ? undefined : finishedBits(this.#bits, length);
    this.#length = 0;
    this.#nullCount = 0;
    this.#bits = undefined;
    return { length, nullCount, validity };
  }

  // Bits after a truncated end are stale, so both values are written.
  #mark(bits: Uint8Array, index: number, valid: boolean): void {
    const held = index >> 3 < bits.length ? bits : grownBytes(bits, (index >> 3) + 1);
    const byte = held[index >> 3] ?? 0;
    const mask = 1 << (index & 7);
    held[index >> 3] = valid ? byte | mask : byte & ~mask;
    this.#bits = held;
  }
}

/** The first `length` bits, those past the end cleared: they may be left over from a truncated value. */
export function finishedBits(bits: Uint8Array, length: number): Uint8Array {
  const finished = bits.subarray(0, (length + 7) >> 3);
  if ((length & 7) !== 0) finished[finished.length - 1] = (finished[finished.length - 1] ?? 0) & ((1 << (length & 7)) - 1);
  return finished;
}

function allValid(length: number): Uint8Array {
  return length === 0 ? empty : new Uint8Array((length + 7) >> 3).fill(0xff);
}
