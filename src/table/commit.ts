import type { Branded } from '../base/brand.ts';
import type { StagedFile } from './staged-file.ts';
import type { Version } from './version.ts';

/** Unique per logical commit, stored in the version, the same for every attempt: how an unknown outcome is verified. */
export type CommitId = Branded<string, 'CommitId'>;

export function toCommitId(uuid: string): CommitId {
  return uuid as CommitId;
}

/**
 * An advance of one writer's progress mark: what a writer stores with a commit (Delta's `txn`, Iceberg's summary entry). For Kafka
 * sources the writer id names pipeline, topic, partition and incarnation, and the mark is the *next* offset. The commit holds only if the
 * table's mark equals `from` when it lands: the fence.
 */
export interface ProgressAdvance {
  readonly writerId: string;
  /** `undefined`: the table must have no mark of this writer. */
  readonly from: bigint | undefined;
  readonly until: bigint;
}

export type CommitConflict =
  /** Another version took the place; nothing stands against trying again on it. */
  | { readonly kind: 'version-taken'; readonly latest: Version }
  /** A writer's mark is not where the batch starts: somebody else committed these offsets, or the table was rolled back. */
  | {
      readonly kind: 'progress-moved';
      readonly writerId: string;
      readonly expected: bigint | undefined;
      readonly found: bigint | undefined;
      readonly latest: Version;
    }
  /** Schema, partitioning or protocol changed under the transaction. */
  | { readonly kind: 'metadata-changed'; readonly latest: Version; readonly detail: string }
  /** A file this transaction rewrites is gone. */
  | { readonly kind: 'files-removed'; readonly latest: Version; readonly path: string }
  /** The version the commit was worked out from is not in the table's history: another table is in its place, or it was put back. */
  | { readonly kind: 'history-changed'; readonly latest: Version }
  /** A file this transaction adds was deleted after it was staged. */
  | { readonly kind: 'staged-missing'; readonly latest: Version; readonly path: string };

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly version: Version }
  /** This very commit (by id) is in the table. */
  | { readonly kind: 'already-committed'; readonly version: Version }
  | { readonly kind: 'conflicted'; readonly conflict: CommitConflict }
  /** It may have landed. Verify with `findCommit`; delete nothing. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

/** Rows to append, with the progress they carry; one table version. */
export interface AppendIntent {
  readonly commitId: CommitId;
  readonly files: readonly StagedFile[];
  /** When writing the files began, by `Clock.monotonicMs`; `undefined`: not known. See `missingStagedFile`. */
  readonly stagedSinceMs?: number | undefined;
  readonly progress: readonly ProgressAdvance[];
  /** Free text kept in the table's history (JSON: pipeline, batch accounting), for `audit`. */
  readonly userMetadata: string;
}
