import type { EpochMs } from '../base/clock.ts';
import type { StructType } from '../schema/types.ts';
import type { Snapshot } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import type { IcebergSchema, IcebergSnapshot, TableMetadata } from './metadata/table-metadata.ts';
import type { LoadedMetadata } from './pointer/table-pointer.ts';

/**
 * A table's metadata and one snapshot of it: what `Snapshot` is for Iceberg. Without `snapshot` the table (or branch) has no rows yet.
 * `version` is the sequence number of the snapshot, 0 without one; in format version 1 the snapshot's number in its ancestry, from 1.
 */
export interface SnapshotState extends Snapshot {
  readonly loaded: LoadedMetadata;
  readonly metadata: TableMetadata;
  readonly snapshot: IcebergSnapshot | undefined;
  /** That rows are read by: of time travel the snapshot's own, of a branch's newest the current one. */
  readonly icebergSchema: IcebergSchema;
  /** `icebergSchema.struct`. */
  readonly schema: StructType;
  readonly version: Version;
  readonly committedAt: EpochMs;
}
