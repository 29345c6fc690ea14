import { AnalysisException } from '../../base/analysis-exception.ts';
import type { JsonObject } from '../../base/bigint-json.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { Expression } from '../../expr/expression.ts';
import { hasAggregate, isDeterministic } from '../../expr/expression-tree.ts';
import type { StatementTime } from '../../expr/time-zone.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { StructType } from '../../schema/types.ts';
import type { Assignment, MergeClause, MergeRequest } from '../../table/row-operations.ts';
import type { LackingMembers } from '../change/assigned-values.ts';
import { type AssignedColumn, assignedColumns, withoutAlias } from '../change/assignment-targets.ts';
import { historyText, RowScope, type Side } from '../change/row-scope.ts';
import type { RowTarget } from '../row-target.ts';
import type { RowWork } from '../row-work.ts';

/** Rows of the table that change: matched ones, or those without a source row. */
export interface ChangeClause {
  readonly action: 'update' | 'delete';
  readonly condition: Expression | undefined;
  /** Empty for a deletion. Values are unbound; `scope` says where they belong. */
  readonly assigned: readonly AssignedColumn[];
  readonly scope: ScopeName;
  readonly lacking: LackingMembers;
}

/** Rows of the source that become rows of the table. Values are unbound and mention the source alone. */
export interface InsertClause {
  readonly condition: Expression | undefined;
  readonly assigned: readonly AssignedColumn[];
  readonly lacking: LackingMembers;
}

/** A MERGE whose names are resolved. */
export interface MergeStatement {
  readonly condition: Expression;
  readonly matched: readonly ChangeClause[];
  readonly notMatched: readonly InsertClause[];
  readonly notMatchedBySource: readonly ChangeClause[];
  readonly operationParameters: JsonObject;
}

/** What the parts of a MERGE may mention. */
export interface MergeScopes {
  readonly target: Side;
  readonly source: Side;
  readonly both: RowScope;
  readonly onlyTarget: RowScope;
  readonly onlySource: RowScope;
}

/** Which columns values may mention. */
type ScopeName = 'both' | 'onlyTarget' | 'onlySource';

export function mergeScopes(sides: { readonly target: Side; readonly source: Side }, now: StatementTime): MergeScopes {
  const { target, source } = sides;
  const scope = (...all: readonly Side[]): RowScope => new RowScope(all, now);
  return { target, source, both: scope(target, source), onlyTarget: scope(target), onlySource: scope(source) };
}

/** Where a MERGE's values go: the columns the table has after it, and whether `*` may leave some out. */
interface MergeTarget {
  readonly schema: StructType;
  readonly evolving: boolean;
}

/**
 * @throws AnalysisException `missingWhen` of the target's errors, `NON_LAST_…_CLAUSE_OMIT_CONDITION` (42613).
 */
export function checkClauses(target: RowTarget, clauses: readonly MergeClause[]): void {
  if (clauses.length === 0) throw target.errors.missingWhen();
  for (const on of ['matched', 'not-matched', 'not-matched-by-source'] as const) {
    const ofKind = clauses.filter((clause) => clause.on === on);
    if (ofKind.slice(0, -1).some((clause) => clause.condition === undefined)) throw unreachableClause(on);
  }
}

/**
 * Resolves every name of the request.
 *
 * @throws AnalysisException `unresolvedInMerge`, `mergeCondition`, `duplicateInsertColumns` of the target's errors,
 * `DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN` (42K09), `JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE` (42K0E) of ON, and those of assignments.
 */
export async function resolveMerge(
  work: RowWork,
  request: MergeRequest,
  scopes: MergeScopes,
  target: MergeTarget,
): Promise<MergeStatement> {
  const condition = await boundCondition(work, scopes.both, request.condition, searchCondition);
  const matched: ChangeClause[] = [];
  const notMatched: InsertClause[] = [];
  const notMatchedBySource: ChangeClause[] = [];
  const named = { matched: [] as JsonObject[], 'not-matched': [] as JsonObject[], 'not-matched-by-source': [] as JsonObject[] };
  for (const clause of request.clauses) {
    const scope = scopes[scopeNames[clause.on]];
    const label = clause.action.toUpperCase();
    const holds = clause.condition === undefined ? undefined : await boundCondition(work, scope, clause.condition, `${label} condition`);
    named[clause.on].push({ ...(holds === undefined ? {} : { predicate: historyText(holds) }), actionType: clause.action });
    const assignments = assignmentsOf(work.target, clause, { scopes, target, request, label });
    const values = { condition: holds, ...assignments };
    if (clause.on === 'not-matched') notMatched.push(values);
    else (clause.on === 'matched' ? matched : notMatchedBySource).push({ ...values, action: clause.action });
  }
  const operationParameters = {
    predicate: printJson([historyText(condition)]),
    matchedPredicates: printJson(named.matched),
    notMatchedPredicates: printJson(named['not-matched']),
    notMatchedBySourcePredicates: printJson(named['not-matched-by-source']),
  };
  return { condition, matched, notMatched, notMatchedBySource, operationParameters };
}

