import type { Version } from '../table/version.ts';
import type { BatchRange, SealedBatch } from './sealed-batch.ts';

/** Why: somebody moved the marks, changed the table or deleted the staged files; or the partitions went to another member of the group. */
export type DiscardReason = 'progress-moved' | 'table-changed' | 'staged-missing' | 'revoked';

/** What became of a sealed batch. */
export type BatchOutcome =
  /** Its rows and offsets are in `version` of the table (by this attempt or an earlier one). */
  | { readonly kind: 'committed'; readonly version: Version; readonly rowCount: number; readonly rejectedCount: number }
  /**
   * Nothing of it is in the table by this attempt and it must not be submitted again: read the progress marks, seek there, and
   * build batches from what is fetched next.
   */
  | { readonly kind: 'discarded'; readonly reason: DiscardReason };

/** Where ingest hands its batches: stages, writes dead letters and commits, in the order of submission. */
export interface BatchSink {
  /** The table's current progress marks that start with `prefix`, read anew after every commit in flight has settled. */
  progressStartingWith(prefix: string, signal?: AbortSignal): Promise<ReadonlyMap<string, bigint>>;
  /**
   * Stores where reading is going to start, in a commit without rows, when every commit in flight has settled. False: the marks are not what
   * the ranges expect, or the table changed; nothing is stored.
   */
  settle(ranges: readonly BatchRange[]): Promise<boolean>;
  /**
   * Batches of one table commit in the order they were submitted. When one is discarded, those submitted after it and not yet
   * committed are discarded too. `revoked` firing discards the batch unless its commit has begun.
   * Rejects only when the table cannot take the batch for a reason that retrying does not cure; the table's ingest then stops.
   */
  submit(batch: SealedBatch, revoked: AbortSignal): Promise<BatchOutcome>;
}
