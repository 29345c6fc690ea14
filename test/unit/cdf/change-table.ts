import { toEpochMs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { OpenObjectStore } from '../../../src/storage/object-store.ts';
import type { ChangeFile, VersionChanges } from '../../../src/table/changes.ts';
import { putReaderNote, type ReaderNote } from '../../../src/table/reader-notes.ts';
import type { PartitionValues } from '../../../src/table/staged-file.ts';
import type { Snapshot, Table } from '../../../src/table/table.ts';
import { toVersion, type Version } from '../../../src/table/version.ts';

/** Rows of one change file; those of `recorded` files have a `_change_type`. */
export interface FileRows {
  readonly kind: ChangeFile['kind'];
  readonly rows: readonly InputRow[];
  readonly partitionValues?: PartitionValues;
  /** False leaves the count out of the log. */
  readonly counted?: boolean;
  /** No row of it is one of the feed's. */
  readonly ruledOut?: true;
}

export const ordersSchema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'name', type: { kind: 'string' }, nullable: true },
  ],
};

// Of all tables: an engine that reads several of them tells files apart by their paths.
let fileNumber = 0;

/** A table of hand-made versions whose change files lie in a memory store; implements what a feed asks of a table. */
export class ChangeTable implements Table {
  readonly name = 'orders';
  readonly format = 'delta';
  readonly location = 'memory://orders';
  readonly capabilities = { changeFeed: 'recorded', rowLevel: 'copy-on-write', maintenance: [] } as const;
  readonly openStore: OpenObjectStore;
  tableId = 'table-1';
  #schema: StructType;
  readonly #store: MemoryObjectStore;
  readonly #versions: VersionChanges[] = [];
  readonly #live = new Map<Version, VersionChanges>();
  readonly #gone = new Map<Version, string>();

  constructor(schema: StructType = ordersSchema) {
    this.#schema = schema;
    this.#store = new MemoryObjectStore({ name: 'orders', clock: new SystemClock() });
    this.openStore = () => this.#store;
  }

  get latestVersion(): Version {
    return toVersion(this.#versions.length - 1);
  }

  /** Commits a version with these change files; without any it is one of maintenance. */
  async commit(files: readonly FileRows[]): Promise<VersionChanges> {
    const changes = await this.#changes(toVersion(this.#versions.length), files);
    this.#versions.push(changes);
    return changes;
  }

  /** Says of a version that it takes away every row that the table had. */
  empty(changes: VersionChanges): void {
    this.#versions[changes.version] = { ...changes, empties: true };
  }

  /** Versions committed from here on have these columns. */
  alter(schema: StructType): void {
    this.#schema = schema;
  }

  /** Sets the live rows of the newest version. */
  async setLive(files: readonly FileRows[]): Promise<void> {
    this.#live.set(this.latestVersion, await this.#changes(this.latestVersion, files));
  }

  /** Log cleanup or vacuum took this version's changes away. */
  lose(version: number, code = 'CDF_GAP'): void {
    this.#gone.set(toVersion(version), code);
  }

  noteReaders(note: ReaderNote): Promise<void> {
    return putReaderNote(this.#store, note, this.tableId);
  }

  heldBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  /** The log ends at `version` again, as after a restore of the storage. */
  putBack(version: Version): void {
    this.#versions.length = version + 1;
  }

  /** Deletes a version's files, as a careless vacuum does. */
  async deleteFiles(version: number): Promise<void> {
    for (const file of this.#versions[version]?.files ?? []) await this.#store.delete(file.path);
  }

  refresh(): Promise<Snapshot> {
    return this.snapshotAt(this.latestVersion);
  }

  snapshotAt(version: Version): Promise<Snapshot> {
    const marks = new Map<string, bigint>();
    return Promise.resolve({
      tableId: this.tableId,
      version,
      committedAt: toEpochMs(0),
      schema: this.#schema,
      partitionColumns: [],
      properties: {},
      fileCount: 0,
      sizeBytes: 0,
      rowCount: undefined,
      progressOf: () => undefined,
      progressStartingWith: () => marks,
    });
  }

  changesOf(version: Version): Promise<VersionChanges> {
    return this.#found(version, this.#versions[version]);
  }

  rowsAt(version: Version): Promise<VersionChanges> {
    return this.#found(version, this.#live.get(version));
  }

  history(): Promise<Awaited<ReturnType<Table['history']>>> {
    const entries = this.#versions.map((changes) => ({
      version: changes.version,
      committedAt: changes.committedAt,
      operation: 'WRITE',
      operationParameters: {},
      operationMetrics: {},
      userMetadata: undefined,
      engineInfo: undefined,
      progress: new Map<string, bigint>(),
      addedFiles: 0,
      removedFiles: 0,
      addedRows: undefined,
      dataChange: true,
      previous: undefined,
    }));
    return Promise.resolve(entries.toReversed());
  }

  writeSpec: () => never = unused;
  tryAppend: () => never = unused;
  tryUpsert: () => never = unused;
  repeatedKeys: () => never = unused;
  keepLastRows: () => never = unused;
  findCommit: () => never = unused;
  afterCommit: () => never = unused;
  health: () => never = unused;
  detail: () => never = unused;
  readonly operations: { readonly alter: () => never } = { alter: unused };
  planCompaction: () => never = unused;
  compact: () => never = unused;
  vacuum: () => never = unused;
  checkpoint: () => never = unused;

  #found(version: Version, changes: VersionChanges | undefined): Promise<VersionChanges> {
    const code = this.#gone.get(version);
    if (code === undefined && changes !== undefined) return Promise.resolve(changes);
    return Promise.reject(new ServiceError({ code: code ?? 'CDF_GAP', kind: 'not-found', message: `version ${version} is gone` }));
  }

  async #changes(version: Version, files: readonly FileRows[]): Promise<VersionChanges> {
    const stored: ChangeFile[] = [];
    for (const file of files) stored.push(await this.#put(file));
    return {
      version,
      committedAt: toEpochMs(1_700_000_000_000 + version * 1000),
      schema: this.#schema,
      partitionColumns: [],
      files: stored,
    };
  }

  async #put(file: FileRows): Promise<ChangeFile> {
    const partitionValues = file.partitionValues ?? {};
    const fields = this.#schema.fields.filter((field) => !Object.hasOwn(partitionValues, field.name));
    const changeType = { name: '_change_type', type: { kind: 'string' }, nullable: true } as const;
    const schema: StructType = { kind: 'struct', fields: file.kind === 'recorded' ? [...fields, changeType] : fields };
    const bytes = await writeParquet([buildBatch(schema, file.rows)], { compression: 'snappy' });
    const path = `file-${(fileNumber++).toString().padStart(6, '0')}.parquet`;
    await this.#store.put(path, bytes);
    const rowCount = file.counted === false ? undefined : file.rows.length;
    const { kind, ruledOut } = file;
    return { kind, path, sizeBytes: bytes.length, partitionValues, rowCount, ...(ruledOut && { ruledOut }) };
  }
}

function unused(): never {
  throw new ServiceError({ code: 'ASSERTION_FAILED', kind: 'internal', message: 'a feed does not call this' });
}