/** Binds a value of a clause; an unknown name is told as MERGE tells it. */
export function bindInMerge(target: RowTarget, scope: RowScope, clause: string): (value: Expression) => Expression {
  return (value) => {
    try {
      return scope.bind(value);
    } catch (error) {
      if (!(error instanceof AnalysisException) || !error.errorClass.startsWith('UNRESOLVED_COLUMN')) throw error;
      const name = error.parameters['objectName']?.replaceAll('`', '') ?? '';
      throw target.errors.unresolvedInMerge(name, { clause, sides: scope.sides });
    }
  };
}

async function boundCondition(work: RowWork, scope: RowScope, condition: Expression, clause: string): Promise<Expression> {
  if (hasAggregate(condition)) throw work.target.errors.mergeCondition('aggregate', historyText(condition), clause);
  const bound = bindInMerge(work.target, scope, clause)(condition);
  if (!isDeterministic(bound)) throw work.target.errors.mergeCondition('random', historyText(bound), clause);
  return scope.bindCondition(work.engine, bound, { signal: work.signal, joins: clause === searchCondition });
}

/** As messages call what stands behind ON. */
const searchCondition = 'search condition';

const scopeNames: Readonly<Record<MergeClause['on'], ScopeName>> = {
  matched: 'both',
  'not-matched': 'onlySource',
  'not-matched-by-source': 'onlyTarget',
};

interface ClausePlace {
  readonly scopes: MergeScopes;
  readonly target: MergeTarget;
  readonly request: MergeRequest;
  readonly label: string;
}

interface ClauseAssignments {
  readonly assigned: readonly AssignedColumn[];
  readonly scope: ScopeName;
  /** Where columns evolve, a struct of the source need not have all members; `UPDATE SET *` then leaves those that it lacks. */
  readonly lacking: LackingMembers;
}

function assignmentsOf(table: RowTarget, clause: MergeClause, place: ClausePlace): ClauseAssignments {
  const { scopes, target, request } = place;
  const scope = scopeNames[clause.on];
  if (clause.action === 'delete') return { assigned: [], scope, lacking: 'refused' };
  const given = clause.action === 'insert' ? clause.values : clause.assignments;
  // What `*` means is found in the source alone: the same name on both sides is the rule there, not an ambiguity.
  if (given === 'all') {
    const unknown = (path: readonly string[]): AnalysisException =>
      table.errors.unresolvedInMerge(path.join('.'), { clause: 'UPDATE clause', sides: [] });
    return {
      assigned: assignedColumns(table, target.schema, { assignments: starAssignments(table, place), unknown, action: clause.action }),
      scope: 'onlySource',
      lacking: lackingMembers(table, target, clause.action === 'update'),
    };
  }
  const assignments = given.map((assignment) => withoutAlias(assignment, request.targetAlias, target.schema));
  if (clause.action === 'insert') checkInsertColumns(table, assignments, target.schema);
  const unknown = (path: readonly string[]): AnalysisException =>
    table.errors.unresolvedInMerge(path.join('.'), { clause: `${place.label} clause`, sides: [scopes.target] });
  return {
    assigned: assignedColumns(table, target.schema, { assignments, unknown, action: clause.action }),
    scope,
    lacking: lackingMembers(table, target, false),
  };
}

function lackingMembers(table: RowTarget, { evolving }: MergeTarget, updatesAll: boolean): LackingMembers {
  if (!evolving || !table.fillsMembers) return 'refused';
  return updatesAll ? 'kept' : 'null';
}

/** Every column of the table from the source's column of the same name. */
function starAssignments(table: RowTarget, place: ClausePlace): readonly Assignment[] {
  const { target, scopes } = place;
  return target.schema.fields.flatMap((field): readonly Assignment[] => {
    const from = fieldNamed(scopes.source.schema.fields, field.name);
    if (from !== undefined) return [{ target: [field.name], value: { kind: 'column', path: [from.name] } }];
    if (target.evolving) return [];
    throw table.errors.unresolvedInMerge(field.name, { clause: `${place.label} clause`, sides: [scopes.source] });
  });
}

function checkInsertColumns(table: RowTarget, assignments: readonly Assignment[], { fields }: StructType): void {
  const names = assignments.map(({ target }) => target.join('.').toLowerCase());
  const given = new Set(names);
  if (given.size < names.length) throw table.errors.duplicateInsertColumns();
  const leftOut = fields.find((field) => !field.nullable && !given.has(field.name.toLowerCase()) && table.defaultOf(field) === undefined);
  if (leftOut !== undefined && !table.isComputed(leftOut)) throwIfAny(table.errors.columnLeftOut?.(leftOut.name));
}

function throwIfAny(error: AnalysisException | undefined): void {
  if (error !== undefined) throw error;
}

const kinds: Readonly<Record<MergeClause['on'], { readonly word: string; readonly errorClass: string }>> = {
  matched: { word: 'MATCHED', errorClass: 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION' },
  'not-matched': { word: 'NOT MATCHED [BY TARGET]', errorClass: 'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION' },
  'not-matched-by-source': { word: 'NOT MATCHED BY SOURCE', errorClass: 'NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION' },
};

/** Clauses behind one without a condition could never apply. */
function unreachableClause(on: MergeClause['on']): AnalysisException {
  const { word, errorClass } = kinds[on];
  return new AnalysisException({
    errorClass,
    message: `When there are more than one ${word} clauses in a MERGE statement, only the last ${word} clause can omit the condition.`,
  });
}
