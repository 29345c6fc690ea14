import type { CommitOptions, RowOperationResult } from '../../table/row-operations.ts';
import { liveRows, removeOf } from '../actions.ts';
import { checkRowsWritable } from '../table-features.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import type { OperationContext } from './operation-context.ts';

/**
 * TRUNCATE: a version without rows, made by removing all files; none when there are no files. Readers of the change feed get every row as
 * deleted.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_APPEND_ONLY`, and what `commitTransaction` throws.
 */
export async function truncate(context: OperationContext, options: CommitOptions = {}): Promise<RowOperationResult> {
  const startedMs = context.clock.now();
  const base = await context.refresh(options.signal);
  checkRowsWritable(base.protocol, base.metadata, context.name);
  const files = [...base.files()];
  const deletedRows = BigInt(files.reduce((sum, file) => sum + (liveRows(file) ?? 0), 0));
  const result = { affectedRows: deletedRows, updatedRows: 0n, deletedRows, insertedRows: 0n };
  if (files.length === 0) return { version: undefined, ...result };
  const deletedMs = Math.max(context.clock.now(), base.committedAt);
  const version = await commitTransaction(context, {
    base,
    operation: 'TRUNCATE',
    operationParameters: {},
    operationMetrics: { numRemovedFiles: String(files.length), executionTimeMs: String(context.clock.now() - startedMs) },
    actions: files.map((file) => removeOf(file, { deletedMs, dataChange: true })),
    reads: { wholeTable: true },
    userMetadata: options.userMetadata,
    idempotency: options.idempotency,
    signal: options.signal,
  });
  return { version, ...result };
}
