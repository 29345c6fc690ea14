import { AnalysisException } from '../../base/analysis-exception.ts';
import { type Engine, scanColumns } from '../../engine/engine.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import { requireReplaced } from '../../expr/clause-rules.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { columnPathSql, expressionSql, quoteName } from '../../expr/sql/engine-sql.ts';
import { statementTime } from '../../expr/time-zone.ts';
import { withRowTrackingFields } from '../../rows/change/row-tracking-fields.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import type { Relation } from '../../table/relation.ts';
import { type AddFile, liveRows } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { conditionCheck } from '../files/checked-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { filesMatching } from '../operations/optimize/matching-partitions.ts';
import { movedRowColumns } from '../row-tracking-columns.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { selectFiles } from '../scan/select-files.ts';

/** Rows that a `replaceWhere` takes out of the table. */
interface ReplacedRows {
  /** The condition, bound to the table. */
  readonly condition: Expression;
  /** Files the decision rests on. */
  readonly read: readonly AddFile[];
  /** Files of which every row goes. */
  readonly whole: readonly AddFile[];
  /** Files of which some rows go: they are rewritten without them. */
  readonly partial: readonly AddFile[];
  /** `undefined`: not known, because whole files go unread. */
  readonly deletedRows: number | undefined;
}

/**
 * Finds the rows of a condition. One over partition columns alone takes whole files, unread; any other is evaluated on every file that may
 * hold such rows.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` and what binding throws.
 */
export async function replacedRows(
  context: OperationContext,
  base: DeltaSnapshot,
  condition: Expression,
  signal?: AbortSignal,
): Promise<ReplacedRows> {
  const now = statementTime(context);
  const bound = bindNow(bindExpression(condition, [{ schema: base.schema }]), now);
  requireReplaced(bound);
  if (columnsOf(bound).every(({ path }) => base.partitionColumns.includes(path[0] ?? ''))) {
    const whole = await filesMatching(context, base, condition, signal);
    const counts = whole.map(liveRows);
    const deletedRows = counts.every((count) => count !== undefined) ? counts.reduce((sum, count) => sum + count, 0) : undefined;
    return { condition: bound, read: whole, whole, partial: [], deletedRows };
  }
  const read = selectFiles(base, bound);
  const counts = await countMatches(context, base, { files: read, bound }, signal);
  return {
    condition: bound,
    read,
    whole: read.filter((_, index) => isWhole(counts.get(index))),
    partial: read.filter((_, index) => counts.has(index) && !isWhole(counts.get(index))),
    deletedRows: [...counts.values()].reduce((sum, { matching }) => sum + matching, 0),
  };
}

interface MatchCount {
  readonly matching: number;
  readonly rows: number;
}

function isWhole(count: MatchCount | undefined): boolean {
  return count !== undefined && count.matching === count.rows;
}

/** Files with rows of the condition, by their place. */
async function countMatches(
  context: OperationContext,
  base: DeltaSnapshot,
  { files, bound }: { readonly files: readonly AddFile[]; readonly bound: Expression },
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, MatchCount>> {
  if (files.length === 0) return new Map();
  const engine = await context.engine();
  await using scan = disposing(await engine.scan(fileScanOf(context, base, files), { withPositions: true }, signal));
  const file = quoteName(scanColumns.fileIndex);
  const matching = `count(*) FILTER (WHERE ${expressionSql(bound, columnPathSql)})`;
  const found = await engine.rows(`SELECT ${file}, ${matching}, count(*) FROM (${scan.sql}) GROUP BY ALL HAVING ${matching} > 0`, signal);
  return new Map(found.map(([index, count, rows]) => [Number(index), { matching: Number(count), rows: Number(rows) }]));
}

/**
 * Reads files as rows of `target`, divided by a bound condition; disposed by the caller. `moved`: rows carry what `stageRows` keeps of rows that
 * come from other files.
 */
export async function dividedRows(
  engine: Engine,
  context: OperationContext,
  target: DeltaSnapshot,
  source: { readonly files: readonly AddFile[]; readonly condition: Expression; readonly moved: boolean },
  signal?: AbortSignal,
): Promise<{ readonly kept: Relation; readonly replaced: Relation } & AsyncDisposable> {
  const tracked = source.moved ? movedRowColumns(target, context.name) : undefined;
  const scan = await engine.scan(fileScanOf(context, target, source.files), { withRowTracking: tracked !== undefined }, signal);
  const schema = withRowTrackingFields(target.schema, tracked);
  const matches = `coalesce(${expressionSql(source.condition, columnPathSql)}, false)`;
  const where = (condition: string): Relation => ({ sql: `SELECT * FROM (${scan.sql}) WHERE ${condition}`, schema });
  return {
    kept: where(`NOT ${matches}`),
    replaced: where(matches),
    [Symbol.asyncDispose]: () => scan.dispose(),
  };
}

function disposing<Held extends { dispose(): Promise<void> }>(held: Held): Held & AsyncDisposable {
  return { ...held, dispose: () => held.dispose(), [Symbol.asyncDispose]: () => held.dispose() };
}

/** Written rows must satisfy the condition whose rows they replace: `DELTA_REPLACE_WHERE_MISMATCH` (44000). */
export function replaceWhereCheck(context: OperationContext, target: DeltaSnapshot, condition: Expression): RowCheck {
  const text = printExpression(condition);
  const now = statementTime(context);
  const check = conditionCheck({ name: `EXPRESSION(${text})`, condition }, target.schema, now);
  return {
    ...check,
    error: (values) => {
      const inner = check.error(values);
      const replaceWhere = predicateText(condition);
      return new AnalysisException({
        errorClass: 'DELTA_REPLACE_WHERE_MISMATCH',
        message:
          `Written data does not conform to partial table overwrite condition or constraint '${replaceWhere}'.\n` +
          `[${inner.errorClass}] ${inner.message}`,
        parameters: { replaceWhere, message: inner.message },
        hint: 'write only rows that satisfy the condition',
      });
    },
  };
}

/** The condition as the history shows it: without the parentheses around the whole of it. */
export function predicateText(condition: Expression): string {
  const text = printExpression(condition);
  return condition.kind === 'binary' && text.startsWith('(') && text.endsWith(')') ? text.slice(1, -1) : text;
}
