import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortedError } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { IdSource } from '../../base/ids.ts';
import type { IndexedFile, KeyEntries, KeyHashes, KeyPlaces, TableKeyIndex } from '../../table/key-index.ts';
import { entryBytes } from './entries.ts';
import { FoundPlaces } from './found-places.ts';
import type { KeyIndexObserver, KeyIndexSize } from './key-index-observer.ts';
import { mergeRuns } from './merge-runs.ts';
import { Run, type RunContents, writeRun } from './run-file.ts';
import { searchRun } from './search-run.ts';

export interface RunSetParts {
  readonly directory: string;
  readonly columns: string;
  readonly carried: number;
  readonly maxBytes: number;
  /** After a failed addition nothing is added for so long. */
  readonly restMs: number;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly clock: Clock;
  readonly observer: KeyIndexObserver;
}

const suffix = '.run';
const saltName = 'salt';
const saltText = /^[0-9a-f-]{36}$/;
/** So many runs of about one size become one; those of one size are at most so many times the smallest. */
const fanOut = 4;
/** Larger runs stay as they are. */
const maxMergedEntries = 64_000_000;
/** A run is written anew when more of its rows are of files that are gone. */
const maxGoneShare = 0.5;
/** What was not finished so long ago is nobody's. */
const abandonedMs = 3_600_000;

/** Runs of one directory that are read as one index: of a file that several of them have, those of one count. */
export class RunSet implements TableKeyIndex {
  readonly salt: string;
  readonly #parts: RunSetParts;
  #runs: readonly Run[];
  readonly #covered = new Map<string, Run>();
  #isBroken = false;
  #isFull = false;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #searches = 0;
  /** Runs that are deleted, to be closed when nobody reads them. */
  #retired: Run[] = [];
  #tidying: Promise<void> | undefined;
  /** Additions, those among them that were refused. */
  #sinceTidied: number;
  #isClosed = false;

  private constructor(parts: RunSetParts, { salt, runs }: { readonly salt: string; readonly runs: readonly Run[] }) {
    this.salt = salt;
    this.#parts = parts;
    this.#runs = runs;
    this.#sinceTidied = runs.length;
    for (const run of runs) this.#cover(run);
  }

  /** Runs that cannot be read are deleted. @throws what the file system throws. */
  static async open(parts: RunSetParts): Promise<RunSet> {
    const { directory, columns, carried, clock, observer } = parts;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const salt = await saltOf(directory, parts.ids);
    const runs: Run[] = [];
    for (const name of (await readdir(directory)).toSorted()) {
      const path = join(directory, name);
      if (name.endsWith('.tmp')) {
        const info = await stat(path).catch(() => undefined);
        if (info !== undefined && clock.now() - info.mtimeMs > abandonedMs) await rm(path, { force: true });
      }
      if (!name.endsWith(suffix)) continue;
      try {
        const run = await Run.open(path);
        if (run.contents.salt === salt && run.contents.columns === columns && run.carried === carried) {
          runs.push(run);
          continue;
        }
        await run.close();
        await rm(path, { force: true });
      } catch (error) {
        observer.failed('read', error);
        await rm(path, { force: true });
      }
    }
    const opened = new RunSet(parts, { salt, runs });
    observer.changed(opened.size);
    return opened;
  }

