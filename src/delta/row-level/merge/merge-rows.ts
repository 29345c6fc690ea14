import { conjunction, type Expression, trueLiteral } from '../../../expr/expression.ts';
import { type HiddenNames, hiddenNames } from '../../../rows/change/hidden-names.ts';
import type { RowClause } from '../../../rows/change/rewrite-sql.ts';
import { holdTarget } from '../../../rows/change/target-scan.ts';
import { boundInsertValues } from '../../../rows/merge/insert-values.ts';
import { changeClauses } from '../../../rows/merge/merge-change-clauses.ts';
import { findMatches } from '../../../rows/merge/merge-matches.ts';
import { MergeSource } from '../../../rows/merge/merge-source.ts';
import { checkClauses, type MergeScopes, type MergeStatement, resolveMerge } from '../../../rows/merge/merge-statement.ts';
import { countTouched, type TouchedRows } from '../../../rows/merge/merge-touched-rows.ts';
import { searchScopes } from '../../../rows/merge/search-scopes.ts';
import { matchableRows } from '../../../rows/merge/source-key-filter.ts';
import type { MergeRequest, RowOperationResult } from '../../../table/row-operations.ts';
import { type Action, type AddFile, physicalRows } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import type { OperationContext } from '../../operations/operation-context.ts';
import { selectFiles } from '../../scan/select-files.ts';
import type { WriteTarget } from '../../write/evolve-schema.ts';
import { derivedColumns } from '../derived-columns.ts';
import { actionsOf, type FileChanges } from '../file-changes.ts';
import { deletesByVectors, rewriteFiles } from '../rewrite-files.ts';
import { type DeltaRowWork, type PlannedCommit, runRowOperation } from '../row-work.ts';
import { evolvedForMerge } from './evolve-for-merge.ts';
import { insertedRows, type MergeInserts } from './merge-inserts.ts';
import { type MergeCounts, mergeMetrics } from './merge-metrics.ts';

/**
 * MERGE; one version, or none when nothing changes. The source is evaluated once. Files are rewritten only when a clause concerns a row of
 * theirs; a MERGE that only inserts rewrites none.
 */
export function mergeRows(context: OperationContext, request: MergeRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planMerge(work, request));
}

async function planMerge(work: DeltaRowWork, request: MergeRequest): Promise<PlannedCommit | undefined> {
  checkClauses(work.target, request.clauses);
  const { clock } = work.context;
  const startedMs = clock.monotonicMs();
  const hidden = hiddenNames([work.snapshot.schema, request.source.schema]);
  const source = await MergeSource.hold(work, request.source, hidden);
  const heldMs = clock.monotonicMs();
  const scopes = searchScopes(work, work.snapshot.schema, { request, source });
  const evolution = evolvedForMerge(work, request);
  const evolved = evolution.snapshot;
  const target = { schema: evolved.schema, evolving: request.schemaEvolution === true };
  const statement = await resolveMerge(work, request, scopes, target);
  // A statement that cannot be is refused whatever rows there are.
  for (const clause of statement.notMatched) boundInsertValues(work.target, clause, scopes.onlySource);
  const found = await findRows(work, { request, statement, scopes, source, hidden, evolved });
  if (found === undefined) return undefined;
  const scannedMs = clock.monotonicMs();
  const { touched, inserts } = found;
  const changes = await rewriteFiles(work, {
    snapshot: evolved,
    shape: { schema: evolved.schema, hidden, clauses: found.clauses, derived: derivedColumns(work, evolved.schema) },
    files: touched?.files ?? [],
    scanOptions: { withPositions: true },
    touched: (scan, files) => (touched === undefined ? scan.sql : touched.among(scan, files)),
    positions: () => touched?.positions() ?? { files: [], positions: source.rows },
    inserted: inserts?.rows,
    changesRecorded: true,
  });
  const counts = countsOf(work, { statement, source, touched, inserts, changes });
  const times = {
    materializeSourceTimeMs: Math.round(heldMs - startedMs),
    scanTimeMs: Math.round(scannedMs - heldMs),
    rewriteTimeMs: Math.round(clock.monotonicMs() - scannedMs),
  };
  return {
    operation: 'MERGE',
    operationParameters: statement.operationParameters,
    operationMetrics: mergeMetrics(changes, counts, times),
    actions: [...definitionActions(evolution, inserts), ...actionsOf(changes, clock.now())],
    reads: { conditions: [found.readCondition], files: found.readFiles },
    updatedRows: counts.matchedUpdated + counts.notMatchedBySourceUpdated,
    deletedRows: counts.matchedDeleted + counts.notMatchedBySourceDeleted,
    insertedRows: counts.inserted,
  };
}

