import { present } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { bytesAt } from '../../codec/rows.ts';
import { type Engine, type OpenEngine, scanColumns } from '../../engine/engine.ts';
import { sqlText } from '../../expr/sql/engine-sql.ts';
import { joinedPositions } from '../../rows/change/merged-positions.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import { positionDeleteIds } from '../metadata/reserved-ids.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { MetadataSource } from '../scan/manifests.ts';
import { readableFiles } from '../scan/readable-files.ts';

/** Positions by the path of the data file, as the delete files spell it. */
type PositionsByPath = ReadonlyMap<string, BigInt64Array>;

/** Delete files whose rows are in one query. */
const filesPerQuery = 200;
/** Positions of one table that are held at a time. */
const maxPositions = 2 ** 28;

const noPositions: Promise<PositionsByPath> = Promise.resolve(new Map());

/** Columns of a position delete file. */
const deleteColumns: StructType = {
  kind: 'struct',
  fields: [
    { name: 'file_path', type: { kind: 'string' }, nullable: true, id: positionDeleteIds.path },
    { name: 'pos', type: { kind: 'long' }, nullable: true, id: positionDeleteIds.position },
  ],
};

/**
 * The rows of position delete files, for the data files of one scan. Every delete file is read once, when the first data file that it
 * concerns is asked for; paths are compared byte for byte.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `ICEBERG_DELETE_FILE_CORRUPT` (corrupt), and what the engine throws.
 */
export class PositionDeletes {
  readonly #source: MetadataSource;
  readonly #metadata: TableMetadata;
  readonly #engine: OpenEngine;
  readonly #loaded = new Map<ManifestEntry, Promise<PositionsByPath>>();
  /** By the arrays the index hands out: data files of one partition and age have the same. */
  readonly #merged = new WeakMap<readonly ManifestEntry[], Promise<ReadonlyMap<string, readonly BigInt64Array[]>>>();
  /** What will be asked for, not loaded yet as far as it has been looked at. */
  readonly #ahead: Iterator<ManifestEntry, undefined>;
  #positions = 0;

  /** @param expected delete files in the order they will be asked for: many small ones are read in one query. */
  constructor(source: MetadataSource, metadata: TableMetadata, engine: OpenEngine, expected: readonly ManifestEntry[] = []) {
    this.#source = source;
    this.#metadata = metadata;
    this.#engine = engine;
    this.#ahead = expected.values();
  }

  /** The positions that delete files of the data file's partition, and those of its own, name; in no order. */
  async of(
    path: string,
    files: { readonly own: readonly ManifestEntry[]; readonly shared: readonly ManifestEntry[] },
    signal?: AbortSignal,
  ): Promise<readonly BigInt64Array[]> {
    const shared = files.shared.length === 0 ? undefined : (await this.#mergedOf(files.shared, signal)).get(path);
    const own = await this.#load(files.own, signal);
    return [...(shared ?? []), ...own.flatMap((positions) => positions.get(path) ?? [])];
  }

  /** All rows of one delete file, whatever it says of itself. */
  async rowsOf(entry: ManifestEntry, signal?: AbortSignal): Promise<PositionsByPath> {
    const [positions] = await this.#scanned([entry], (engine, sql) => this.#byPath(engine, sql, [entry], signal), signal);
    return positions ?? new Map<string, BigInt64Array>();
  }

  #mergedOf(entries: readonly ManifestEntry[], signal: AbortSignal | undefined): Promise<ReadonlyMap<string, readonly BigInt64Array[]>> {
    const present = this.#merged.get(entries);
    if (present !== undefined) return present;
    const merged = this.#merge(entries, signal);
    this.#merged.set(entries, merged);
    merged.catch(() => this.#merged.delete(entries));
    return merged;
  }

  async #merge(entries: readonly ManifestEntry[], signal: AbortSignal | undefined): Promise<ReadonlyMap<string, readonly BigInt64Array[]>> {
    const merged = new Map<string, BigInt64Array[]>();
    for (const positions of await this.#load(entries, signal)) {
      for (const [path, rows] of positions) {
        const known = merged.get(path);
        if (known === undefined) merged.set(path, [rows]);
        else known.push(rows);
      }
    }
    return merged;
  }

