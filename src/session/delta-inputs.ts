import type { Expression } from '../expr/expression.ts';
import type { Assignment } from '../table/row-operations.ts';
import { type Column, expressionFrom, namePath } from './column.ts';

/** A condition as SQL text or as a column. */
export type ConditionInput = Column | string;

/** Values by column, or by path of a member: SQL text, or columns. A text value is written `lit('x')` or `"'x'"`. */
export type SetInput = Readonly<Record<string, Column | string>>;

/** @throws ParseException. */
export function conditionOf(condition: ConditionInput): Expression {
  return expressionFrom(condition);
}

/** @throws ParseException. */
export function assignmentsOf(set: SetInput): readonly Assignment[] {
  return Object.entries(set).map(([name, value]) => ({ target: namePath(name), value: expressionFrom(value) }));
}
