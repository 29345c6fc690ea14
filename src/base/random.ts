/** Randomness as it is handed to every component. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** `length` uniformly random bytes. */
  bytes(length: number): Uint8Array;
}

/** Integer in [0, `bound`). */
export function randomInt(random: Random, bound: number): number {
  return Math.floor(random.next() * bound);
}
