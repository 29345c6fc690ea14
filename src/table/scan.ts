import type { Confinement } from '../base/confinement.ts';
import type { Expression, Literal } from '../expr/expression.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import type { HiddenColumn } from './hidden-columns.ts';
import type { PartitionValues } from './staged-file.ts';

export interface ScanRequest {
  /** Rows added after the first snapshot, up to and with the one that is scanned, by appends alone. */
  readonly appendedAfter?: bigint | undefined;
  /**
   * Condition over the table's columns, bound to its schema. Files that cannot hold a row of it are left out; rows are not filtered by the
   * scan. Default: all files.
   */
  readonly filter?: Expression | undefined;
  /** Names of hidden columns of the table that the scan shall have too. Default: none. */
  readonly hidden?: readonly string[] | undefined;
  /** Condition over those: files that cannot hold a row of it may be left out. */
  readonly hiddenFilter?: Expression | undefined;
}

/** Where the files of a scan hold a column. */
export interface StoredColumn {
  /** The table's column, as users see it. */
  readonly field: Field;
  /** How it is found in a file: by the name it was written under, or by Parquet field id. Absent in a file: null. */
  readonly match: { readonly by: 'name'; readonly name: string } | { readonly by: 'id'; readonly id: number };
  /** The column's type with the names its nested members are stored under; same shape as `field.type`. */
  readonly storedType: DataType;
  /** Files may hold it in a type that lacks values of its own: no condition may be asked of what they hold. */
  readonly coarser?: boolean | undefined;
  /** Members inside of the column that these files do not hold, whatever their names in `storedType`. */
  readonly absent?: readonly AbsentMember[] | undefined;
}

/** A member of a struct that files do not hold. */
export interface AbsentMember {
  /** By the table's names from below the column; `element`, `key` and `value` lead into lists and maps. */
  readonly path: readonly string[];
  /** What it is wherever its struct is not null; `undefined`: null. */
  readonly value: Literal | undefined;
}

/** How files of one shape hold a table's columns. */
export interface FileLayout {
  /** Of the columns that files hold. */
  readonly storedColumns: readonly StoredColumn[];
  /** Columns that come from `partitionValues`, by the table's name. */
  readonly partitionColumns: readonly string[];
  /** Value, by the table's name, of columns that a file does not hold, `storedColumns` among them; of others: null. */
  readonly defaults?: ReadonlyMap<string, Literal> | undefined;
}

/** One data file with the rows of it that count. */
export interface ScanFile {
  /** As opened: an absolute path or URI. */
  readonly path: string;
  /** Where it differs from the scan's. Files of one shape share one object. */
  readonly layout?: FileLayout | undefined;
  /**
   * Of a file that the engine does not read itself (other than Parquet, or with instants of nanoseconds, which it would cut): reads its
   * rows, in the order of the file, every column of the scan's schema in it, those of the layout's partition columns excepted, and behind
   * them, when the scan has row tracking and the file holds them, the two columns of it.
   */
  readonly rows?: ((signal?: AbortSignal) => AsyncIterable<ColumnBatch>) | undefined;
  /** 0: not known. */
  readonly sizeBytes: number;
  /** Rows in the file, deleted ones included; `undefined` when not known. */
  readonly rowCount: number | undefined;
  /**
   * By the table's column name, as text that the column's type is read from: plain decimal numbers, `true`, `2024-02-29`,
   * `2024-02-29 10:00:00.000001` (UTC for timestamps), strings as they are, binary as lower-case hex; `undefined` is null.
   */
  readonly partitionValues: PartitionValues;
  /** Reads the ascending row positions that are deleted, when there are any. */
  readonly deletedRows?: ((signal?: AbortSignal) => Promise<BigInt64Array>) | undefined;
  /**
   * Reads the ascending row positions that are the only ones that count; the other rows of the file are as if they were not there, whatever
   * the options of the scan. For changes that touch few rows of a file. All files of a scan have it, or none.
   */
  readonly onlyRows?: ((signal?: AbortSignal) => Promise<BigInt64Array>) | undefined;
  /** First row id of the file and the version its rows count from, where the table tracks rows. */
  readonly baseRowId?: bigint | undefined;
  readonly defaultRowCommitVersion?: bigint | undefined;
}

/** What a scan looked at: `considered` = all live files, `selected` = those that remain after pruning. */
export interface ScanStatistics {
  readonly filesConsidered: number;
  readonly bytesConsidered: number;
  readonly filesSelected: number;
  readonly bytesSelected: number;
}

/** BIGINT columns of a table's files that hold what belongs to a row wherever it is moved; null, or absent: it follows from the file. */
export interface RowTrackingColumns {
  /** Id of the row, else `ScanFile.baseRowId` and the row's position. */
  readonly rowId: string;
  /** Parquet field ids of both, where files are read by id. */
  readonly fieldIds?: { readonly rowId: number; readonly commitVersion: number } | undefined;
  /** Version that changed the row last, else `ScanFile.defaultRowCommitVersion`. */
  readonly commitVersion: string;
}

/** The files and columns to read: plain data for the engine. */
export interface FileScan extends FileLayout {
  /** The table's columns in order, partition columns included. */
  readonly schema: StructType;
  /** Where the table tracks rows. */
  readonly rowTracking?: RowTrackingColumns | undefined;
  /** Columns behind all others, which are not in `schema`. Those of row tracking need `rowTracking`. */
  readonly hidden?: readonly HiddenColumn[] | undefined;
  /** A row for each of `files`, in their order, with what hidden columns and members have of them (`ofFiles`). */
  readonly facts?: ColumnBatch | undefined;
  readonly files: readonly ScanFile[];
  /**
   * Reads bytes `[from, until)` of a file that lies in no local file system; fewer where it ends earlier. Files of a table never change.
   * Absent: the engine opens their locations itself.
   */
  readonly readRange?: ReadFileRange | undefined;
  /** Directories that local files must lie in with all links followed. Absent: the files were named by whoever reads them. */
  readonly within?: Confinement | undefined;
  readonly statistics: ScanStatistics;
}

export type ReadFileRange = (
  path: string,
  range: { readonly from: number; readonly until: number },
  signal?: AbortSignal,
) => Promise<Uint8Array>;

/**
 * Change rows of one version: the files of `scan` hold them. In `recorded` files each row says itself what happened to it: the last column
 * of the scan's schema is `_change_type`. A version may have several scans; one without row changes has none.
 */
export interface ChangeScan {
  readonly version: number;
  /** Microseconds since the epoch. */
  readonly committedAtMicros: bigint;
  readonly kind: 'insert' | 'delete' | 'recorded';
  readonly scan: FileScan;
}
