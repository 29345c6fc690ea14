import type { JsonObject } from '../../base/bigint-json.ts';
import type { Expression } from '../../expr/expression.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import type { Version } from '../../table/version.ts';
import type { Action, AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** What a transaction looked at; decides which commits of others stand against it. */
export interface TransactionReads {
  /** All files, whatever they hold. */
  readonly wholeTable?: boolean | undefined;
  /** Bound conditions whose rows were read (or their absence was relied on). */
  readonly conditions?: readonly Expression[] | undefined;
  readonly files?: readonly AddFile[] | undefined;
  readonly appIds?: readonly string[] | undefined;
}

export interface Transaction extends CommitOptions {
  readonly base: DeltaSnapshot;
  readonly operation: string;
  readonly operationParameters: JsonObject;
  /** All values are text, as other engines write them. */
  readonly operationMetrics: Readonly<Record<string, string>>;
  readonly actions: readonly Action[];
  readonly reads: TransactionReads;
}

/**
 * Takes a transaction to a certain end: the version it became. Tries again on newer versions for as long as nothing stands against it
 * (FORMATS A4), with row ids, row commit versions and in-commit timestamps given anew on every attempt.
 *
 * @throws DeltaConcurrentModificationException and its kinds; `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): delete nothing.
 */
export async function commitTransaction(context: OperationContext, transaction: Transaction): Promise<Version> {
  await Promise.resolve();
  throw new TypeError(`${context.name} ${transaction.operation}`);
}
