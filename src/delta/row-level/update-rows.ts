import { printJson } from '../../base/bigint-json.ts';
import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { trueLiteral } from '../../expr/expression.ts';
import { assignedValues } from '../../rows/change/assigned-values.ts';
import { assignedColumns, withoutAlias } from '../../rows/change/assignment-targets.ts';
import { findMatchedRows, touchedFiles } from '../../rows/change/find-touched-files.ts';
import { hiddenNames } from '../../rows/change/hidden-names.ts';
import { touchedColumn } from '../../rows/change/rewrite-sql.ts';
import { historyText, RowScope } from '../../rows/change/row-scope.ts';
import type { RowOperationResult, UpdateRequest } from '../../table/row-operations.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { selectFiles } from '../scan/select-files.ts';
import { derivedColumns } from './derived-columns.ts';
import { actionsOf } from './file-changes.ts';
import { deletesByVectors, rewriteFiles } from './rewrite-files.ts';
import { rowMetrics } from './row-metrics.ts';
import { type DeltaRowWork, type PlannedCommit, runRowOperation } from './row-work.ts';

/** UPDATE; one version, or none when no row matches. Rows that match are updated and recorded even where no value changes. */
export function updateRows(context: OperationContext, request: UpdateRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planUpdate(work, request));
}

async function planUpdate(work: DeltaRowWork, request: UpdateRequest): Promise<PlannedCommit | undefined> {
  const { snapshot } = work;
  const { clock } = work.context;
  const { schema } = snapshot;
  const startedMs = clock.monotonicMs();
  const scope = new RowScope([{ alias: request.alias, schema, columnSql: touchedColumn }], work.nowMicros);
  const condition = request.condition === undefined ? undefined : await scope.bindCondition(work.engine, request.condition, work.signal);
  const assignments = request.assignments.map((assignment) => withoutAlias(assignment, request.alias, schema));
  const assigned = assignedColumns(work.target, schema, { assignments, unknown: (path) => unresolvedColumn(path, [{ schema }]) });
  const { values, checks } = await assignedValues(work, assigned, { scope, current: touchedColumn });
  const derived = derivedColumns(work, schema);
  const hidden = hiddenNames([schema]);
  const matched = await findMatchedRows(work, selectFiles(snapshot, condition), {
    scope,
    bound: condition ?? trueLiteral,
    hidden,
    byPosition: deletesByVectors(snapshot),
  });
  if (matched.matched === 0n) return undefined;
  const scannedMs = clock.monotonicMs();
  const changes = await rewriteFiles(work, {
    snapshot,
    shape: { schema, hidden, clauses: [{ kind: 'update', values, checks }], derived },
    files: touchedFiles(matched, 'update'),
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
    changesRecorded: true,
  });
  const rows = deletesByVectors(snapshot) ? matched.matched : matched.files.reduce((sum, file) => sum + (file.rows ?? 0n), 0n);
  const metrics = rowMetrics(changes, {
    copiedRows: rows - matched.matched,
    scanTimeMs: Math.round(scannedMs - startedMs),
    rewriteTimeMs: Math.round(clock.monotonicMs() - scannedMs),
  });
  return {
    operation: 'UPDATE',
    operationParameters: { predicate: printJson(condition === undefined ? [] : [historyText(condition)]) },
    // An UPDATE counts every file it takes rows from, as in Spark; the bytes are those of files that end.
    operationMetrics: { ...metrics, numRemovedFiles: String(matched.files.length), numUpdatedRows: String(matched.matched) },
    actions: actionsOf(changes, clock.now()),
    reads: {
      ...(condition === undefined ? { wholeTable: true } : { conditions: [condition] }),
      files: matched.files.map(({ file }) => file),
    },
    updatedRows: matched.matched,
    deletedRows: 0n,
    insertedRows: 0n,
  };
}
