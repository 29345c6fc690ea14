import { throwIfAborted } from '../../base/abort.ts';
import { partitionPoint } from '../../base/partition-point.ts';
import type { KeyEntries, KeyHashes } from '../../table/key-index.ts';
import { compareHashes, entryWords, hashWords } from './entries.ts';
import { pageEntries, type Run } from './run-file.ts';

/** Pages that are read at once. */
const maxPages = 128;
/** After so many pages other work has its turn. */
const pagesInTurn = 1_000;

/** Keys `[from, until)`, which are in pages `[first, end)` if the run has them. */
interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly first: number;
  readonly end: number;
}

/** Reads the pages that may hold one of the hashes; each entry of one of them is told once for it. */
export async function searchRun(
  run: Run,
  hashes: KeyHashes,
  onEntry: (key: number, entries: KeyEntries, at: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const width = entryWords(run.carried);
  const buffer = new Uint32Array(2 * maxPages * pageEntries * width);
  let pages = 0;
  for (const stretch of stretchesOf(run.fences, hashes)) {
    pages += stretch.end - stretch.first;
    const isInTurn = pages < pagesInTurn;
    const entries = isInTurn ? run.pagesNow(stretch.first, stretch.end, buffer) : await run.pages(stretch.first, stretch.end);
    searchEntries(entries, width, { hashes, stretch }, onEntry);
    if (isInTurn) continue;
    pages = 0;
    throwIfAborted(signal);
  }
}

function* stretchesOf(fences: Uint32Array, hashes: KeyHashes): Generator<Stretch, void, undefined> {
  const keys = hashes.length / hashWords;
  const least = fences[0] ?? Number.POSITIVE_INFINITY;
  let [from, first, end] = [0, 0, 0];
  let page = 0;
  for (let key = 0; key < keys; key += 1) {
    const word = hashes[key * hashWords] ?? 0;
    if (word < least) continue;
    // The last page that begins before: what it ends with may be equal.
    while (page + 1 < fences.length && (fences[page + 1] ?? 0) < word) page += 1;
    let until = page + 1;
    while (until < fences.length && fences[until] === word) until += 1;
    if (end === 0 || page > end || until - first > maxPages) {
      if (end > 0) yield { from, until: key, first, end };
      [from, first, end] = [key, page, until];
    } else if (until > end) end = until;
  }
  if (end > 0) yield { from, until: keys, first, end };
}

/** Both ascend: what was passed for one key is passed for the next. */
function searchEntries(
  entries: KeyEntries,
  width: number,
  { hashes, stretch }: { readonly hashes: KeyHashes; readonly stretch: Stretch },
  onEntry: (key: number, entries: KeyEntries, at: number) => void,
): void {
  const count = entries.length / width;
  let at = 0;
  for (let key = stretch.from; key < stretch.until; key += 1) {
    at = firstNotBefore({ entries, width, count }, at, { hashes, at: key * hashWords });
    for (let same = at; same < count && compareHashes(entries, same * width, hashes, key * hashWords) === 0; same += 1)
      onEntry(key, entries, same * width);
  }
}

/** Steps that double, then halves: keys may be near to each other, or pages apart. */
function firstNotBefore(
  { entries, width, count }: { readonly entries: KeyEntries; readonly width: number; readonly count: number },
  from: number,
  { hashes, at }: { readonly hashes: KeyHashes; readonly at: number },
): number {
  const word = hashes[at] ?? 0;
  const isBefore = (entry: number): boolean => {
    const first = entries[entry * width] ?? 0;
    return first === word ? compareHashes(entries, entry * width, hashes, at) < 0 : first < word;
  };
  let low = from;
  let step = 1;
  while (low + step < count && isBefore(low + step)) {
    low += step;
    step *= 2;
  }
  return partitionPoint(low, Math.min(low + step, count), isBefore);
}
