import { present } from '../../base/assert.ts';
import { type Expression, nullExpression } from '../../expr/expression.ts';
import { isDeterministic } from '../../expr/expression-tree.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { RowTarget } from '../row-target.ts';
import type { RowWork } from '../row-work.ts';
import { convertValue, type MemberDifference } from '../values/convert-value.ts';
import type { RowCheck } from '../values/row-checks.ts';
import type { AssignedColumn, ColumnValue } from './assignment-targets.ts';
import { notDeterministic, type RowScope } from './row-scope.ts';

/** Where values are computed. */
interface ValuePlace {
  /** Columns they may mention. */
  readonly scope: RowScope;
  /** SQL of the columns that are assigned to, as they are before. */
  readonly current: (column: string) => string;
  /** Binds one value; default: in the scope. A caller may turn the errors into those of its statement. */
  readonly bind?: ((value: Expression) => Expression) | undefined;
  /** Whether a value may differ each time it is computed, because it is once; default: it is refused. */
  readonly mayDiffer?: boolean | undefined;
  /** Settles a value that differs each time it is computed. */
  readonly draw?: ((bound: Expression) => Promise<Expression>) | undefined;
  /** What becomes of members that structs lack: default `refused`; null; or they stay as they are. */
  readonly lacking?: LackingMembers | undefined;
}

/** What becomes of members of a column that the struct assigned to it lacks. */
export type LackingMembers = 'refused' | 'null' | 'kept';

interface AssignedValues {
  /** SQL of the new values by column, in the columns' types. */
  readonly values: ReadonlyMap<string, string>;
  /** What must be ruled out before the values are computed. */
  readonly checks: readonly RowCheck[];
}

/**
 * The new values of assigned columns, converted by the rules of store assignment. A struct of which only members are assigned keeps the others.
 *
 * @throws AnalysisException `structMembers` of the target's errors, `INVALID_NON_DETERMINISTIC_EXPRESSIONS` (42K0E), as rows are looked at more than once; and what binding says.
 */
export async function assignedValues(work: RowWork, assigned: readonly AssignedColumn[], place: ValuePlace): Promise<AssignedValues> {
  const { scope } = place;
  const bind = place.bind ?? ((value: Expression) => scope.bind(value));
  const leaves = assigned.flatMap((column) => leavesOf(column.field, column.value, [column.field.name]));
  const bound: Expression[] = [];
  for (const { field, value } of leaves) bound.push(await settled(bind(withDefault(work.target, scope, { field, value })), place));
  if (place.mayDiffer !== true && !bound.every(isDeterministic)) throw notDeterministic(bound.filter((value) => !isDeterministic(value)));
  const types = await scope.typesOf(work.engine, bound, work.signal);
  const converted = leaves.map(({ field, path }, index) => {
    const from = present(types[index], 'every value has a type');
    const value = scope.sql(present(bound[index], 'every value is bound'));
    const current = place.lacking === 'kept' ? currentSql(path, place) : undefined;
    return convertValue(
      value,
      { from, to: field.type },
      { rule: work.target.conversion, path, zone: work.now.zone?.rule, members: memberRule(work.target, place.lacking), current },
    );
  });
  const values = new Map(leaves.map(({ value }, index) => [value, converted[index]?.sql ?? 'NULL']));
  return {
    values: new Map(assigned.map(({ field, value }) => [field.name, valueSql(value, field.type, place.current(field.name), values)])),
    checks: converted.flatMap(({ faults }) => faults.map((fault) => work.target.errors.assignment(fault))),
  };
}

async function settled(bound: Expression, { draw }: ValuePlace): Promise<Expression> {
  return draw === undefined || isDeterministic(bound) ? bound : draw(bound);
}

/** Refuses members that the column has no place for, which would be lost, and such as it lacks unless they may be. */
export function memberRule(target: RowTarget, lacking: LackingMembers = 'refused'): (difference: MemberDifference) => void {
  return (difference) => {
    if (difference.extra.length > 0 || lacking === 'refused') throw target.errors.structMembers(difference);
  };
}

function currentSql([column = '', ...members]: readonly string[], place: ValuePlace): string {
  return members.reduce((sql, member) => `struct_extract(${sql}, ${sqlText(member)})`, place.current(column));
}

interface Leaf {
  readonly field: Field;
  readonly value: Expression;
  readonly path: readonly string[];
}

function leavesOf(field: Field, value: ColumnValue, path: readonly string[]): readonly Leaf[] {
  if (value.kind === 'whole') return [{ field, value: value.value, path }];
  return membersOf(field.type).flatMap((member) => {
    const inner = value.members.get(member.name);
    return inner === undefined ? [] : leavesOf(member, inner, [...path, member.name]);
  });
}

function membersOf(type: DataType): readonly Field[] {
  return type.kind === 'struct' ? type.fields : [];
}

/** Values by the expression they come from: one object for each assignment. */
function valueSql(value: ColumnValue, type: DataType, current: string, leaves: ReadonlyMap<Expression, string>): string {
  if (value.kind === 'whole') return leaves.get(value.value) ?? 'NULL';
  const members = membersOf(type).map((member) => {
    const own = `struct_extract(${current}, ${sqlText(member.name)})`;
    const inner = value.members.get(member.name);
    return `${quoteName(member.name)} := ${inner === undefined ? own : valueSql(inner, member.type, own, leaves)}`;
  });
  return `struct_pack(${members.join(', ')})`;
}

/** The word DEFAULT alone stands for the column's default value. */
export function withDefault(
  target: RowTarget,
  scope: RowScope,
  { field, value }: { readonly field: Field; readonly value: Expression },
): Expression {
  if (value.kind !== 'column' || value.path.length !== 1 || value.path[0]?.toLowerCase() !== 'default') return value;
  if (scope.sides.some(({ schema }) => schema.fields.some(({ name }) => name.toLowerCase() === 'default'))) return value;
  return target.defaultOf(field) ?? nullExpression;
}
