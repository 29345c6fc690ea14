import type { DataType } from '../../schema/types.ts';
import type { BinaryOperator, Expression, Literal } from '../expression.ts';
import { quotientType } from '../expression-type.ts';
import { isIntegral } from './cast-sql.ts';
import { sqlText, typeSql } from './engine-text.ts';

/** SQL with what is known of its value. */
export interface TypedSql {
  readonly sql: string;
  readonly type: DataType | undefined;
  readonly literal?: Literal | undefined;
}

const absent: TypedSql = { sql: 'NULL', type: undefined };

/** A comparison of values of comparable types; NaN equals NaN and is the greatest, in both dialects. */
export function comparisonSql(operator: BinaryOperator | 'is distinct', ...[left = absent, right = absent]: readonly TypedSql[]): string {
  const spelled = operator === '<=>' ? 'IS NOT DISTINCT FROM' : operator === 'is distinct' ? 'IS DISTINCT FROM' : operator;
  return `(${left.sql} ${spelled} ${right.sql})`;
}

/** Everything but comparisons, AND and OR. */
export function arithmeticSql(operator: BinaryOperator, left: TypedSql, right: TypedSql): string {
  switch (operator) {
    case '/':
      return quotientSql(left, right);
    case 'div':
      return `CAST(${left.sql} // ${divisor(right, 'DIVIDE_BY_ZERO', 'Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead.')} AS BIGINT)`;
    case '%':
      return `(${left.sql} % ${divisor(right, 'REMAINDER_BY_ZERO', 'Remainder by zero. Use `try_mod` to tolerate divisor being 0 and return NULL instead.')})`;
    case '^':
      return `xor(${left.sql}, ${right.sql})`;
    case '+':
      return dateSum(operator, left, right) ?? dateSum(operator, right, left) ?? `(${left.sql} + ${right.sql})`;
    case '-':
      if (left.type?.kind === 'date' && right.type?.kind === 'date') return `to_days(CAST(${left.sql} - ${right.sql} AS INTEGER))`;
      return dateSum(operator, left, right) ?? `(${left.sql} - ${right.sql})`;
    default:
      return `(${left.sql} ${operator} ${right.sql})`;
  }
}

/** Spark's LIKE escapes with a backslash unless told otherwise. */
export function likeSql(like: Extract<Expression, { kind: 'like' }>, print: (part: Expression) => string): string {
  const operand = print(like.operand);
  const pattern = print(like.pattern);
  const test =
    like.form === 'rlike'
      ? `regexp_matches(${operand}, ${pattern})`
      : `(${operand} ${like.form.toUpperCase()} ${pattern}${escapeSql(like)})`;
  return like.negated ? `(NOT ${test})` : test;
}

/** The 0-based element of a list; an index outside of it is an error, as in Spark's ANSI mode. */
export function listElementSql(list: string, index: string, literal: Literal | undefined): string {
  const known = literal?.type === 'integer' && literal.value >= 0n ? literal.value : undefined;
  const outside = known === undefined ? `${index} < 0 OR ${index} >= len(${list})` : `len(${list}) <= ${known}`;
  const message = `'[INVALID_ARRAY_INDEX] The index ' || ${index} || ' is out of bounds. The array has ' || len(${list}) || ' elements. Use the SQL function \`get()\` to tolerate accessing element at invalid index and return NULL instead.'`;
  const element = `list_extract(${list}, ${known === undefined ? `${index} + 1` : known + 1n})`;
  return `(CASE WHEN ${outside} THEN error(${message}) ELSE ${element} END)`;
}

// Without ESCAPE the engine turns a pattern into faster tests and prunes with its prefix.
function escapeSql({ escape = '\\', pattern }: Extract<Expression, { kind: 'like' }>): string {
  const plain = pattern.kind === 'literal' && pattern.literal.type === 'string' && !pattern.literal.value.includes(escape);
  return plain ? '' : ` ESCAPE ${sqlText(escape)}`;
}

function quotientSql(left: TypedSql, right: TypedSql): string {
  const by = divisor(right, 'DIVIDE_BY_ZERO', 'Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead.');
  const type = quotientType(left.type, right.type);
  // The engine divides decimals as doubles: exact to about fifteen digits.
  return type.kind === 'decimal' ? `CAST(${left.sql} / ${by} AS ${typeSql(type)})` : `(${left.sql} / ${by})`;
}

function divisor({ sql, literal }: TypedSql, errorClass: string, message: string): string {
  if (literal !== undefined && isNonZero(literal)) return sql;
  return `(CASE WHEN ${sql} = 0 THEN error(${sqlText(`[${errorClass}] ${message}`)}) ELSE ${sql} END)`;
}

function isNonZero(literal: NonNullable<TypedSql['literal']>): boolean {
  switch (literal.type) {
    case 'integer':
    case 'double':
    case 'float':
      return Number(literal.value) !== 0;
    case 'decimal':
      return literal.unscaled !== 0n;
    default:
      return false;
  }
}

/** A date moved by whole days or months stays a date; moved by less it becomes an instant. */
function dateSum(operator: '+' | '-', date: TypedSql, moved: TypedSql): string | undefined {
  if (date.type?.kind !== 'date') return undefined;
  if (isIntegral(moved.type)) return `(${date.sql} ${operator} CAST(${moved.sql} AS INTEGER))`;
  if (moved.literal?.type !== 'interval') return undefined;
  if (moved.literal.micros === 0n) return `CAST(${date.sql} ${operator} ${moved.sql} AS DATE)`;
  return `(CAST(${date.sql} AS TIMESTAMP WITH TIME ZONE) ${operator} ${moved.sql})`;
}
