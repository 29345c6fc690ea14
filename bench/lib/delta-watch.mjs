// Follows a Delta table from outside, by its log alone, the same for every writer.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Counts committed rows. A version is visible from the change time of its file: the moment its name appeared. */
export class DeltaWatch {
  rows = 0;
  bytes = 0;
  /** `{ atMs, rows, files }` for each version that added files; `rows` is the running total. */
  commits = [];
  /** `{ path, atMs }` for each data file added. */
  files = [];
  #directory;
  #version = 0;

  constructor(directory) {
    this.#directory = directory;
  }

  poll() {
    for (;;) {
      const path = join(this.#directory, '_delta_log', `${String(this.#version).padStart(20, '0')}.json`);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return this.rows;
      this.#take(readFileSync(path, 'utf8'), stat.ctimeMs);
      this.#version += 1;
    }
  }

  #take(text, atMs) {
    let added = 0;
    for (const line of text.split('\n')) {
      if (!line.includes('"add"')) continue;
      const { add } = JSON.parse(line);
      if (add === undefined || add === null) continue;
      this.rows += JSON.parse(add.stats ?? '{"numRecords":0}').numRecords;
      this.bytes += add.size;
      this.files.push({ path: join(this.#directory, decodeURIComponent(add.path)), atMs });
      added += 1;
    }
    if (added > 0) this.commits.push({ atMs, rows: this.rows, files: added });
  }
}
