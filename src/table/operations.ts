import type { EpochMs } from '../base/clock.ts';
import type { PartitionValues, StagedFile, WriteSpec } from './staged-file.ts';
import type { Version } from './version.ts';

/** Which files are worth putting together: the same for asking whether there are any and for choosing them. */
export interface CompactionRule {
  /** Size that files aim at. */
  readonly targetFileBytes: number;
  /** Fewer small files than this (and than 2) are left alone, unless they fill a file. */
  readonly minInputFiles: number;
  /** Files that the groups of one plan become; the rest waits for the next one. */
  readonly maxGroups: number;
  /** A file is rewritten for its own sake when this share of its rows is deleted. Default: a fifth. */
  readonly maxDeletedShare?: number | undefined;
  /** Files of which less is deleted are left alone, small ones too. Default: false. */
  readonly onlyMuchDeleted?: boolean | undefined;
}

/** What health is measured by: the settings of the operations that would follow from it. */
export interface HealthRequest {
  readonly compaction: CompactionRule;
  /** Age at which snapshots expire. Default: the table's own rules. */
  readonly expiryRetentionMs?: number | undefined;
  /** Asked only when there is something that it may hold back. */
  readonly keepVersionsFrom?: (() => Promise<Version | undefined>) | undefined;
}

/** What the maintenance planner looks at. Each number is what the operation of its kind would find at this version. */
export interface TableHealth {
  readonly version: Version;
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Live files below the size that compaction aims at. */
  readonly smallFileCount: number;
  /** What a plan without a limit of groups would take. */
  readonly compactable: { readonly files: number; readonly partitions: number };
  readonly tombstoneCount: number;
  /** Versions since the newest complete log checkpoint. */
  readonly versionsSinceCheckpoint: number;
  /** When a vacuum last ended, where the table itself tells it. */
  readonly lastVacuumMs?: EpochMs | undefined;
  /** Versions that expiry would take out. Absent: the format has no such rules. */
  readonly expirableVersions?: number | undefined;
  /** Files that only say which rows of others are deleted, and that a rewrite would make fewer. */
  readonly deleteFileCount?: number | undefined;
  /** Small files that list the table's files, and that a rewrite would make fewer. */
  readonly smallManifestCount?: number | undefined;
}

/** What keeps a table in shape beyond compaction, vacuum and log checkpoints. */
export interface UpkeepRequest {
  readonly kind: 'expire' | 'rewrite-manifests' | 'rewrite-deletes';
  readonly dryRun: boolean;
  /** Only for `expire`; default: the table's own rules. */
  readonly retentionMs?: number | undefined;
  /** Versions from this one on are kept whatever their age: the slowest feed's guard. */
  readonly keepVersionsFrom?: Version | undefined;
}

export interface UpkeepResult {
  /** `planned`: a dry run. */
  readonly outcome: 'done' | 'planned' | 'nothing-to-do' | 'conflicted';
  readonly version: Version | undefined;
  /** Counts and bytes by name. */
  readonly details: Readonly<Record<string, number>>;
}

export interface FileToRewrite {
  readonly path: string;
  readonly sizeBytes: number;
  readonly rowCount: number | undefined;
}

/** Files of one partition that become one file, or several. */
export interface RewriteGroup {
  /** Into so many files, of a table whose rows are kept in the order of their key. Absent: one. */
  readonly parts?: number | undefined;
  readonly partitionValues: PartitionValues;
  readonly inputs: readonly FileToRewrite[];
}

export interface CompactionPlan {
  readonly baseVersion: Version;
  readonly groups: readonly RewriteGroup[];
}

export interface CompactionResult {
  readonly outcome: 'committed' | 'nothing-to-do' | 'conflicted';
  readonly version: Version | undefined;
  readonly filesRemoved: number;
  readonly filesAdded: number;
  readonly bytesRemoved: number;
  readonly bytesAdded: number;
}

export interface VacuumOptions {
  /** Default: the table's own retention (7 days). */
  readonly retentionHours?: number | undefined;
  /** Lists what would be deleted and deletes nothing. */
  readonly dryRun: boolean;
  /** Allows a retention below the table's; without it such a call fails with `DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT`. */
  readonly allowShortRetention?: boolean | undefined;
  /** `full` (default) lists the storage; `lite` looks only at what the log says was removed, and leaves files the log never knew. */
  readonly mode?: 'full' | 'lite' | undefined;
  /** Leaves nothing in the history when there is nothing to delete. Default: both ends of the run become versions, as in Spark. */
  readonly quietWhenIdle?: boolean | undefined;
  /** Files that versions from this one on need for their changes are kept whatever their age: the slowest feed's guard. */
  readonly keepChangesFrom?: Version | undefined;
}

export interface VacuumResult {
  /** Relative paths of files and folders deleted, or that would be (dry run); at most 10,000 of them. */
  readonly paths: readonly string[];
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Files kept only because of `keepChangesFrom`. */
  readonly heldByFeeds: number;
  /** Empty folders deleted, or that would be. */
  readonly folderCount: number;
}

/** Reads the inputs and writes their rows, in order, as one staged file with fresh statistics. Runs off the main thread. */
export interface FileRewriter {
  rewrite(task: RewriteTask, signal?: AbortSignal): Promise<StagedFile>;
}

export interface RewriteTask {
  readonly spec: WriteSpec;
  readonly group: RewriteGroup;
  /** Path of the output, chosen by the table. */
  readonly outputPath: string;
}
