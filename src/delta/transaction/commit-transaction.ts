import { AnalysisException } from '../../base/analysis-exception.ts';
import { type CommitConflict, toCommitId } from '../../table/commit.ts';
import { StagedFileMissingException } from '../../table/staged-presence.ts';
import { beforeFirstVersion, nextVersion, type Version } from '../../table/version.ts';
import type { AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { commitUntilCertain } from './commit-loop.ts';
import {
  ConcurrentWriteException,
  type DeltaConcurrentModificationException,
  MetadataChangedException,
} from './concurrent-modification.ts';
import { type CheckedTransaction, conflictBehind } from './conflict-checker.ts';
import { markOf } from './idempotency.ts';
import { isolationLevelOf } from './isolation.ts';
import { withRowIds } from './row-tracking.ts';
import type { Transaction } from './transaction.ts';

export type { Transaction, TransactionReads } from './transaction.ts';

/** Attempts at one transaction. Each lost one means that somebody else made progress. */
const maxAttempts = 1_000;

/**
 * Takes a transaction to a certain end: the version it became. Tries again on newer versions for as long as nothing stands against it
 * (FORMATS A4), with row ids, row commit versions and in-commit timestamps given anew on every attempt. The mark of `idempotency` is added;
 * whether it is there already must have been asked before (`isAlreadyWritten`). What a commit leaves behind (log checkpoint, auto compaction)
 * is done before this resolves, and fails without effect.
 *
 * @throws DeltaConcurrentModificationException and its kinds; AnalysisException `DELTA_MAX_COMMIT_RETRIES_EXCEEDED` (conflict); in these
 * cases it is certain that no version holds the transaction. `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): delete nothing.
 */
export async function commitTransaction(context: OperationContext, transaction: Transaction): Promise<Version> {
  const { base } = transaction;
  const mark = markOf(transaction, context.clock.now());
  const actions = mark === undefined ? transaction.actions : [mark, ...transaction.actions];
  const reads =
    mark === undefined ? transaction.reads : { ...transaction.reads, appIds: [...(transaction.reads.appIds ?? []), mark.appId] };
  const checked: CheckedTransaction = { reads, actions, isolationLevel: isolationLevelOf(actions, base.metadata.configuration) };
  const concurrent = new ConcurrentCommits(context, checked, base);
  const blind = isBlindAppend(checked);
  const end = await commitUntilCertain<AnalysisException>(
    context,
    {
      base,
      commitId: toCommitId(context.ids.uuid()),
      operation: transaction.operation,
      maxAttempts,
      commitOn: (onto) => ({
        operation: transaction.operation,
        operationParameters: transaction.operationParameters,
        operationMetrics: transaction.operationMetrics,
        isBlindAppend: blind,
        readVersion: base.version,
        userMetadata: transaction.userMetadata,
        actions: withRowIds(onto, actions),
        addsKnownFiles: transaction.addsKnownFiles,
      }),
      refusal: (conflict) => refusalOf(context.name, conflict),
      conflictWith: (fresh) => concurrent.standingAgainst(fresh),
    },
    transaction.signal,
  );
  if (end.kind === 'conflicted') {
    throw end.conflict ?? exhausted(context, transaction, end);
  }
  const addedFiles = actions.filter((action): action is AddFile => action.kind === 'add' && action.dataChange);
  // The version stands: whatever happens here must not look like a failed commit, whose files the caller deletes.
  await context.afterCommit?.(end.landed, { addedFiles, autoCompact: transaction.autoCompact }).catch(() => undefined);
  return end.landed;
}

/** What no newer version can make good. */
function refusalOf(table: string, conflict: CommitConflict): AnalysisException | undefined {
  switch (conflict.kind) {
    case 'staged-missing':
      return new StagedFileMissingException(table, conflict.path);
    case 'history-changed':
      return new MetadataChangedException({ table, version: conflict.latest, info: undefined });
    default:
      return undefined;
  }
}

/** Whether it only adds, whatever the table holds: what other rows there are never stands against it. */
function isBlindAppend({ reads, actions }: CheckedTransaction): boolean {
  const dependsOnFiles =
    reads.wholeTable === true ||
    (reads.conditions?.length ?? 0) > 0 ||
    (reads.partitions?.length ?? 0) > 0 ||
    (reads.files?.length ?? 0) > 0;
  return !dependsOnFiles && !actions.some((action) => action.kind === 'remove' || action.kind === 'cdc');
}

/** The commits of others since the transaction read the table, each checked once. */
class ConcurrentCommits {
  readonly #context: OperationContext;
  readonly #transaction: CheckedTransaction;
  #passed: DeltaSnapshot;

  constructor(context: OperationContext, transaction: CheckedTransaction, base: DeltaSnapshot) {
    this.#context = context;
    this.#transaction = transaction;
    this.#passed = base;
  }

  async standingAgainst(fresh: DeltaSnapshot): Promise<DeltaConcurrentModificationException | undefined> {
    const { name } = this.#context;
    const creating = this.#passed.version === beforeFirstVersion;
    if (!creating && fresh.tableId !== this.#passed.tableId) {
      return new MetadataChangedException({ table: name, version: fresh.version, info: undefined });
    }
    while (this.#passed.version < fresh.version) {
      const version = nextVersion(this.#passed.version);
      const winner = await this.#context.readCommit(version);
      if (winner === undefined) return new ConcurrentWriteException({ table: name, version, info: undefined });
      const conflict = conflictBehind(name, this.#transaction, winner, this.#passed);
      if (conflict !== undefined) return conflict;
      this.#passed = this.#passed.apply(winner, name);
    }
    return undefined;
  }
}

function exhausted(
  context: OperationContext,
  transaction: Transaction,
  spent: { readonly attempts: number; readonly elapsedMs: number },
): AnalysisException {
  const elapsedMs = Math.round(spent.elapsedMs);
  return new AnalysisException({
    errorClass: 'DELTA_MAX_COMMIT_RETRIES_EXCEEDED',
    kind: 'conflict',
    message:
      `This commit has failed as it has been tried ${spent.attempts} times but did not succeed. This can be caused by the Delta table ` +
      `${context.name} being committed continuously by many concurrent commits. Commit started at version: ` +
      `${nextVersion(transaction.base.version)}. Number of actions attempted to commit: ${transaction.actions.length}. Total time spent ` +
      `attempting this commit: ${elapsedMs} ms`,
    parameters: { numAttempts: String(spent.attempts), timeSpent: String(elapsedMs) },
    hint: 'run the operation again when fewer writers are at work',
  });
}
