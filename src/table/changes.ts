import type { EpochMs } from '../base/clock.ts';
import type { StructType } from '../schema/types.ts';
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
  readonly sizeBytes: number;
  readonly partitionValues: PartitionValues;
  /** Rows of the file that are changes, when the log says so. */
  readonly rowCount: number | undefined;
  /** Ascending positions of rows that are none: they were deleted before. */
  readonly deletedRows?: BigInt64Array | undefined;
  /** Ascending positions of the only rows that are changes. */
  readonly onlyRows?: BigInt64Array | undefined;
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
}

/** The live rows of one version, for bootstrapping a feed: every file an `insert` file, ordered by path. */
export type SnapshotRows = VersionChanges;
