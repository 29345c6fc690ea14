import type { Random } from './random.ts';

/** Source of unique names: file names, commit ids, table ids. */
export interface IdSource {
  /** RFC 9562 version 4 UUID, lower case. */
  uuid(): string;
}

/** UUIDs from a `Random`; reproducible under a seeded one. */
export class RandomIdSource implements IdSource {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  uuid(): string {
    const bytes = Uint8Array.from(this.#random.bytes(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Buffer.from(bytes).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}
