import type { KeyEntries, KeyPlaces } from '../../table/key-index.ts';
import { carriedAt, entryWords, fileWord, positionWord } from './entries.ts';

const firstCapacity = 1_024;

/** Lists that grow. */
export class FoundPlaces implements KeyPlaces {
  count = 0;
  keys: Int32Array = new Int32Array(firstCapacity);
  files: Int32Array = new Int32Array(firstCapacity);
  positions: Uint32Array = new Uint32Array(firstCapacity);
  carried: BigInt64Array[];

  constructor(carried: number) {
    this.carried = Array.from({ length: carried }, () => new BigInt64Array(firstCapacity));
  }

  /** @param numbers of the files of a run what they are called here; negative: they are not wanted. */
  take(key: number, numbers: Int32Array, entries: KeyEntries, at: number): void {
    const file = numbers[entries[at + fileWord] ?? -1] ?? -1;
    if (file < 0) return;
    if (this.count === this.keys.length) this.#grow();
    this.keys[this.count] = key;
    this.files[this.count] = file;
    this.positions[this.count] = entries[at + positionWord] ?? 0;
    for (const [index, values] of this.carried.entries()) values[this.count] = carriedAt(entries, at + entryWords(index));
    this.count += 1;
  }

  #grow(): void {
    const capacity = this.keys.length * 2;
    const keys = new Int32Array(capacity);
    keys.set(this.keys);
    const files = new Int32Array(capacity);
    files.set(this.files);
    const positions = new Uint32Array(capacity);
    positions.set(this.positions);
    this.carried = this.carried.map((values) => {
      const grown = new BigInt64Array(capacity);
      grown.set(values);
      return grown;
    });
    [this.keys, this.files, this.positions] = [keys, files, positions];
  }
}
