import { conjunction, type Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { MergeRequest, RowOperationResult } from '../../table/row-operations.ts';
import { memberRule } from '../change/assigned-values.ts';
import { countRows } from '../change/engine-counts.ts';
import { type HiddenNames, hiddenNames } from '../change/hidden-names.ts';
import { rewriteFiles } from '../change/rewrite-files.ts';
import type { RowClause } from '../change/rewrite-sql.ts';
import { holdTarget } from '../change/target-scan.ts';
import { runRowOperation } from '../row-operation.ts';
import type { GivenRows, RowChange, RowTable } from '../row-table.ts';
import type { RowWork } from '../row-work.ts';
import { boundInsertValues, insertValues } from './insert-values.ts';
import { changeClauses } from './merge-change-clauses.ts';
import { findMatches } from './merge-matches.ts';
import { mergeCounts } from './merge-outcome.ts';
import { MergeSource } from './merge-source.ts';
import { checkClauses, type MergeScopes, type MergeStatement, mergeScopes, resolveMerge } from './merge-statement.ts';
import { countTouched, type TouchedRows } from './merge-touched-rows.ts';
import { matchableRows } from './source-key-filter.ts';

/**
 * MERGE; one version, or none when nothing changes. The source is evaluated once. Files are rewritten only when a clause concerns a row of
 * theirs; a MERGE that only inserts rewrites none.
 */
export function mergeRows<File>(table: RowTable<File> | undefined, request: MergeRequest): Promise<RowOperationResult> {
  const onlyAdds = request.clauses.every(({ on }) => on === 'not-matched');
  return runRowOperation(table, (open) => planMerge(open, request), onlyAdds);
}

async function planMerge<File>(table: RowTable<File>, request: MergeRequest): Promise<RowChange<File> | undefined> {
  const { work, schema } = table;
  if (request.asks !== undefined) throw work.target.errors.mergeCondition('query', '(…)', request.asks);
  checkClauses(work.target, request.clauses);
  const startedMs = work.clock.monotonicMs();
  const hidden = hiddenNames([schema, request.source.schema]);
  const source = await MergeSource.hold(work, request.source, hidden);
  const heldMs = work.clock.monotonicMs();
  const scopes = searchScopes(work, schema, { request, source });
  const statement = await resolveMerge(work, request, scopes, {
    schema: table.writtenSchema,
    evolving: request.schemaEvolution === true,
  });
  // A statement that cannot be is refused whatever rows there are.
  for (const clause of statement.notMatched) boundInsertValues(work.target, clause, scopes.onlySource);
  const found = await findRows(table, { statement, scopes, source, hidden });
  if (found === undefined) return undefined;
  const scannedMs = work.clock.monotonicMs();
  const { touched, inserts } = found;
  await rewriteFiles(table, {
    shape: { hidden, clauses: found.clauses, derived: table.derivedColumns() },
    files: touched?.files ?? [],
    withPositions: true,
    touched: (scan, files) => (touched === undefined ? scan.sql : touched.among(scan, files)),
    positions: () => touched?.positions() ?? { files: [], positions: source.rows },
    inserted: inserts?.rows,
  });
  const counts = mergeCounts(statement, touched?.rowsByClause ?? [], source.rowCount);
  return {
    condition: found.condition,
    readFiles: found.readFiles,
    updatedRows: counts.matchedUpdated + counts.notMatchedBySourceUpdated,
    deletedRows: counts.matchedDeleted + counts.notMatchedBySourceDeleted,
    insertedRows: inserts?.rowCount ?? 0n,
    copiedRows: 0n,
    startedMs,
    scannedMs,
    merge: { operationParameters: statement.operationParameters, counts, heldMs },
  };
}

interface Search {
  readonly statement: MergeStatement;
  readonly scopes: MergeScopes;
  readonly source: MergeSource;
  readonly hidden: HiddenNames;
}

interface Found<File> {
  readonly clauses: readonly RowClause[];
  readonly touched: TouchedRows<File> | undefined;
  readonly inserts: { readonly rows: Relation; readonly rowCount: bigint } | undefined;
  /** What rows must satisfy to matter; `undefined`: all do. */
  readonly condition: Expression | undefined;
  /** What the answer rests on, for whoever commits at the same time. */
  readonly readFiles: readonly File[];
}

async function findRows<File>(table: RowTable<File>, search: Search): Promise<Found<File> | undefined> {
  const { work } = table;
  const { statement, source, hidden } = search;
  const { clauses, carried, drawn } = await changeClauses(work, search);
  const condition = await matchCondition(table, search);
  const files = await table.filesFor(condition);
  const scan = await holdTarget(table, files, { withPositions: true });
  const matches = await findMatches(work, { ...search, scan, carried });
  const rows = matches.touched === undefined ? undefined : await drawn.beside(matches.touched);
  const carriedColumns = [...carried.map((name) => source.columnOf(name)), ...drawn.schema.fields.map(({ name }) => name)];
  const touched = rows === undefined ? undefined : await countTouched(work, { rows, files, hidden, clauses, carried: carriedColumns });
  const inserts = matches.unmatched === undefined ? undefined : await insertedRows(table, search, matches.unmatched);
  if (touched === undefined && inserts === undefined) return undefined;
  const onlyInserts = statement.matched.length + statement.notMatchedBySource.length === 0;
  const matched = new Set(matches.matchedFiles);
  const changed = new Set(touched?.files.map(({ file }) => file));
  const readFiles = onlyInserts ? files : files.filter((file, index) => matched.has(index) || changed.has(file));
  return { clauses, touched, inserts, condition, readFiles };
}

/** What the insert clauses make of the source rows that match nothing; `undefined`: there are none. */
async function insertedRows<File>(table: RowTable<File>, search: Search, unmatched: Relation): Promise<Found<File>['inserts']> {
  const { work } = table;
  const { statement, scopes, hidden } = search;
  const rowCount = await countRows(work, unmatched);
  if (rowCount === 0n) return undefined;
  const given: GivenRows[] = [];
  for (const [index, clause] of statement.notMatched.entries()) {
    const rows = await insertValues(work, { hidden, scope: scopes.onlySource, unmatched }, { clause, index });
    given.push({ rows, members: memberRule(work.target, clause.lacking) });
  }
  return { rows: await table.insertedRows(given, rowCount), rowCount };
}

/** What rows of the table must satisfy to matter, or nothing where all rows do. */
async function matchCondition<File>({ work }: RowTable<File>, { statement, scopes, source }: Search): Promise<Expression | undefined> {
  if (statement.notMatchedBySource.length > 0) return undefined;
  const sides = { scope: scopes.both, target: scopes.target, source: scopes.source, sourceRows: source.rows };
  return conjunction(await matchableRows(work, sides, statement.condition));
}

/** Names where the request gives none. */
const defaultAlias = { target: 'target', source: 'source' };

/** Both sides as the search joins them: the table, which has `schema`, as `t`, the source as `s`. */
function searchScopes(
  work: RowWork,
  schema: StructType,
  { request, source }: { readonly request: MergeRequest; readonly source: MergeSource },
): MergeScopes {
  const target = {
    alias: request.targetAlias ?? defaultAlias.target,
    schema,
    columnSql: (name: string) => `t.${quoteName(name)}`,
  };
  const given = {
    alias: request.sourceAlias ?? defaultAlias.source,
    schema: source.schema,
    columnSql: (name: string) => `s.${quoteName(source.columnOf(name))}`,
  };
  return mergeScopes({ target, source: given }, work.now);
}
