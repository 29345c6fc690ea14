import { entryWords, fileWord, positionWord } from '../../src/rows/key-index/entries.ts';
import type { KeyEntries, KeyHashes, KeyPlaces } from '../../src/table/key-index.ts';

/** A row of a file in an index. */
export interface EntryRow {
  /** Four words. */
  readonly hash: readonly [number, number, number, number];
  readonly file: number;
  readonly position: number;
  readonly carried?: readonly bigint[];
}

const compare = (left: EntryRow['hash'], right: EntryRow['hash']): number => {
  const at = left.findIndex((word, index) => word !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

/** As they go into a run, in pieces of any size. */
export async function* entriesOf(rows: readonly EntryRow[], carried = 0, piece = 7): AsyncGenerator<KeyEntries, void, undefined> {
  const width = entryWords(carried);
  const sorted = rows.toSorted((left, right) => compare(left.hash, right.hash));
  for (let from = 0; from < sorted.length; from += piece) {
    const part = sorted.slice(from, from + piece);
    const entries = new Uint32Array(part.length * width);
    for (const [index, row] of part.entries()) {
      const at = index * width;
      entries.set(row.hash, at);
      entries[at + fileWord] = row.file;
      entries[at + positionWord] = row.position;
      for (const [nth, value] of (row.carried ?? []).entries()) {
        entries[at + entryWords(nth)] = Number(BigInt.asUintN(32, value));
        entries[at + entryWords(nth) + 1] = Number(BigInt.asUintN(32, value >> 32n));
      }
    }
    await Promise.resolve();
    yield entries;
  }
}

export function hashesOf(keys: readonly EntryRow['hash'][]): KeyHashes {
  return Uint32Array.from(keys.toSorted(compare).flat());
}

/** What was found, as text, in a certain order. */
export function placesText({ count, keys, files, positions, carried }: KeyPlaces, hashes: KeyHashes): readonly string[] {
  const place = (at: number): string => {
    const key = keys[at] ?? -1;
    return [...hashes.subarray(key * 4, key * 4 + 4), files[at], positions[at], ...carried.map((values) => String(values[at]))].join(' ');
  };
  return Array.from({ length: count }, (_, at) => place(at)).toSorted();
}

/** The same of rows. */
export function rowsText(rows: readonly EntryRow[]): readonly string[] {
  return rows.map(({ hash, file, position, carried = [] }) => [...hash, file, position, ...carried.map(String)].join(' ')).toSorted();
}
