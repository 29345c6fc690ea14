import type { ColumnBatch } from '../schema/columns.ts';
import type { BoundValue, ColumnStatistics } from '../schema/statistics.ts';
import type { StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { HeldRelation, Relation } from '../table/relation.ts';
import type { FileScan } from '../table/scan.ts';

export type { HeldRelation } from '../table/relation.ts';

/** `raise_of(row, message)`: an error of the value, as `error(message)` is, that TRY takes. `row`: something that is no constant. */
export const raiseFunction = 'raise_of';

/** Columns a scan adds behind the table's own when asked for: which file, which row of it (physical position from 0). */
export const scanColumns = {
  /** BIGINT: index into `FileScan.files`. */
  fileIndex: '__file_index',
  /** BIGINT: physical position in the file. */
  rowPosition: '__row_position',
} as const;

export interface ScanOptions {
  /** Adds `scanColumns` as the last columns (they are not in `schema`). */
  readonly withPositions?: boolean | undefined;
  /**
   * Adds the row id and the row commit version behind all other columns, under the names of `FileScan.rowTracking` (they are not in `schema`);
   * null where neither the row nor its file has one. Without effect on a scan that has no `rowTracking`.
   */
  readonly withRowTracking?: boolean | undefined;
  /** Ignores `deletedRows`. */
  readonly withDeletedRows?: boolean | undefined;
}

/** How Parquet files are written. */
export interface ParquetTarget {
  /** Directory that exists or is made; absolute local path. Without effect where there is a `store`. */
  readonly directory: string;
  /** Gets the files in place of a directory (see `parquetPlace`); they are written to a temporary directory before. */
  readonly store?: ObjectStore | undefined;
  /** Path of the file relative to the directory for a partition tuple (values as text, `undefined` null) and a running number. */
  readonly pathOf: (file: { readonly partitionValues: readonly (string | undefined)[]; readonly index: number }) => string;
  /** Columns of the relation that divide the rows; left out of the files unless `keepPartitionColumns`. */
  readonly partitionBy: readonly string[];
  readonly keepPartitionColumns?: boolean | undefined;
  readonly compression: 'zstd' | 'snappy' | 'uncompressed' | 'gzip' | 'lz4_raw' | 'brotli';
  /** Physical shape of the files: names and field ids (`Field.id`), in the relation's column order without partition columns. Default: the relation's. */
  readonly storedSchema?: StructType | undefined;
  /** A file is closed when it has about this many bytes. Default: no limit. */
  readonly targetFileBytes?: number | undefined;
  /** Gives `WrittenFile.details` in place of `statistics`. */
  readonly withDetails?: boolean | undefined;
}

/** A file the engine wrote, durable. */
export interface WrittenFile {
  /** Relative to the target's directory or store, `/` separated. */
  readonly path: string;
  readonly partitionValues: readonly (string | undefined)[];
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly modifiedMs: number;
  /** By stored names; exact bounds or none. Text bounds of 256 bytes or more are true bounds that agree with the exact ones in their first 255 bytes. */
  readonly statistics: readonly ColumnStatistics[];
  /** Where they were asked for. */
  readonly details?: FileDetails | undefined;
}

export interface FileDetails {
  /** Where the row groups begin, ascending. */
  readonly splitOffsets: readonly number[];
  /** Of each leaf in schema order, those inside of lists and maps too. */
  readonly columns: readonly ColumnDetails[];
}

/** UUIDs as text, binary as bytes. */
export type StoredBound = BoundValue | boolean | Uint8Array;

/** What a file holds of one leaf column. */
export interface ColumnDetails {
  /** `Field.id`, or the id of the list element, map key or value. */
  readonly id: number | undefined;
  /** Stored names; `element`, `key` and `value` inside of lists and maps. */
  readonly path: readonly string[];
  readonly storedBytes: number;
  /** Rows without a value, also for lack of an enclosing struct; `undefined` inside of lists and maps, which have no bounds either. */
  readonly nullCount: number | undefined;
  /** Of float and double. */
  readonly nanCount: number | undefined;
  /** NaN left out; absent when there is no value. Text and bytes of 256 bytes or more as in `statistics`. The sign of zeros is not certain. */
  readonly min: StoredBound | undefined;
  readonly max: StoredBound | undefined;
}

/**
 * The embedded query engine: executes relations over Parquet files and held rows, with a memory limit and spill to disk. All text is SQL
 * of the engine, made with `quoteName`, `sqlLiteral` and `expressionSql`.
 *
 * Errors: `ENGINE_OUT_OF_MEMORY` (unavailable), `ENGINE_DISK_FULL` (unavailable), `ENGINE_FILE_MISSING` (not-found: a data file is gone),
 * `ENGINE_FILE_CORRUPT` (corrupt), `ENGINE_QUERY_FAILED` (invalid: a value cannot be computed, such as a malformed cast), `ABORTED`.
 */
export interface Engine {
  /** Reads a scan's files as rows of the table: partition values, deleted rows, nested renames and widened types applied. */
  scan(scan: FileScan, options?: ScanOptions, signal?: AbortSignal): Promise<HeldRelation>;
  /** Evaluates once and keeps the rows (spills). */
  materialize(relation: Relation, signal?: AbortSignal): Promise<HeldRelation>;
  /** Keeps given rows. */
  hold(schema: StructType, batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>, signal?: AbortSignal): Promise<HeldRelation>;
  /** Streams rows in batches of at most 2,048 rows, in the query's order, with back-pressure. */
  read(relation: Relation, signal?: AbortSignal): AsyncIterable<ColumnBatch>;
  /** The columns a query would have. @throws ServiceError `ENGINE_QUERY_INVALID` (invalid) with the engine's reason. */
  describe(sql: string, signal?: AbortSignal): Promise<StructType>;
  /** Runs a query whose few rows are plain values: bigint for 64-bit numbers, text for decimals. For plans and counts. */
  rows(sql: string, signal?: AbortSignal): Promise<readonly (readonly unknown[])[]>;
  /**
   * A query over rows that are handed in batch by batch, prepared once. `query` gets SQL of a relation: the number of the row in its batch from 0 on as
   * `n`, and its columns as `c0`, `c1` and so on.
   */
  prepare(given: StructType, query: (source: string) => Relation): Promise<PreparedRows>;
  /**
   * Writes the rows as Parquet files; no file for a partition without rows. On failure the written files are deleted (nothing refers to them).
   * A sorted relation keeps its order in a single file; with partitions or a target size its row groups may change places.
   */
  writeParquet(relation: Relation, target: ParquetTarget, signal?: AbortSignal): Promise<readonly WrittenFile[]>;
  /** The engine's own plan of a query, as text. */
  explain(relation: Relation, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** A query that waits for rows. One batch at a time; the caller closes it. */
export interface PreparedRows {
  run(rows: ColumnBatch): AsyncIterable<ColumnBatch>;
  close(): void;
}

/** Opens the engine when it is first needed. */
export type OpenEngine = () => Promise<Engine>;
