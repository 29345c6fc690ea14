import type { StructType } from '../schema/types.ts';

/** A partition column's value as text in the table format's own spelling; `undefined` is null. */
export type PartitionValues = Readonly<Record<string, string | undefined>>;

/** A bound as a neutral value: integers, dates (days) and timestamps (micros) as bigint, decimals unscaled. */
export type BoundValue = bigint | number | string;

/** Statistics of one leaf column of one file, computed from the rows (never from a footer). */
export interface ColumnStatistics {
  /** Field names from the root; only struct members are entered, lists and maps are leaves. */
  readonly path: readonly string[];
  readonly nullCount: number;
  /** Exact smallest and largest non-null value; absent when there is none, when a NaN takes part, or for types without order (binary, boolean, list, map). */
  readonly min?: BoundValue | undefined;
  readonly max?: BoundValue | undefined;
  readonly nanCount?: number | undefined;
}

/** A data file that is stored durably and not referenced by any version. */
export interface StagedFile {
  /** Relative to the table's root, as stored (not percent-encoded). */
  readonly path: string;
  readonly partitionValues: PartitionValues;
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly modifiedMs: number;
  readonly statistics: readonly ColumnStatistics[];
}

/** How data files of one table are written: plain data, sent to worker threads. */
export interface WriteSpec {
  /** The table's location, to be opened with `OpenObjectStore`. */
  readonly location: string;
  /** All columns in table order, partition columns included. */
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  /** Delta leaves partition columns out of the file; Iceberg keeps them. */
  readonly partitionColumnsInFile: boolean;
  readonly compression: 'zstd' | 'snappy' | 'uncompressed';
  /** `hive-delta`: `col=value/part-…` with Hive escaping and Delta's value spelling. */
  readonly partitionPathStyle: 'hive-delta' | 'iceberg';
  /** At most this many leaf columns, in schema order, get min and max (all get null counts); -1 = all. */
  readonly statisticsColumns: number;
}
