import type { StorageSettings } from '../base/storage-settings.ts';
import type { ColumnIds } from '../schema/column-ids.ts';
import type { ColumnStatistics } from '../schema/statistics.ts';
import type { StructType } from '../schema/types.ts';
import type { TransformValue } from './partitioning/apply-transform.ts';
import type { Transform } from './partitioning/transform.ts';

export type { BoundValue, ColumnStatistics } from '../schema/statistics.ts';

/**
 * The value of a partition column, or of a partition field by its name, as text in the table format's own spelling; `undefined` is null.
 */
export type PartitionValues = Readonly<Record<string, string | undefined>>;

/** A data file that is stored durably and not referenced by any version. */
export interface StagedFile {
  /** Relative to the write spec's location, as stored (not percent-encoded). */
  readonly path: string;
  readonly partitionValues: PartitionValues;
  /** Where the table is partitioned by transforms: one value for each field of `WriteSpec.partitioning`. */
  readonly partition?: readonly TransformValue[] | undefined;
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly modifiedMs: number;
  readonly statistics: readonly ColumnStatistics[];
  /** Where they were asked for (`WriteSpec.withLayout`). */
  readonly layout?: StoredLayout | undefined;
}

/** Where the rows are in a file. */
export interface StoredLayout {
  /** Where the row groups begin, ascending. */
  readonly splitOffsets: readonly number[];
  /** Packed bytes of each leaf column by its field id; those without an id are left out. */
  readonly columnBytes: ReadonlyMap<number, number>;
}

/** A field of a partitioning: plain data. */
export interface PartitionRule {
  readonly name: string;
  /** Path of the column it follows from. */
  readonly source: readonly string[];
  readonly transform: Transform;
}

/** How data files of one table are written: plain data, sent to worker threads. */
export interface WriteSpec {
  /** Where the files go, to be opened with `OpenObjectStore`. */
  readonly location: string;
  /**
   * Settings of the store at the location, such as credentials that a catalog hands out for it: sent to a thread as they are at the time. Default:
   * the process's own.
   */
  readonly storage?: StorageSettings | undefined;
  /** All columns in table order, partition columns included; their ids where the table's files have them. */
  readonly schema: StructType;
  /** Ids that files hold beside the schema's own, for tables of other formats that share them. All columns of a file have one, or none has. */
  readonly columnIds?: ColumnIds | undefined;
  readonly partitionColumns: readonly string[];
  /** Partitioning by transforms, in place of `partitionColumns`. */
  readonly partitioning?: readonly PartitionRule[] | undefined;
  /** Delta leaves partition columns out of the file; Iceberg keeps them. */
  readonly partitionColumnsInFile: boolean;
  readonly compression: 'zstd' | 'snappy' | 'uncompressed';
  /**
   * `hive-delta`: `col=value/part-…` with Hive escaping and Delta's value spelling. `iceberg`: `name=value/00000-…`, URL-encoded; `spread`
   * puts directories made of a hash before it, which divide files over the key ranges of an object store.
   */
  readonly partitionPathStyle: 'hive-delta' | 'iceberg';
  readonly spread?: SpreadPaths | undefined;
  /** At most this many leaf columns, in schema order, get min and max (all get null counts); -1 = all. */
  readonly statisticsColumns: number;
  /** Statistics of every type, NaN left out and counted (`ColumnStatistics.exact`). */
  readonly exactStatistics?: boolean | undefined;
  /** Files tell their layout. */
  readonly withLayout?: boolean | undefined;
  /**
   * What files must agree in with the table beyond what is said here, such as ids of columns and of the partitioning: files written under
   * another identity cannot be appended.
   */
  readonly identity?: string | undefined;
}

/** Hash directories before a file's path. */
export interface SpreadPaths {
  /** Stands behind the hash: tells tables of one root apart. May be empty. */
  readonly context: string;
  /** Whether the partition stays in the path. */
  readonly partitioned: boolean;
}