  /** It has nothing from now on. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get size(): KeyIndexSize {
    const sum = (value: (run: Run) => number): number => this.#runs.reduce((total, run) => total + value(run), 0);
    return { files: this.#covered.size, entries: sum((run) => run.entries), bytes: sum((run) => run.sizeBytes) };
  }

  covers(file: IndexedFile): boolean {
    return this.#covered.has(identity(file));
  }

  async add(files: readonly IndexedFile[], entries: AsyncIterable<KeyEntries>): Promise<boolean> {
    const { clock, observer, columns, carried, maxBytes, restMs } = this.#parts;
    if (this.#isClosed || clock.monotonicMs() < this.#restsUntilMs) return false;
    this.#sinceTidied += 1;
    if (this.size.bytes + rowsOf(files) * entryBytes(carried) > maxBytes) {
      if (!this.#isFull) observer.full(this.size);
      this.#isFull = true;
      return false;
    }
    this.#isFull = false;
    let thrown: unknown;
    async function* watched(): AsyncGenerator<KeyEntries, void, undefined> {
      try {
        yield* entries;
      } catch (error) {
        thrown = error;
        throw error;
      }
    }
    try {
      const run = await this.#write({ salt: this.salt, columns, carried, files }, watched());
      this.#runs = [...this.#runs, run];
      this.#cover(run);
      observer.changed(this.size);
      return true;
    } catch (error) {
      if (error === thrown) throw error;
      this.#restsUntilMs = clock.monotonicMs() + restMs;
      observer.failed('add', error);
      return false;
    }
  }

  async find(hashes: KeyHashes, files: readonly IndexedFile[], signal?: AbortSignal): Promise<KeyPlaces | undefined> {
    const wanted = new Map(files.map((file, index) => [identity(file), index]));
    if (!files.every((file) => this.covers(file))) return undefined;
    // Runs may be put together while some of them are read.
    const searched = this.#runs.map((run) => {
      const numberOf = (name: string): number => (this.#covered.get(name) === run ? (wanted.get(name) ?? -1) : -1);
      return { run, numbers: Int32Array.from(run.files, (file) => numberOf(identity(file))) };
    });
    const places = new FoundPlaces(this.#parts.carried);
    this.#searches += 1;
    try {
      for (const { run, numbers } of searched) {
        if (numbers.some((number) => number >= 0))
          await searchRun(
            run,
            hashes,
            (key, entries, at) => {
              places.take(key, numbers, entries, at);
            },
            signal,
          );
      }
      return places;
    } catch (error) {
      if (isServiceError(error, 'aborted')) throw error;
      this.#parts.observer.failed('read', error);
      await this.#breakUp();
      return undefined;
    } finally {
      this.#searches -= 1;
      await this.#closeRetired();
    }
  }

  get isUntidy(): boolean {
    return !this.#isClosed && this.#tidying === undefined && this.#sinceTidied >= fanOut;
  }

  tidy(live: readonly IndexedFile[]): void {
    if (!this.isUntidy) return;
    this.#sinceTidied = 0;
    this.#tidying = this.#tidy(new Set(live.map(identity)))
      .catch((error: unknown) => {
        if (this.#isClosed) return;
        this.#restsUntilMs = this.#parts.clock.monotonicMs() + this.#parts.restMs;
        this.#parts.observer.failed('tidy', error);
      })
      .finally(() => {
        this.#tidying = undefined;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#tidying;
    this.#retired.push(...this.#runs);
    this.#runs = [];
    this.#covered.clear();
    await this.#closeRetired();
  }

  async #tidy(live: ReadonlySet<string>): Promise<void> {
    const stays = (file: IndexedFile, run: Run): boolean => live.has(identity(file)) && this.#covered.get(identity(file)) === run;
    const goneShare = (run: Run): number => 1 - rowsOf(run.files.filter((file) => stays(file, run))) / Math.max(1, rowsOf(run.files));
    // What is added meanwhile may be of files that are newer than what is known to be live.
    const known = new Set(this.#runs);
    const gone = this.#runs.filter((run) => !run.files.some((file) => stays(file, run)));
    if (gone.length > 0) await this.#replace(gone, undefined);
    for (;;) {
      const due = this.#runs.filter((run) => known.has(run));
      const [first, ...others] = dueRuns(due, goneShare);
      if (first === undefined || this.#isClosed) return;
      const merged = mergeRuns([first, ...others], stays);
      const run = await this.#write(merged.contents, this.#whileOpen(merged.entries));
      known.add(run);
      await this.#replace([first, ...others], run);
    }
  }

  async *#whileOpen(entries: AsyncIterable<KeyEntries>): AsyncGenerator<KeyEntries, void, undefined> {
    for await (const piece of entries) {
      if (this.#isClosed) throw abortedError();
      yield piece;
    }
  }

  async #write(contents: RunContents, entries: AsyncIterable<KeyEntries>): Promise<Run> {
    const { directory, ids } = this.#parts;
    // Somebody may have deleted it.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await keepSalt(directory, this.salt);
    const path = join(directory, `${ids.uuid()}${suffix}`);
    await writeRun(path, contents, { entries, failpoint: this.#parts.failpoint });
    return Run.open(path);
  }

  async #replace(old: readonly Run[], by: Run | undefined): Promise<void> {
    this.#runs = [...this.#runs.filter((run) => !old.includes(run)), ...(by === undefined ? [] : [by])];
    for (const run of old)
      for (const file of run.files) if (this.#covered.get(identity(file)) === run) this.#covered.delete(identity(file));
    if (by !== undefined) this.#cover(by);
    for (const run of old) await rm(run.path, { force: true });
    this.#retired.push(...old);
    await this.#closeRetired();
    this.#parts.observer.changed(this.size);
  }

  /** One run that cannot be read leaves no other one in doubt, but the disk. */
  async #breakUp(): Promise<void> {
    this.#isBroken = true;
    this.#covered.clear();
    for (const run of this.#runs) await rm(run.path, { force: true }).catch(() => undefined);
    this.#retired.push(...this.#runs);
    this.#runs = [];
    this.#parts.observer.changed(this.size);
  }

  async #closeRetired(): Promise<void> {
    if (this.#searches > 0) return;
    for (const run of this.#retired.splice(0)) await run.close().catch(() => undefined);
  }

  #cover(run: Run): void {
    for (const file of run.files) if (!this.#covered.has(identity(file))) this.#covered.set(identity(file), run);
  }
}

/** The smallest runs of one size, when there are many of them; else one of which most is gone. */
function dueRuns(runs: readonly Run[], goneShare: (run: Run) => number): readonly Run[] {
  const sizes = new Map<number, Run[]>();
  for (const run of runs) {
    const size = Math.floor(Math.log(Math.max(1, run.entries)) / Math.log(fanOut));
    sizes.set(size, [...(sizes.get(size) ?? []), run]);
  }
  const many = [...sizes]
    .toSorted(([left], [right]) => left - right)
    .map(([, same]) => same)
    .find((same) => same.length >= fanOut && same.reduce((sum, { entries }) => sum + entries, 0) <= maxMergedEntries);
  return many ?? runs.filter((run) => goneShare(run) > maxGoneShare).slice(0, 1);
}

function identity({ path, sizeBytes, rowCount }: IndexedFile): string {
  return `${sizeBytes} ${rowCount} ${path}`;
}

function rowsOf(files: readonly IndexedFile[]): number {
  return files.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** Made by whoever comes first. One that a process that died has not written is none: without a salt anybody could make two keys of one hash. */
async function saltOf(directory: string, ids: IdSource): Promise<string> {
  for (;;) {
    await keepSalt(directory, ids.uuid());
    const salt = await readFile(join(directory, saltName), 'utf8');
    if (saltText.test(salt)) return salt;
    await rm(join(directory, saltName), { force: true });
  }
}

/** One that is there stays. */
async function keepSalt(directory: string, salt: string): Promise<void> {
  await writeFile(join(directory, saltName), salt, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}
