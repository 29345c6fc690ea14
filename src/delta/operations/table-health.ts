import type { EpochMs } from '../../base/clock.ts';
import type { CompactionRule, TableHealth } from '../../table/operations.ts';
import type { Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { type CompactionAbility, debtOf } from './optimize/plan-compaction.ts';

export interface HealthFacts {
  readonly compaction: CompactionRule & CompactionAbility;
  /** The version of the newest complete log checkpoint, if there is one. */
  readonly newestCheckpoint: Version | undefined;
  readonly lastVacuumMs: EpochMs | undefined;
}

/** What maintenance looks at, from the snapshot and what was read beside it: no I/O. */
export function tableHealth(snapshot: DeltaSnapshot, { compaction, newestCheckpoint, lastVacuumMs }: HealthFacts): TableHealth {
  const { smallFileCount, partitionCount, groups } = debtOf(snapshot, compaction);
  return {
    version: snapshot.version,
    fileCount: snapshot.fileCount,
    sizeBytes: snapshot.sizeBytes,
    smallFileCount,
    compactable: { files: groups.reduce((sum, group) => sum + group.length, 0), partitions: partitionCount },
    tombstoneCount: snapshot.tombstoneCount,
    lastVacuumMs,
    versionsSinceCheckpoint: snapshot.version - (newestCheckpoint ?? -1),
  };
}
