import { ancestorsOf, snapshotById } from './ancestry.ts';
import type { TableMetadata } from './metadata/table-metadata.ts';
import { versionOf } from './snapshot-state-of.ts';

/** The snapshot that was the current one at a time, by the snapshot log; `undefined` before the first. */
export function snapshotIdAt({ snapshotLog }: TableMetadata, timestampMs: number): bigint | undefined {
  return snapshotLog.findLast((entry) => entry.timestampMs <= timestampMs)?.snapshotId;
}

/** The snapshot of a version in the ancestry of `head`; `undefined`: it is not there. */
export function snapshotIdOfVersion(metadata: TableMetadata, head: bigint | undefined, version: number): bigint | undefined {
  const from = head === undefined ? undefined : snapshotById(metadata, head);
  if (from === undefined) return undefined;
  if (metadata.formatVersion === 1) {
    const ancestors = [...ancestorsOf(metadata, from)];
    return ancestors[ancestors.length - version]?.snapshotId;
  }
  for (const snapshot of ancestorsOf(metadata, from)) {
    // Snapshots from before the table had sequence numbers share one.
    if (snapshot.sequenceNumber > 0n && versionOf(metadata, snapshot) === version) return snapshot.snapshotId;
  }
  return undefined;
}
