import type { TableHealth } from '../../table/operations.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { partitionKeys } from './optimize/partition-key.ts';
import { isSmall } from './optimize/plan-compaction.ts';

/** Below half the default compaction target a file is small. */
const smallFileBytes: number = 64 << 20;

/**
 * What maintenance looks at, from the snapshot alone: no I/O. `newestCheckpoint` is the version of the newest complete log checkpoint,
 * if there is one. Partitions with most small files come first. `deletionVectors`: compaction can rewrite files that have one; others are not
 * counted, for nothing would be done about them.
 */
export function tableHealth(
  snapshot: DeltaSnapshot,
  newestCheckpoint: Version | undefined,
  options: { readonly deletionVectors: boolean } = { deletionVectors: false },
): TableHealth {
  const keyOf = partitionKeys(snapshot);
  let smallFileCount = 0;
  const partitions = new Map<string, { readonly partitionValues: PartitionValues; smallFiles: number }>();
  for (const file of snapshot.files()) {
    if (!isSmall(file, { belowBytes: smallFileBytes, ...options })) continue;
    smallFileCount += 1;
    const key = keyOf(file.partitionValues);
    const partition = partitions.get(key) ?? { partitionValues: file.partitionValues, smallFiles: 0 };
    partition.smallFiles += 1;
    partitions.set(key, partition);
  }
  return {
    version: snapshot.version,
    fileCount: snapshot.fileCount,
    sizeBytes: snapshot.sizeBytes,
    smallFileCount,
    smallFilesByPartition: [...partitions.values()].filter(({ smallFiles }) => smallFiles >= 2).sort((a, b) => b.smallFiles - a.smallFiles),
    tombstoneCount: snapshot.tombstoneCount,
    versionsSinceCheckpoint: snapshot.version - (newestCheckpoint ?? -1),
  };
}