/** What changes of the table itself: new columns, and how far identity columns have counted. */
function definitionActions(evolution: WriteTarget, inserts: MergeInserts | undefined): readonly Action[] {
  const { snapshot, actions } = evolution;
  if (inserts === undefined || inserts.metadata === snapshot.metadata) return actions;
  return [...actions.filter((action) => action.kind !== 'metaData'), inserts.metadata];
}

interface Search {
  readonly request: MergeRequest;
  readonly statement: MergeStatement;
  readonly scopes: MergeScopes;
  readonly source: MergeSource;
  readonly hidden: HiddenNames;
  readonly evolved: DeltaSnapshot;
}

interface Found {
  readonly clauses: readonly RowClause[];
  readonly touched: TouchedRows<AddFile> | undefined;
  readonly inserts: MergeInserts | undefined;
  /** What the answer rests on, for whoever commits at the same time. */
  readonly readCondition: Expression;
  readonly readFiles: readonly AddFile[];
}

async function findRows(work: DeltaRowWork, search: Search): Promise<Found | undefined> {
  const { statement, scopes, source, hidden } = search;
  const { clauses, carried } = await changeClauses(work, search);
  const condition = await matchCondition(work, search);
  const files = selectFiles(work.snapshot, condition);
  const scan = await holdTarget(work, files, { withPositions: true });
  const matches = await findMatches(work, { statement, scopes, source, hidden, scan, carried });
  const touched =
    matches.touched === undefined
      ? undefined
      : await countTouched(work, { rows: matches.touched, files, hidden, clauses, carried: carried.map((name) => source.columnOf(name)) });
  const inserts =
    matches.unmatched === undefined
      ? undefined
      : await insertedRows(work, { statement, hidden, scope: scopes.onlySource, unmatched: matches.unmatched, snapshot: search.evolved });
  if (touched === undefined && inserts === undefined) return undefined;
  const onlyInserts = statement.matched.length + statement.notMatchedBySource.length === 0;
  const matched = new Set(matches.matchedFiles);
  const changed = new Set(touched?.files.map(({ file }) => file));
  return {
    clauses,
    touched,
    inserts,
    readCondition: condition ?? trueLiteral,
    readFiles: onlyInserts ? files : files.filter((file, index) => matched.has(index) || changed.has(file)),
  };
}

/** What rows of the table must satisfy to matter, or nothing where all rows do. */
async function matchCondition(work: DeltaRowWork, { statement, scopes, source }: Search): Promise<Expression | undefined> {
  if (statement.notMatchedBySource.length > 0) return undefined;
  const sides = { scope: scopes.both, target: scopes.target, source: scopes.source, sourceRows: source.rows };
  return conjunction(await matchableRows(work, sides, statement.condition));
}

interface Outcome {
  readonly statement: MergeStatement;
  readonly source: MergeSource;
  readonly touched: TouchedRows<AddFile> | undefined;
  readonly inserts: MergeInserts | undefined;
  readonly changes: FileChanges;
}

function countsOf(work: DeltaRowWork, { statement, source, touched, inserts, changes }: Outcome): MergeCounts {
  const actions = [...statement.matched, ...statement.notMatchedBySource].map(({ action }) => action);
  const count = (action: 'update' | 'delete', matched: boolean): bigint =>
    actions.reduce((sum, candidate, clause) => {
      const counted = candidate === action && clause < statement.matched.length === matched;
      return counted ? sum + (touched?.rowsByClause[clause] ?? 0n) : sum;
    }, 0n);
  const inserted = inserts?.rowCount ?? 0n;
  const numbers = {
    matchedUpdated: count('update', true),
    matchedDeleted: count('delete', true),
    notMatchedBySourceUpdated: count('update', false),
    notMatchedBySourceDeleted: count('delete', false),
  };
  const written = changes.added.reduce((sum, file) => sum + BigInt(physicalRows(file.stats) ?? 0), 0n);
  const copied = written - numbers.matchedUpdated - numbers.notMatchedBySourceUpdated - inserted;
  return { ...numbers, source: source.rowCount, inserted, copied: deletesByVectors(work.snapshot) ? 0n : copied };
}
