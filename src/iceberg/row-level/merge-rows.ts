import { AnalysisException } from '../../base/analysis-exception.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { memberRule } from '../../rows/change/assigned-values.ts';
import { countRows } from '../../rows/change/engine-counts.ts';
import { type HiddenNames, hiddenNames } from '../../rows/change/hidden-names.ts';
import type { RowClause } from '../../rows/change/rewrite-sql.ts';
import { holdTarget } from '../../rows/change/target-scan.ts';
import { boundInsertValues, insertValues } from '../../rows/merge/insert-values.ts';
import { changeClauses } from '../../rows/merge/merge-change-clauses.ts';
import { findMatches } from '../../rows/merge/merge-matches.ts';
import { MergeSource } from '../../rows/merge/merge-source.ts';
import { checkClauses, type MergeScopes, type MergeStatement, resolveMerge } from '../../rows/merge/merge-statement.ts';
import { countTouched, type TouchedRows } from '../../rows/merge/merge-touched-rows.ts';
import { searchScopes } from '../../rows/merge/search-scopes.ts';
import { matchableRows } from '../../rows/merge/source-key-filter.ts';
import type { Relation } from '../../table/relation.ts';
import type { MergeRequest, RowOperationResult } from '../../table/row-operations.ts';
import { checkedRows } from '../files/checked-rows.ts';
import { type LiveFile, liveFiles } from '../scan/live-files.ts';
import type { TableContext } from '../table-context.ts';
import { rewriteFiles } from './rewrite-files.ts';
import { marksRows, validationFor } from './row-modes.ts';
import { type IcebergRowWork, type PlannedChange, runRowOperation } from './row-work.ts';

/** MERGE; one snapshot, or none when nothing changes. The source is evaluated once; a MERGE that only inserts rewrites no file. */
export function mergeRows(context: TableContext, request: MergeRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planMerge(work, request));
}

async function planMerge(work: IcebergRowWork, request: MergeRequest): Promise<PlannedChange | undefined> {
  const { view } = work;
  checkClauses(work.target, request.clauses);
  if (request.schemaEvolution === true) refuseEvolution(work, request);
  const hidden = hiddenNames([view.schema, request.source.schema]);
  const source = await MergeSource.hold(work, request.source, hidden);
  const scopes = searchScopes(work, view.schema, { request, source });
  const statement = await resolveMerge(work, request, scopes, { schema: view.schema, evolving: false });
  // A statement that cannot be is refused whatever rows there are.
  for (const clause of statement.notMatched) boundInsertValues(work.target, clause, scopes.onlySource);
  const found = await findRows(work, { statement, scopes, source, hidden });
  if (found === undefined) return undefined;
  const { touched, inserts } = found;
  const marked = marksRows(view, 'merge');
  const { added, removed } = await rewriteFiles(work, {
    shape: { schema: view.schema, hidden, clauses: found.clauses, derived: [] },
    files: touched?.files ?? [],
    withPositions: true,
    marked,
    touched: (scan, files) => (touched === undefined ? scan.sql : touched.among(scan, files)),
    positions: () => touched?.positions() ?? { files: [], positions: source.rows },
    inserted: inserts?.rows,
  });
  const paths = (touched?.files ?? []).map(({ file }) => file.entry.file.path);
  const validation = validationFor(view, 'merge', { condition: found.condition ?? true, paths, marked });
  const count = (action: RowClause['kind']): bigint =>
    found.clauses.reduce((sum, clause, index) => (clause.kind === action ? sum + (touched?.rowsByClause[index] ?? 0n) : sum), 0n);
  return {
    change: { kind: marked && touched !== undefined ? 'row-delta' : 'overwrite', added, removed, validation },
    updatedRows: count('update'),
    deletedRows: count('delete'),
    insertedRows: inserts?.rowCount ?? 0n,
  };
}

interface Search {
  readonly statement: MergeStatement;
  readonly scopes: MergeScopes;
  readonly source: MergeSource;
  readonly hidden: HiddenNames;
}

interface Found {
  readonly clauses: readonly RowClause[];
  readonly touched: TouchedRows<LiveFile> | undefined;
  readonly inserts: { readonly rows: Relation; readonly rowCount: bigint } | undefined;
  /** What rows must satisfy to matter; `undefined`: all do. */
  readonly condition: Expression | undefined;
}

async function findRows(work: IcebergRowWork, search: Search): Promise<Found | undefined> {
  const { statement, scopes, source, hidden } = search;
  const { clauses, carried } = await changeClauses(work, search);
  const condition = await matchCondition(work, search);
  const { data: files } = await liveFiles(work.context, work.view, condition, work.signal);
  const scan = await holdTarget(work, files, { withPositions: true });
  const matches = await findMatches(work, { statement, scopes, source, hidden, scan, carried });
  const rows = matches.touched;
  const carriedColumns = carried.map((name) => source.columnOf(name));
  const touched = rows === undefined ? undefined : await countTouched(work, { rows, files, hidden, clauses, carried: carriedColumns });
  const inserts = matches.unmatched === undefined ? undefined : await insertedRows(work, search, matches.unmatched);
  return touched === undefined && inserts === undefined ? undefined : { clauses, touched, inserts, condition };
}

async function insertedRows(work: IcebergRowWork, search: Search, unmatched: Relation): Promise<Found['inserts']> {
  const rowCount = await countRows(work, unmatched);
  if (rowCount === 0n) return undefined;
  const parts: Relation[] = [];
  for (const [index, clause] of search.statement.notMatched.entries()) {
    const given = await insertValues(work, { hidden: search.hidden, scope: search.scopes.onlySource, unmatched }, { clause, index });
    parts.push(await checkedRows(work, work.view, given, { matchBy: 'name', members: memberRule(work.target, clause.lacking) }));
  }
  return { rows: { sql: parts.map(({ sql }) => `SELECT * FROM (${sql})`).join(' UNION ALL '), schema: work.view.schema }, rowCount };
}

/** What rows of the table must satisfy to matter, or nothing where all rows do. */
async function matchCondition(work: IcebergRowWork, { statement, scopes, source }: Search): Promise<Expression | undefined> {
  if (statement.notMatchedBySource.length > 0) return undefined;
  const sides = { scope: scopes.both, target: scopes.target, source: scopes.source, sourceRows: source.rows };
  return conjunction(await matchableRows(work, sides, statement.condition));
}

/** A source without columns of its own needs no evolution. */
function refuseEvolution({ view, context }: IcebergRowWork, { source }: MergeRequest): void {
  const known = new Set(view.schema.fields.map(({ name }) => name.toLowerCase()));
  const missing = source.schema.fields.filter(({ name }) => !known.has(name.toLowerCase()));
  if (missing.length === 0) return;
  throw new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TABLE_OPERATION',
    sqlState: '0A000',
    kind: 'unsupported',
    message: `MERGE cannot add the columns ${missing.map(({ name }) => `\`${name}\``).join(', ')} to table ${context.name}`,
    hint: 'add them first: ALTER TABLE … ADD COLUMN',
  });
}
