import type { SnapshotLogEntry, TableMetadata } from './table-metadata.ts';

export interface SnapshotLogChanges {
  /** Snapshots that were added. */
  readonly added: ReadonlySet<bigint>;
  /** Snapshots that were made the current one, in turn. */
  readonly madeCurrent: readonly bigint[];
  readonly removedSnapshots: boolean;
}

/**
 * The snapshot log when updates are done: without snapshots that were current only between them, and from the first entry on behind which
 * no snapshot is gone, so that a time never leads to a snapshot that was not current then.
 */
export function snapshotLogAfter(
  { snapshotLog, snapshots, currentSnapshotId }: TableMetadata,
  { added, madeCurrent, removedSnapshots }: SnapshotLogChanges,
): readonly SnapshotLogEntry[] {
  const passing = new Set(madeCurrent.filter((id) => added.has(id) && id !== currentSnapshotId));
  if (passing.size === 0 && !removedSnapshots) return snapshotLog;
  const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId));
  const lastGone = removedSnapshots ? snapshotLog.findLastIndex(({ snapshotId }) => !ids.has(snapshotId)) : -1;
  return snapshotLog.slice(lastGone + 1).filter(({ snapshotId }) => !passing.has(snapshotId));
}
