import type { RejectedRecord, SealedBatch } from './sealed-batch.ts';

/** How many of the rejected records went where. */
export interface RejectAccounting {
  readonly deadLettered: number;
  /** Left out and counted, as the policy says. */
  readonly filtered: number;
}

/** Where records go that do not fit the table. */
export interface DeadLetterSink {
  /**
   * Resolves when all are stored durably; called before the commit that covers their offsets. When that commit does not happen and the
   * records are read again, here or in another process, those that are stored already are not stored twice (docs/spec/dead-letters.md).
   * Calls must not overlap.
   *
   * @param batch what the rejects are of.
   * @param signal fires when the partitions belong to another worker.
   * @throws ServiceError `INGEST_SUSPENDED` (kind invalid) when the policy is to stop at the first record that does not fit.
   */
  write(batch: Pick<SealedBatch, 'ranges'>, rejects: readonly RejectedRecord[], signal?: AbortSignal): Promise<RejectAccounting>;
}