  async #load(entries: readonly ManifestEntry[], signal: AbortSignal | undefined): Promise<readonly PositionsByPath[]> {
    const missing = entries.filter((entry) => !this.#loaded.has(entry));
    if (missing.length > 0) missing.push(...this.#next(filesPerQuery - (missing.length % filesPerQuery), new Set(missing)));
    for (let from = 0; from < missing.length; from += filesPerQuery) {
      const part = missing.slice(from, from + filesPerQuery);
      const read = this.#read(part, signal);
      for (const [index, entry] of part.entries()) {
        const positions = read.then((all) => all[index] ?? new Map<string, BigInt64Array>());
        this.#loaded.set(entry, positions);
        positions.catch(() => this.#loaded.delete(entry));
      }
      await read;
    }
    return Promise.all(entries.map((entry) => this.#loaded.get(entry) ?? noPositions));
  }

  /** The next delete files that will be asked for. */
  #next(count: number, known: ReadonlySet<ManifestEntry>): readonly ManifestEntry[] {
    const next: ManifestEntry[] = [];
    while (next.length < count) {
      const { done, value } = this.#ahead.next();
      if (done === true) break;
      if (!this.#loaded.has(value) && !known.has(value)) next.push(value);
    }
    return next;
  }

  async #read(entries: readonly ManifestEntry[], signal: AbortSignal | undefined): Promise<readonly PositionsByPath[]> {
    const read = new Map<ManifestEntry, PositionsByPath>();
    const remember = (some: readonly ManifestEntry[], all: readonly PositionsByPath[]): void => {
      for (const [index, positions] of all.entries()) read.set(present(some[index], 'positions are of an entry'), positions);
    };
    const referring = entries.filter(({ file }) => file.referencedDataFile !== undefined);
    const others = entries.filter(({ file }) => file.referencedDataFile === undefined);
    if (referring.length > 0)
      remember(referring, await this.#scanned(referring, (engine, sql) => this.#ofOne(engine, sql, referring, signal), signal));
    if (others.length > 0)
      remember(others, await this.#scanned(others, (engine, sql) => this.#byPath(engine, sql, others, signal), signal));
    return entries.map((entry) => read.get(entry) ?? new Map<string, BigInt64Array>());
  }

  async #scanned<Result>(
    entries: readonly ManifestEntry[],
    use: (engine: Engine, sql: string) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const engine = await this.#engine();
    const files = entries.map((entry) => ({ entry }));
    const nameToId = (path: readonly string[]): number | undefined => deleteColumns.fields.find(({ name }) => name === path.join('.'))?.id;
    const request = { metadata: this.#metadata, schema: deleteColumns, files, nameToId, withLineage: false };
    const scan = await readableFiles(this.#source, request, signal);
    const relation = await engine.scan(scan, { withPositions: true }, signal);
    try {
      return await use(engine, relation.sql);
    } finally {
      await relation.dispose();
    }
  }

  /** Of files that say which data file they are of: the engine compares the paths, and none of them is made text here. */
  async #ofOne(
    engine: Engine,
    sql: string,
    entries: readonly ManifestEntry[],
    signal: AbortSignal | undefined,
  ): Promise<readonly PositionsByPath[]> {
    const paths = entries.map(({ file }) => file.referencedDataFile ?? '');
    const lists = entries.map((): BigInt64Array[] => []);
    const path = `list_extract([${paths.map((one) => sqlText(one)).join(', ')}], f + 1)`;
    const named = `SELECT ${scanColumns.fileIndex} AS f, pos AS p, file_path AS d FROM (${sql})`;
    const query = {
      sql: `SELECT f, CASE WHEN d IS NOT NULL THEN p END AS p FROM (${named}) WHERE p IS NULL OR d IS NULL OR d = ${path}`,
      schema: { kind: 'struct', fields: [longField('f'), longField('p')] },
    } as const;
    for await (const batch of engine.read(query, signal)) {
      this.#count(batch.rowCount);
      addPositions(batch, lists, entries);
    }
    return lists.map((chunks, index) => new Map([[paths[index] ?? '', joinedPositions(chunks)]]));
  }

  async #byPath(
    engine: Engine,
    sql: string,
    entries: readonly ManifestEntry[],
    signal: AbortSignal | undefined,
  ): Promise<readonly PositionsByPath[]> {
    const lists = entries.map(() => new Map<string, bigint[]>());
    const query = {
      sql: `SELECT ${scanColumns.fileIndex} AS f, pos AS p, file_path AS d FROM (${sql})`,
      schema: { kind: 'struct', fields: [longField('f'), longField('p'), { name: 'd', type: { kind: 'string' }, nullable: true }] },
    } as const;
    for await (const batch of engine.read(query, signal)) {
      this.#count(batch.rowCount);
      addRows(batch, lists, entries);
    }
    return lists.map((byPath) => new Map(Array.from(byPath, ([path, rows]) => [path, BigInt64Array.from(rows)])));
  }

  #count(rows: number): void {
    this.#positions += rows;
    if (this.#positions > maxPositions) throw tooMany(this.#source.name);
  }
}

function longField(name: string): StructType['fields'][number] {
  return { name, type: { kind: 'long' }, nullable: true };
}

/** Positions of files that are of one data file each. */
function addPositions(batch: ColumnBatch, lists: readonly BigInt64Array[][], entries: readonly ManifestEntry[]): void {
  const [file, position] = batch.columns;
  const files = file?.layout === 'fixed' && file.values instanceof BigInt64Array ? file.values : undefined;
  const positions = position?.layout === 'fixed' && position.values instanceof BigInt64Array ? position.values : undefined;
  if (files === undefined || positions === undefined) return;
  if ((position?.nullCount ?? 0) > 0) throw corrupt(entries, 'has rows without a path or a position');
  for (let from = 0; from < batch.rowCount; ) {
    const at = files[from] ?? 0n;
    let until = from + 1;
    while (until < batch.rowCount && files[until] === at) until += 1;
    lists[Number(at)]?.push(withoutRepeats(positions.subarray(from, until)));
    from = until;
  }
}

/** A copy: a batch may be a view of memory that is used again. A file of few bytes can say one row millions of times. */
function withoutRepeats(positions: BigInt64Array): BigInt64Array {
  return positions.filter((position, index) => index === 0 || position !== positions[index - 1]);
}

const decoder = new TextDecoder();

function addRows(batch: ColumnBatch, lists: readonly Map<string, bigint[]>[], entries: readonly ManifestEntry[]): void {
  const [file, position, path] = batch.columns;
  if (file?.layout !== 'fixed' || position?.layout !== 'fixed' || path?.layout !== 'bytes') return;
  if (position.nullCount > 0 || path.nullCount > 0) throw corrupt(entries, 'has rows without a path or a position');
  // Rows come sorted by path: the text is decoded when it changes.
  let last: Uint8Array | undefined;
  let lastFile = -1;
  let rows: bigint[] = [];
  for (let index = 0; index < batch.rowCount; index++) {
    const at = Number(file.values[index]);
    const bytes = bytesAt(path, index);
    if (at !== lastFile || last === undefined || Buffer.compare(last, bytes) !== 0) {
      rows = listAt(lists[at], decoder.decode(bytes));
      last = bytes;
      lastFile = at;
    }
    const row = BigInt(position.values[index] ?? 0);
    // A file of few bytes can say one row millions of times.
    if (rows.at(-1) !== row) rows.push(row);
  }
}

function listAt(byPath: Map<string, bigint[]> | undefined, path: string): bigint[] {
  const present = byPath?.get(path);
  if (present !== undefined) return present;
  const rows: bigint[] = [];
  byPath?.set(path, rows);
  return rows;
}

function corrupt(entries: readonly ManifestEntry[], problem: string): ServiceError {
  return serviceError.corrupt(
    'ICEBERG_DELETE_FILE_CORRUPT',
    `one of the position delete files ${entries
      .slice(0, 3)
      .map(({ file }) => `"${file.path}"`)
      .join(', ')} ${problem}`,
    { hint: 'the deleted rows cannot be told from the others; nothing is read' },
  );
}

function tooMany(table: string): ServiceError {
  return serviceError.unsupported(
    'ICEBERG_TOO_MANY_DELETES',
    `table "${table}": the delete files of one scan name more than ${maxPositions} rows`,
    { hint: 'rewrite the data files (CALL system.rewrite_data_files), or read with a condition that leaves files out' },
  );
}
