import type { CommitOptions } from '../../table/row-operations.ts';
import type { TxnAction } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** Whether the table has the write already: its application's mark is at the write's version or beyond. Asked before anything is staged. */
export function isAlreadyWritten(snapshot: DeltaSnapshot, options: CommitOptions): boolean {
  if (options.idempotency === undefined) return false;
  const mark = snapshot.progressOf(options.idempotency.appId);
  return mark !== undefined && mark >= options.idempotency.version;
}

/** The mark a write leaves. */
export function markOf(options: CommitOptions, nowMs: number): TxnAction | undefined {
  if (options.idempotency === undefined) return undefined;
  const { appId, version } = options.idempotency;
  return { kind: 'txn', appId, version, lastUpdatedMs: nowMs };
}
