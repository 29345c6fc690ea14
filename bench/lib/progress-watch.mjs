// Follows a table from outside by the offsets that its commits store, the same for every writer that stores them.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Counts applied records. A version is visible from the change time of its file. `lastOffset`: a writer's marks name the last record that it
 * applied, not the next one.
 */
export class ProgressWatch {
  rows = 0;
  /** `{ atMs, rows, applied }` for each version that moved a mark; `rows` is the running total of records, `applied` that of each partition. */
  commits = [];
  #marks = new Map();
  #live = new Map();
  #totals = {};
  #place;
  #offsetOf;
  #version;

  constructor(directory, { format, lastOffset = false }) {
    this.#place = { directory, format };
    this.#offsetOf = (mark) => Number(mark) + (lastOffset ? 1 : 0);
    this.#version = format === 'delta' ? 0 : 1;
  }

  /** Live data files; of Iceberg as many as its metadata say. */
  get files() {
    if (this.#place.format === 'delta') return [...this.#live.values()];
    return Array.from({ length: Number(this.#totals['total-data-files'] ?? 0) }, () => ({}));
  }

  get bytes() {
    if (this.#place.format === 'delta') return this.files.reduce((sum, { bytes }) => sum + bytes, 0);
    return Number(this.#totals['total-files-size'] ?? 0);
  }

  /** Rows in the live data files, those that are marked as deleted too. */
  get storedRows() {
    if (this.#place.format === 'delta') return this.files.reduce((sum, { rows }) => sum + rows, 0);
    return Number(this.#totals['total-records'] ?? 0);
  }

  poll() {
    const { directory, format } = this.#place;
    for (;;) {
      const name = format === 'delta' ? `_delta_log/${String(this.#version).padStart(20, '0')}.json` : `metadata/v${this.#version}.metadata.json`;
      const path = join(directory, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return this.rows;
      const text = readFileSync(path, 'utf8');
      if (format === 'delta') this.#takeActions(text);
      else this.#takeMetadata(JSON.parse(text));
      this.#version += 1;
      const rows = [...this.#marks.values()].reduce((sum, mark) => sum + mark, 0);
      if (rows > this.rows) this.commits.push({ atMs: stat.ctimeMs, rows, applied: this.#applied() });
      this.rows = rows;
    }
  }

  /** Of each partition; a mark is named after the pipeline, the topic and the partition. */
  #applied() {
    const applied = [];
    for (const [writer, mark] of this.#marks) applied[Number(writer.split(':')[2])] = mark;
    return applied;
  }

  #takeActions(text) {
    const actions = text.split('\n').flatMap((line) => (/"(add|remove|txn)"/.test(line) ? [JSON.parse(line)] : []));
    // A file that is marked goes and comes under one path, in any order.
    for (const { remove } of actions) if (remove) this.#live.delete(remove.path);
    for (const { add, txn } of actions) {
      if (txn) this.#marks.set(txn.appId, this.#offsetOf(txn.version));
      if (add) this.#live.set(add.path, { path: join(this.#place.directory, decodeURIComponent(add.path)), bytes: add.size, rows: JSON.parse(add.stats ?? '{}').numRecords ?? 0 });
    }
  }

  #takeMetadata({ snapshots, properties }) {
    this.#totals = snapshots?.at(-1)?.summary ?? {};
    for (const [writer, mark] of Object.entries(JSON.parse(properties['tidewater.progress'] ?? '{}'))) this.#marks.set(writer, this.#offsetOf(mark));
  }
}
