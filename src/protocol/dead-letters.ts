import type { RejectedRecord } from './sealed-batch.ts';

/** How many of the rejected records went where. */
export interface RejectAccounting {
  readonly deadLettered: number;
  /** Left out and counted, as the policy says. */
  readonly filtered: number;
}

/** Where records go that do not fit the table. */
export interface DeadLetterSink {
  /**
   * Resolves when all are stored durably; called before the commit that covers their offsets. A crash between the two writes them
   * again after the restart: the source topic, partition and offset in the headers identify a dead letter.
   * @throws ServiceError `INGEST_SUSPENDED` (kind invalid) when the policy is to stop at the first record that does not fit.
   */
  write(table: string, rejects: readonly RejectedRecord[], signal?: AbortSignal): Promise<RejectAccounting>;
}
