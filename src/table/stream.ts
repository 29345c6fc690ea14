import type { StructType } from '../schema/types.ts';
import type { ChangeScan } from './scan.ts';
import type { Version } from './version.ts';

export interface StreamOptions {
  /** Row changes with their change columns; otherwise the rows of added files, where other changes are an error or skipped. */
  readonly changeFeed: boolean;
  /** Default `snapshot`: the rows of the newest version first, as inserts, then what follows. `latest`: only what follows. */
  readonly start?:
    | { readonly kind: 'snapshot' }
    | { readonly kind: 'latest' }
    | { readonly kind: 'version'; readonly version: Version }
    | { readonly kind: 'timestamp'; readonly timestampMs: number }
    | undefined;
  /** Files of one batch. Default 1000. At least one file is taken whatever its size. */
  readonly maxFilesPerTrigger?: number | undefined;
  readonly maxBytesPerTrigger?: number | undefined;
  /** No file is added to a batch that has so many rows. Only of formats that know how many rows are in a file. */
  readonly maxRowsPerTrigger?: number | undefined;
  /** Without a change feed: versions that only remove whole partitions are passed over. */
  readonly ignoreDeletes?: boolean | undefined;
  /** Without a change feed: versions that rewrite or remove rows are passed over. */
  readonly skipChangeCommits?: boolean | undefined;
  /** Without a change feed: rewritten files are read again, unchanged rows included. */
  readonly ignoreChanges?: boolean | undefined;
  /** Without a change feed: files with such a path, relative to the table, are left out. */
  readonly excludePaths?: RegExp | undefined;
  /** False: versions whose log is gone are passed over. Default true. */
  readonly failOnDataLoss?: boolean | undefined;
}

/**
 * A table as an endless sequence of rows that a query takes batch by batch. An offset is JSON text in the format's own form; it names a
 * place between two files, never inside one. Batches are repeatable: the same two offsets give the same rows.
 */
export interface StreamSource {
  /** For progress documents, such as `DeltaSource[file:/tables/orders]`. */
  readonly description: string;
  /**
   * Columns of the rows, change columns included. Fixed: rows of every version are given in them, and a version whose rows do not fit ends
   * the stream with an error.
   */
  readonly schema: StructType;
  readonly changeFeed: boolean;
  /**
   * Where a batch after `after` (`undefined`: the first one) would end; `undefined` when there is nothing to read.
   * @throws AnalysisException `DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE`, `DELTA_SCHEMA_CHANGED_WITH_VERSION`,
   * `DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS`, `DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG`,
   * `DELTA_SOURCE_TABLE_IGNORE_CHANGES`, `DELTA_SOURCE_IGNORE_DELETE`, and those of change reads.
   */
  nextOffset(after: string | undefined, signal?: AbortSignal): Promise<string | undefined>;
  /** From now on no batch goes beyond the newest version there is, so that a query can end. */
  freeze(signal?: AbortSignal): Promise<void>;
  /** The rows between two offsets, in order. */
  batch(range: { readonly after: string | undefined; readonly until: string }, signal?: AbortSignal): Promise<readonly ChangeScan[]>;
}
