import type { SchemaKey, SchemaText } from '../protocol/payload-encoding.ts';

const maxSchemas = 10_000;
/** Of all texts together, in UTF-16 units. */
const maxLength = 32 * 1024 * 1024;

type Asked = Promise<SchemaText | undefined>;

interface Entry {
  readonly asked: Asked;
  length: number;
}

/** Schemas never change, so they are kept for good; what was not used for longest makes room. */
export class RecentSchemas {
  /** The one used last at the end. */
  readonly #entries = new Map<SchemaKey, Entry>();
  #length = 0;

  get(key: SchemaKey): Asked | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.asked;
  }

  keep(key: SchemaKey, asked: Asked): void {
    this.#entries.set(key, { asked, length: 0 });
    this.#makeRoom(key);
  }

  /** What was asked for is there. */
  answered(key: SchemaKey, asked: Asked, { text, references }: SchemaText): void {
    const entry = this.#entries.get(key);
    if (entry?.asked !== asked || entry.length > 0) return;
    entry.length = references.reduce((sum, reference) => sum + reference.text.length, text.length);
    this.#length += entry.length;
    this.#makeRoom(key);
  }

  forget(key: SchemaKey, asked: Asked): void {
    if (this.#entries.get(key)?.asked === asked) this.#remove(key);
  }

  /** The one that is wanted now stays, however large. */
  #makeRoom(wanted: SchemaKey): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= maxSchemas && this.#length <= maxLength) return;
      if (key !== wanted) this.#remove(key);
    }
  }

  #remove(key: SchemaKey): void {
    this.#length -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }
}
