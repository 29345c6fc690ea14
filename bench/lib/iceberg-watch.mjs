// Follows an Iceberg table of the file system from outside, by its metadata files alone.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Counts committed rows, as `DeltaWatch` does. A version is visible from the change time of its metadata file. */
export class IcebergWatch {
  rows = 0;
  bytes = 0;
  /** `{ atMs, rows, files }` for each version that added files; `rows` is the running total. */
  commits = [];
  #directory;
  #dataDirectory;
  #version = 1;

  /** `dataDirectory`: where the data files are, which for a twin is the directory of its table. */
  constructor(directory, dataDirectory = join(directory, 'data')) {
    this.#directory = directory;
    this.#dataDirectory = dataDirectory;
  }

  /** `{ path, atMs }` for each data file: when it was written. */
  get files() {
    const data = this.#dataDirectory;
    if (!existsSync(data)) return [];
    const entries = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.name.endsWith('.parquet'));
    return entries
      .filter((entry) => !entry.parentPath.endsWith('_delta_log'))
     .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path, atMs: statSync(path).ctimeMs };
    });
  }

  poll() {
    for (;;) {
      const path = join(this.#directory, 'metadata', `v${this.#version}.metadata.json`);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return this.rows;
      this.#take(JSON.parse(readFileSync(path, 'utf8')), stat.ctimeMs);
      this.#version += 1;
    }
  }

  #take(metadata, atMs) {
    const summary = metadata.snapshots?.at(-1)?.summary;
    if (summary === undefined) return;
    this.rows = Number(summary['total-records']);
    this.bytes = Number(summary['total-files-size']);
    this.commits.push({ atMs, rows: this.rows, files: Number(summary['added-data-files'] ?? 0) });
  }
}
