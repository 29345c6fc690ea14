/** The keys of one map: its own entries are few, so a plain set of byte strings will do. */
export class KeySet {
  readonly #keys = new Set<string>();

  clear(): void {
    if (this.#keys.size > 0) this.#keys.clear();
  }

  /** False when the key is in the set already. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
    const size = this.#keys.size;
    return this.#keys.add(key).size > size;
  }
}
