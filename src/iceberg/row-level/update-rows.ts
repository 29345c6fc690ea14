import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { trueLiteral } from '../../expr/expression.ts';
import { assignedValues } from '../../rows/change/assigned-values.ts';
import { assignedColumns, withoutAlias } from '../../rows/change/assignment-targets.ts';
import { findMatchedRows, touchedFiles } from '../../rows/change/find-touched-files.ts';
import { hiddenNames } from '../../rows/change/hidden-names.ts';
import { touchedColumn } from '../../rows/change/rewrite-sql.ts';
import { RowScope } from '../../rows/change/row-scope.ts';
import type { RowOperationResult, UpdateRequest } from '../../table/row-operations.ts';
import { liveFiles } from '../scan/live-files.ts';
import type { TableContext } from '../table-context.ts';
import { rewriteFiles } from './rewrite-files.ts';
import { marksRows, validationFor } from './row-modes.ts';
import { type IcebergRowWork, type PlannedChange, runRowOperation } from './row-work.ts';

/** UPDATE; one snapshot, or none when no row matches. */
export function updateRows(context: TableContext, request: UpdateRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planUpdate(work, request));
}

async function planUpdate(work: IcebergRowWork, request: UpdateRequest): Promise<PlannedChange | undefined> {
  const { context, view, signal } = work;
  const { schema } = view;
  const scope = new RowScope([{ alias: request.alias, schema, columnSql: touchedColumn }], work.nowMicros);
  const condition = request.condition === undefined ? undefined : await scope.bindCondition(work.engine, request.condition, signal);
  const assignments = request.assignments.map((assignment) => withoutAlias(assignment, request.alias, schema));
  const assigned = assignedColumns(work.target, schema, { assignments, unknown: (path) => unresolvedColumn(path, [{ schema }]) });
  const { values, checks } = await assignedValues(work, assigned, { scope, current: touchedColumn });
  const hidden = hiddenNames([schema]);
  const marked = marksRows(view, 'update');
  const { data } = await liveFiles(context, view, condition, signal);
  const matched = await findMatchedRows(work, data, { scope, bound: condition ?? trueLiteral, hidden, byPosition: marked });
  if (matched.matched === 0n) return undefined;
  const { added, removed } = await rewriteFiles(work, {
    shape: { schema, hidden, clauses: [{ kind: 'update', values, checks }], derived: [] },
    files: touchedFiles(matched, 'update'),
    marked,
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
  });
  const paths = matched.files.map(({ file }) => file.entry.file.path);
  const validation = validationFor(view, 'update', { condition: condition ?? true, paths, marked });
  return {
    change: { kind: marked ? 'row-delta' : 'overwrite', added, removed, validation },
    updatedRows: matched.matched,
    deletedRows: 0n,
    insertedRows: 0n,
  };
}
