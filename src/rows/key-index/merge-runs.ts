import type { IndexedFile, KeyEntries } from '../../table/key-index.ts';
import { compareHashes, entryWords, fileWord } from './entries.ts';
import type { Run, RunContents } from './run-file.ts';

const pagesAtOnce = 64;
const entriesAtOnce = 4_096;

/** What the runs have of files that stay. */
export interface MergedRuns {
  readonly contents: RunContents;
  /** Ascending by hash. */
  readonly entries: AsyncIterable<KeyEntries>;
}

/** @param stays whether the entries of a run's file are taken; of a file that several runs have, those of one of them. */
export function mergeRuns(runs: readonly [Run, ...Run[]], stays: (file: IndexedFile, run: Run) => boolean): MergedRuns {
  const [{ contents }] = runs;
  const files: IndexedFile[] = [];
  const numbers = runs.map((run) =>
    Int32Array.from(run.files, (file) => {
      if (!stays(file, run)) return -1;
      return files.push(file) - 1;
    }),
  );
  const cursors = runs.map((run, index) => new RunCursor(run, numbers[index] ?? new Int32Array(0)));
  return { contents: { ...contents, files }, entries: merged(cursors, entryWords(contents.carried)) };
}

async function* merged(all: readonly RunCursor[], width: number): AsyncGenerator<KeyEntries, void, undefined> {
  const cursors: RunCursor[] = [];
  for (const cursor of all) if (await cursor.advance()) cursors.push(cursor);
  let out = new Uint32Array(entriesAtOnce * width);
  let filled = 0;
  while (cursors.length > 0) {
    const least = leastOf(cursors);
    for (let word = 0; word < width; word += 1) out[filled + word] = least.entries[least.at + word] ?? 0;
    out[filled + fileWord] = least.file;
    filled += width;
    if (filled === out.length) {
      yield out;
      out = new Uint32Array(entriesAtOnce * width);
      filled = 0;
    }
    if (!least.step() && !(await least.advance())) cursors.splice(cursors.indexOf(least), 1);
  }
  if (filled > 0) yield out.subarray(0, filled);
}

function leastOf(cursors: readonly RunCursor[]): RunCursor {
  return cursors.reduce((least, each) => (compareHashes(each.entries, each.at, least.entries, least.at) < 0 ? each : least));
}

/** Stands at an entry of a file that stays. */
class RunCursor {
  entries: KeyEntries = new Uint32Array(0);
  /** Word that the entry begins with. */
  at = 0;
  readonly #run: Run;
  readonly #numbers: Int32Array;
  readonly #width: number;
  #page = 0;

  constructor(run: Run, numbers: Int32Array) {
    this.#run = run;
    this.#numbers = numbers;
    this.#width = entryWords(run.carried);
  }

  /** Number of the entry's file among those that stay. */
  get file(): number {
    return this.#numberAt(this.at);
  }

  /** Goes to the next entry in memory; `false`: there is none. */
  step(): boolean {
    this.at += this.#width;
    return this.#skip();
  }

  /** Goes to the next entry in the run; `false`: there is none. */
  async advance(): Promise<boolean> {
    while (this.#page < this.#run.fences.length) {
      const until = Math.min(this.#page + pagesAtOnce, this.#run.fences.length);
      this.entries = await this.#run.pages(this.#page, until);
      this.#page = until;
      this.at = 0;
      if (this.#skip()) return true;
    }
    return false;
  }

  #skip(): boolean {
    while (this.at < this.entries.length && this.#numberAt(this.at) < 0) this.at += this.#width;
    return this.at < this.entries.length;
  }

  #numberAt(at: number): number {
    return this.#numbers[this.entries[at + fileWord] ?? -1] ?? -1;
  }
}
