import { createHash } from 'node:crypto';
import type { IdSource } from '../../../src/base/ids.ts';

/** Names that depend on a label and a count only: two labels never meet, as two short random sequences might. */
export class HashedIds implements IdSource {
  readonly #label: string;
  #count = 0;

  constructor(label: string) {
    this.#label = label;
  }

  uuid(): string {
    this.#count += 1;
    const hex = createHash('sha256').update(`${this.#label}/${this.#count}`).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}
