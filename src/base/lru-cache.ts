/** Values by key, as many as fit a total weight; those unused for longest go first. A value heavier than the whole is not kept. */
export class LruCache<Key, Value> {
  readonly #maxWeight: number;
  readonly #entries = new Map<Key, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(options: { readonly maxWeight: number }) {
    this.#maxWeight = options.maxWeight;
  }

  take(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  put(key: Key, value: Value, weight: number): void {
    this.drop(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxWeight) return;
      this.drop(oldest);
    }
  }

  drop(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
