import { printJson } from '../../base/bigint-json.ts';
import type { Expression } from '../../expr/expression.ts';
import { findMatchedRows, touchedFiles } from '../../rows/change/find-touched-files.ts';
import { hiddenNames } from '../../rows/change/hidden-names.ts';
import { touchedColumn } from '../../rows/change/rewrite-sql.ts';
import { historyText, RowScope } from '../../rows/change/row-scope.ts';
import type { DeleteRequest, RowOperationResult } from '../../table/row-operations.ts';
import type { AddFile } from '../actions.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { selectFiles } from '../scan/select-files.ts';
import type { TransactionReads } from '../transaction/commit-transaction.ts';
import { actionsOf, type FileChanges, noFileChanges } from './file-changes.ts';
import { filesOfPartitions, partitionFieldsOf } from './partition-condition.ts';
import { deletesByVectors, rewriteFiles } from './rewrite-files.ts';
import { rowMetrics } from './row-metrics.ts';
import { type DeltaRowWork, type PlannedCommit, runRowOperation } from './row-work.ts';
import { countLiveRows } from './target-scan.ts';

/**
 * DELETE; one version, or none when no row matches. Without a condition, or with one over partition columns alone, files are only removed:
 * nothing is read.
 */
export function deleteRows(context: OperationContext, request: DeleteRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planDelete(work, request));
}

interface DeletePlan {
  /** For the history. */
  readonly predicate: string;
  readonly reads: TransactionReads;
  readonly changes: FileChanges;
  readonly deletedRows: bigint;
  readonly copiedRows: bigint;
  readonly scannedMs: number;
}

async function planDelete(work: DeltaRowWork, request: DeleteRequest): Promise<PlannedCommit | undefined> {
  const startedMs = work.context.clock.monotonicMs();
  const plan = await changesOf(work, request);
  if (plan === undefined) return undefined;
  const { clock } = work.context;
  const metrics = rowMetrics(plan.changes, {
    copiedRows: plan.copiedRows,
    scanTimeMs: Math.round(plan.scannedMs - startedMs),
    rewriteTimeMs: Math.round(clock.monotonicMs() - plan.scannedMs),
  });
  return {
    operation: 'DELETE',
    operationParameters: { predicate: printJson([plan.predicate]) },
    operationMetrics: { ...metrics, numDeletedRows: String(plan.deletedRows) },
    actions: actionsOf(plan.changes, clock.now()),
    reads: plan.reads,
    updatedRows: 0n,
    deletedRows: plan.deletedRows,
    insertedRows: 0n,
  };
}

async function changesOf(work: DeltaRowWork, { condition, alias }: DeleteRequest): Promise<DeletePlan | undefined> {
  const { snapshot } = work;
  if (condition === undefined) return removal(work, [...snapshot.files()], { predicate: 'true', reads: { wholeTable: true } });
  const scope = new RowScope([{ alias, schema: snapshot.schema, columnSql: touchedColumn }], work.nowMicros);
  const bound = await scope.bindCondition(work.engine, condition, work.signal);
  const candidates = selectFiles(snapshot, bound);
  const fields = partitionFieldsOf(work, bound);
  const predicate = historyText(bound);
  if (fields === undefined) return deletion(work, candidates, { scope, bound, predicate });
  const files = await filesOfPartitions(work, candidates, { bound, fields, alias });
  return removal(work, files, { predicate, reads: { conditions: [bound], files } });
}

/** Whole files, by the log alone. */
async function removal(
  work: DeltaRowWork,
  files: readonly AddFile[],
  commit: Pick<DeletePlan, 'predicate' | 'reads'>,
): Promise<DeletePlan | undefined> {
  if (files.length === 0) return undefined;
  const deletedRows = await countLiveRows(work, files);
  const changes = { ...noFileChanges, removed: files };
  return { ...commit, changes, deletedRows, copiedRows: 0n, scannedMs: work.context.clock.monotonicMs() };
}

async function deletion(
  work: DeltaRowWork,
  candidates: readonly AddFile[],
  condition: { readonly scope: RowScope; readonly bound: Expression; readonly predicate: string },
): Promise<DeletePlan | undefined> {
  const { snapshot } = work;
  const hidden = hiddenNames([snapshot.schema]);
  const matched = await findMatchedRows(work, candidates, { ...condition, hidden, byPosition: deletesByVectors(snapshot) });
  if (matched.matched === 0n) return undefined;
  const scannedMs = work.context.clock.monotonicMs();
  const changes = await rewriteFiles(work, {
    snapshot,
    shape: { schema: snapshot.schema, hidden, clauses: [{ kind: 'delete' }], derived: [] },
    files: touchedFiles(matched, 'delete'),
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
    // The rows that a vector deletes are seen by comparing it with the one before.
    changesRecorded: !deletesByVectors(snapshot),
  });
  const rows = matched.files.reduce((sum, file) => sum + (file.rows ?? file.matched), 0n);
  return {
    predicate: condition.predicate,
    reads: { conditions: [condition.bound], files: matched.files.map(({ file }) => file) },
    changes,
    deletedRows: matched.matched,
    copiedRows: rows - matched.matched,
    scannedMs,
  };
}
