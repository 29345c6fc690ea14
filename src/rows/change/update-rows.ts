import { unresolvedColumn } from '../../expr/bind-expression.ts';
import { trueLiteral } from '../../expr/expression.ts';
import type { RowOperationResult, UpdateRequest } from '../../table/row-operations.ts';
import { runRowOperation } from '../row-operation.ts';
import type { RowChange, RowTable } from '../row-table.ts';
import { assignedValues } from './assigned-values.ts';
import { assignedColumns, withoutAlias } from './assignment-targets.ts';
import { copiedRows, findMatchedRows, touchedFiles } from './find-touched-files.ts';
import { hiddenNames } from './hidden-names.ts';
import { planPlaced } from './placed-rows.ts';
import { rewriteFiles } from './rewrite-files.ts';
import { touchedColumn } from './rewrite-sql.ts';
import { RowScope } from './row-scope.ts';

/** UPDATE; one version, or none when no row matches. Rows that match are updated even where no value changes. */
export function updateRows<File>(table: RowTable<File> | undefined, request: UpdateRequest): Promise<RowOperationResult> {
  return runRowOperation(table, (open) => planUpdate(open, request));
}

async function planUpdate<File>(table: RowTable<File>, request: UpdateRequest): Promise<RowChange<File> | undefined> {
  const { work, schema } = table;
  const { alias, places } = request;
  if (places !== undefined) return planPlaced(table, { command: 'update', places, assignments: request.assignments });
  const startedMs = work.clock.monotonicMs();
  const scope = new RowScope([{ alias, schema, columnSql: touchedColumn }], work.now);
  const condition = request.condition === undefined ? undefined : await scope.bindCondition(work.engine, request.condition, work);
  const assignments = request.assignments.map((assignment) => withoutAlias(assignment, alias, schema));
  const assigned = assignedColumns(work.target, schema, { assignments, unknown: (path) => unresolvedColumn(path, [{ schema }]) });
  // Each value is computed once: the table has no change feed that would tell it again.
  const mayDiffer = work.target.drawsValuesIn === 'update';
  const { values, checks } = await assignedValues(work, assigned, { scope, current: touchedColumn, mayDiffer });
  const derived = table.derivedColumns();
  const hidden = hiddenNames([schema]);
  const matched = await findMatchedRows(table, await table.filesFor(condition), { scope, bound: condition ?? trueLiteral, hidden });
  if (matched.matched === 0n) return undefined;
  const scannedMs = work.clock.monotonicMs();
  await rewriteFiles(table, {
    shape: { hidden, clauses: [{ kind: 'update', values, checks }], derived },
    files: touchedFiles(matched, 'update'),
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
  });
  return {
    condition,
    readFiles: matched.files.map(({ file }) => file),
    updatedRows: matched.matched,
    deletedRows: 0n,
    insertedRows: 0n,
    copiedRows: copiedRows(matched),
    startedMs,
    scannedMs,
  };
}
