import type { EpochMs } from '../base/clock.ts';
import type { StorageSettings } from '../base/storage-settings.ts';
import type { Expression } from '../expr/expression.ts';
import type { StructType } from '../schema/types.ts';
import type { FileLayout } from './scan.ts';
import type { PartitionValues } from './staged-file.ts';
import type { Version } from './version.ts';

export type ChangeType = 'insert' | 'delete' | 'update_preimage' | 'update_postimage';

/**
 * A file whose rows are changes of one version: plain data, read in a worker. `recorded` files carry `_change_type` in each row;
 * in the others every row is an insert or a delete.
 */
export interface ChangeFile {
  readonly kind: 'insert' | 'delete' | 'recorded';
  readonly path: string;
  /** Where the path is, as `OpenObjectStore` takes it. Default: the table's location. */
  readonly location?: string | undefined;
  /** Settings of the store there: sent to a thread as they are at the time. Default: the process's own. */
  readonly storage?: StorageSettings | undefined;
  readonly sizeBytes: number;
  /**
   * As `ScanFile.partitionValues`. Without a layout the file holds none of these columns; with one, those are read from here that it says are.
   */
  readonly partitionValues: PartitionValues;
  /** How the file holds the table's columns, when reading it takes more than their names. Files of one shape share it. */
  readonly layout?: FileLayout | undefined;
  /** How to read a file that neither its names nor a layout are enough for. */
  readonly other?: OtherFile | undefined;
  /** Rows of the file that are changes, when the log or a manifest says so. */
  readonly rowCount: number | undefined;
  /** The condition that changes were asked for with (`ChangesRequest`) is true of no row of the file. */
  readonly ruledOut?: true | undefined;
  /** Ascending positions of rows that are none: they were deleted before. */
  readonly deletedRows?: BigInt64Array | undefined;
  /** Ascending positions of the only rows that are changes. */
  readonly onlyRows?: BigInt64Array | undefined;
}

/** A file whose rows come from a reader of their own, which finds columns by the field ids of the schema. */
export interface OtherFile {
  readonly format: 'parquet' | 'avro' | 'orc';
  /** The table's mapping of names to ids as it is stored, for files without ids. */
  readonly nameMapping?: string | undefined;
  /** By field id: values of columns that the file need not hold. */
  readonly constants: ReadonlyMap<number, boolean | number | bigint | string | Uint8Array | undefined>;
}

/** What whoever reads changes is going to do with them. */
export interface ChangesRequest {
  /** Rows that are wanted: a condition bound to the schema of the version. Files that hold none of them by their statistics are marked. */
  readonly filter?: ((schema: StructType) => Expression | undefined) | undefined;
}

/** All changes of one version, files in the order their rows are numbered (deletes before inserts, then by path). */
export interface VersionChanges {
  readonly version: Version;
  readonly committedAt: EpochMs;
  /** The schema rows are projected to (the table's at that version); columns absent from a file are null. */
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  /** Empty for maintenance, metadata changes and other versions without row changes. */
  readonly files: readonly ChangeFile[];
  /** Absent: the version has nothing to do with the table's rows. */
  readonly link?: VersionLink | undefined;
  /** The version takes away every row that the table had, and no change of it is an update: its deletes are all of them. Default: false. */
  readonly empties?: boolean | undefined;
}

/** How a version follows from others: a reader that has seen another version than `previous` last has missed that the table was put back. */
export interface VersionLink {
  /** What tells the version from every other one that ever has its number. */
  readonly id: string;
  /** `undefined`: the first of the table. */
  readonly previous: string | undefined;
  /** The version before was cleaned up: whether it is the one that was seen cannot be known. */
  readonly previousExpired?: boolean | undefined;
}

/** Changes, some of whose files are made for whoever reads them. */
export interface HeldChanges extends VersionChanges {
  /** Deletes files that were made for the reader; to be called when nobody reads them any more. Never throws. */
  readonly release?: (() => Promise<void>) | undefined;
}

/**
 * What is sent to worker threads: without what only this thread can do. A version is sent once for each of its transactions, so positions of rows lie
 * in memory that threads share.
 */
export function plainChanges(changes: HeldChanges): VersionChanges {
  const { version, committedAt, schema, partitionColumns, link, empties } = changes;
  const files = changes.files.map((file) => {
    const { deletedRows, onlyRows } = file;
    if (deletedRows === undefined && onlyRows === undefined) return file;
    return { ...file, deletedRows: deletedRows && shared(deletedRows), onlyRows: onlyRows && shared(onlyRows) };
  });
  return { version, committedAt, schema, partitionColumns, files, link, empties };
}

function shared(positions: BigInt64Array): BigInt64Array {
  const copy = new BigInt64Array(new SharedArrayBuffer(positions.byteLength));
  copy.set(positions);
  return copy;
}

/** The live rows of one version, for bootstrapping a feed: every file an `insert` file, ordered by path. */
export type SnapshotRows = HeldChanges;
