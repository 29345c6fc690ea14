import type { Expression } from '../../expr/expression.ts';
import { isDeterministic } from '../../expr/expression-tree.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { withDefault } from '../change/assigned-values.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import type { RowScope } from '../change/row-scope.ts';
import type { RowTarget } from '../row-target.ts';
import type { RowWork } from '../row-work.ts';
import { bindInMerge, type InsertClause } from './merge-statement.ts';

/** Source rows that match nothing, and where their columns are found. */
export interface UnmatchedRows {
  readonly hidden: HiddenNames;
  /** The source's columns under the alias `s`. */
  readonly scope: RowScope;
  /** With the number of the clause. */
  readonly unmatched: Relation;
}

/** All rows of relations that have the columns of `schema`. */
export function unionOf(parts: readonly Relation[], schema: StructType): Relation {
  return { sql: parts.map(({ sql }) => `SELECT * FROM (${sql})`).join(' UNION ALL '), schema };
}

/** The values that one insert clause makes of its rows, under the names of the table's columns. Evaluated once when they are random. */
export async function insertValues(
  work: RowWork,
  rows: UnmatchedRows,
  { clause, index }: { readonly clause: InsertClause; readonly index: number },
): Promise<Relation> {
  const { scope } = rows;
  const columns = boundInsertValues(work.target, clause, scope);
  const bound = columns.map((column) => column.bound);
  const types = await scope.typesOf(work.engine, bound, work.signal);
  const fields = columns.map(({ field }, place): Field => ({ name: field.name, type: types[place] ?? field.type, nullable: true }));
  const named = columns.map((column) => `${scope.sql(column.bound)} AS ${quoteName(column.field.name)}`);
  const values = named.length === 0 ? [quoteName(rows.hidden.clause)] : named;
  const chosen = `FROM (${rows.unmatched.sql}) s WHERE s.${quoteName(rows.hidden.clause)} = ${index}`;
  const relation: Relation = { sql: `SELECT ${values.join(', ')} ${chosen}`, schema: { kind: 'struct', fields } };
  return bound.every(isDeterministic) ? relation : work.holding(work.engine.materialize(relation, work.signal));
}

/**
 * The values of an insert clause with their names resolved.
 *
 * @throws AnalysisException `unresolvedInMerge` of the target's errors.
 */
export function boundInsertValues(
  target: RowTarget,
  clause: InsertClause,
  scope: RowScope,
): readonly { readonly field: Field; readonly bound: Expression }[] {
  const bind = bindInMerge(target, scope, 'INSERT clause');
  return clause.assigned.map(({ field, value }) => {
    if (value.kind === 'members') throw target.errors.memberInserted([field.name, ...value.members.keys()].slice(0, 2));
    return { field, bound: bind(withDefault(target, scope, { field, value: value.value })) };
  });
}
