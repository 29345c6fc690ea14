import { literalOf } from '../expr/bind-parameters.ts';
import { requireCount } from '../expr/clause-rules.ts';
import type { Expression } from '../expr/expression.ts';
import { type ColumnOrName, namedColumn } from './column.ts';
import type { Plan } from './plan/plan.ts';
import { invalidArgument } from './session-errors.ts';

export type PlainValue = string | number | bigint | boolean;

/** Which rows `dropna` leaves out. */
export interface DropNullOptions {
  readonly how?: 'any' | 'all' | undefined;
  readonly thresh?: number | undefined;
  readonly subset?: readonly string[] | undefined;
}

/** A column, or a name of one. */
export function expressionOfColumn(column: ColumnOrName): Expression {
  return typeof column === 'string' ? namedColumn(column) : column.expression;
}

/** What missing values become. @throws AnalysisException for a value that is no literal. */
export function fillLiteral(value: PlainValue): Extract<Expression, { kind: 'literal' }>['literal'] {
  const expression = literalOf(value);
  if (expression.kind !== 'literal') throw invalidArgument(`the value ${String(value)} cannot fill a column`);
  return expression.literal;
}

/** @throws AnalysisException for a number that is not whole or negative; `what` names it. */
export function wholeNumber(value: number, what: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidArgument(`${what} ${value} is not a whole number from 0 up`);
}

/** A number of rows. @throws AnalysisException `INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE`, `INVALID_ARGUMENT`. */
export function countOf(value: number, clause: 'LIMIT' | 'OFFSET'): Expression {
  const count = literalOf(value);
  if (Number.isSafeInteger(value)) requireCount(clause, count);
  wholeNumber(value, clause.toLowerCase());
  return count;
}

/** @throws AnalysisException for a number that is not between 0 and 1. */
export function fractionOf(value: number): number {
  if (value >= 0 && value <= 1) return value;
  throw invalidArgument(`fraction ${value} is not between 0 and 1`);
}

interface Unpivoting {
  readonly ids: readonly ColumnOrName[];
  readonly values: readonly ColumnOrName[] | undefined;
  readonly nameColumn: string;
  readonly valueColumn: string;
}

/** Values that are null come out too. */
export function unpivoted(input: Plan, { ids, values, nameColumn, valueColumn }: Unpivoting): Plan {
  const columns = values?.map((value) => ({ columns: [expressionOfColumn(value)] }));
  return { kind: 'unpivot', ids: ids.map(expressionOfColumn), columns, nameColumn, valueColumns: [valueColumn], keepsNulls: true, input };
}

/** A text is the name of one column, dots and all. */
export function droppedColumn(column: ColumnOrName): Expression {
  return typeof column === 'string' ? { kind: 'column', path: [column] } : column.expression;
}
