import type { ColumnStatistics } from '../schema/statistics.ts';
import type { StructType } from '../schema/types.ts';

export type { BoundValue, ColumnStatistics } from '../schema/statistics.ts';

/** A partition column's value as text in the table format's own spelling; `undefined` is null. */
export type PartitionValues = Readonly<Record<string, string | undefined>>;

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
