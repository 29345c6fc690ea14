import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DataType } from '../../schema/types.ts';
import { differentTypes } from '../different-types.ts';
import type { BinaryOperator, Expression, Literal } from '../expression.ts';
import { isSame } from '../functions/common-argument.ts';
import { arithmeticType, leavesDigits, operandTypes, quotientType } from '../number-types.ts';
import type { ZoneRule } from '../time-zone.ts';
import { castSql, isIntegral, isNumeric } from './cast-sql.ts';
import { exactSql } from './decimal-sql.ts';
import { sqlText, typeSql } from './engine-text.ts';
import { timeInZoneSql } from './time-arithmetic.ts';

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

/** Everything but comparisons, AND and OR. Text among numbers is cast to one; a decimal has the type that Spark gives it. */
export function arithmeticSql(operator: BinaryOperator, one: TypedSql, other: TypedSql, zone?: ZoneRule): string {
  return typedOperation(operator, { left: one, right: other, safe: false, zone });
}

/** As `arithmeticSql`, but what has no result is NULL: a division by zero, an overflow, text that is no number. */
export function tryArithmeticSql(operator: BinaryOperator, left: TypedSql, right: TypedSql, zone?: ZoneRule): string {
  return `TRY(${typedOperation(operator, { left, right, safe: true, zone })})`;
}

interface Operation {
  readonly left: TypedSql;
  readonly right: TypedSql;
  readonly safe: boolean;
  /** Of local times; default: UTC. */
  readonly zone: ZoneRule;
}

function typedOperation(operator: BinaryOperator, { left: one, right: other, safe, zone }: Operation): string {
  if (operator !== '||') refuseTexts(operator, one, other);
  if (operator === 'div') refuseFractions(one, other);
  if (operator === '||') return joinedSql(one, other, zone);
  requireOperands(one, other);
  const [left, right] = asOperands(one, other, safe);
  const exact = exactOperation(operator, { left, right, safe, zone });
  if (exact !== undefined) return exact;
  const sql =
    (zone === undefined ? undefined : timeInZoneSql(operator, [left, right], zone)) ?? operationSql(operator, { left, right, safe, zone });
  const type = operator === '/' ? undefined : arithmeticType(operator, one, other);
  return type?.kind === 'decimal' ? `CAST(${sql} AS ${typeSql(type)})` : sql;
}

/** Where the engine itself would round, or run out of digits. */
function exactOperation(operator: BinaryOperator, { left, right, safe }: Operation): string | undefined {
  if (!['+', '-', '*', '/', '%'].includes(operator)) return undefined;
  const type = operator === '/' ? quotientType(left, right) : arithmeticType(operator, left, right);
  if (type?.kind !== 'decimal' || left.type === undefined || right.type === undefined) return undefined;
  if (operator !== '/' && !leavesDigits(operator, left, right)) return undefined;
  const by = operator === '/' || operator === '%' ? divisor(right, safe, divisionErrors[operator]) : right.sql;
  return exactSql(
    operator,
    [
      { sql: left.sql, type: left.type },
      { sql: by, type: right.type },
    ],
    type,
  );
}

/** Whole numbers and decimals have a whole quotient; a floating point number, and text beside a decimal, has none. */
function refuseFractions(left: TypedSql, right: TypedSql): void {
  const isFloating = ({ type }: TypedSql): boolean => type?.kind === 'double' || type?.kind === 'float';
  const isPlain = ({ type, literal }: TypedSql): boolean => literal?.type === 'null' || (type !== undefined && isIntegral(type));
  const [floating, other] = isFloating(left) ? [left, right] : [right, left];
  const mixed =
    left.type?.kind === 'string' ? right.type?.kind === 'decimal' : right.type?.kind === 'string' && left.type?.kind === 'decimal';
  if (!isFloating(floating) && !mixed) return;
  if (isFloating(floating) && floating.type !== undefined && isPlain(other))
    throw differentTypes(left.type ?? { kind: 'void' }, right.type ?? { kind: 'void' });
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE',
    message: 'the binary operator requires the input type ("BIGINT" or "DECIMAL"), not "DOUBLE": div',
    hint: 'cast both sides to BIGINT or DECIMAL',
    parameters: { inputType: '("BIGINT" or "DECIMAL")', actualDataType: '"DOUBLE"' },
  });
}

const noOperands: ReadonlySet<string> = new Set(['boolean', 'binary', 'list', 'map', 'struct']);

/** @throws AnalysisException `DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES` 42K09 for what nothing is computed of, beside something else. */
function requireOperands({ type: left }: TypedSql, { type: right }: TypedSql): void {
  if (left === undefined || right === undefined || left.kind === right.kind) return;
  if (noOperands.has(left.kind) || noOperands.has(right.kind)) throw differentTypes(left, right);
}

/** Text is a number beside one only. */
function refuseTexts(operator: BinaryOperator, left: TypedSql, right: TypedSql): void {
  const isText = ({ type, literal }: TypedSql): boolean => type?.kind === 'string' || literal?.type === 'null';
  if (!isText(left) || !isText(right) || (left.type?.kind !== 'string' && right.type?.kind !== 'string')) return;
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE',
    message: `the binary operator requires the input type "NUMERIC", not "STRING": ${operator}`,
    hint: 'cast one side to a number',
    parameters: { inputType: '"NUMERIC"', actualDataType: '"STRING"' },
  });
}

/** Lists and bytes end to end; of all else the texts that casts give. */
function joinedSql(one: TypedSql, other: TypedSql, zone: ZoneRule): string {
  const sides = [one, other];
  const isText = sides.every(({ type }) => type?.kind !== 'list') && !sides.every(({ type }) => type?.kind === 'binary');
  const parts = sides.map(({ sql, type }) =>
    isText && type !== undefined && type.kind !== 'string' ? castSql(sql, { from: type, to: { kind: 'string' }, safe: false, zone }) : sql,
  );
  const list = arithmeticType('||', one, other);
  if (list?.kind !== 'list') return `(${parts.join(' || ')})`;
  return `(${sides.map(({ sql, type }) => (type === undefined || isSame(type, list) ? sql : castSql(sql, { from: type, to: list, safe: false }))).join(' || ')})`;
}

function asOperands(one: TypedSql, other: TypedSql, safe: boolean): readonly [TypedSql, TypedSql] {
  const [left, right] = operandTypes(one, other);
  const double: DataType = { kind: 'double' };
  // A FLOAT beside any other number is a DOUBLE.
  if (left?.kind === 'float' && right !== undefined && isNumeric(right) && right.kind !== 'float')
    return [asOperand(one, double, safe), asOperand(other, right, safe)];
  if (right?.kind === 'float' && left !== undefined && isNumeric(left) && left.kind !== 'float')
    return [asOperand(one, left, safe), asOperand(other, double, safe)];
  return [asOperand(one, left, safe), asOperand(other, right, safe)];
}

function asOperand(given: TypedSql, type: DataType | undefined, safe: boolean): TypedSql {
  if (type === undefined || type.kind === given.type?.kind || !isNumeric(type)) return given;
  return { sql: castSql(given.sql, { from: given.type ?? { kind: 'void' }, to: type, safe }), type };
}

function operationSql(operator: BinaryOperator, { left, right, safe }: Operation): string {
  switch (operator) {
    case '/':
      return quotientSql({ left, right, safe });
    case 'div': {
      const by = divisor(right, safe, divisionErrors['/']);
      // Of decimals the engine rounds.
      const isWhole = isIntegral(left.type) && isIntegral(right.type);
      return isWhole || left.type === undefined || right.type === undefined
        ? `CAST(${left.sql} // ${by} AS BIGINT)`
        : `CAST(trunc(${left.sql} / ${by}) AS BIGINT)`;
    }
    case '%':
      return `(${left.sql} % ${divisor(right, safe, divisionErrors['%'])})`;
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

function quotientSql({ left, right, safe }: Omit<Operation, 'zone'>): string {
  const by = divisor(right, safe, divisionErrors['/']);
  const type = quotientType(left, right);
  return type.kind === 'decimal' ? `CAST(${left.sql} / ${by} AS ${typeSql(type)})` : `(${left.sql} / ${by})`;
}

const divisionErrors = {
  '/': {
    errorClass: 'DIVIDE_BY_ZERO',
    message: 'Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead.',
  },
  '%': {
    errorClass: 'REMAINDER_BY_ZERO',
    message: 'Remainder by zero. Use `try_mod` to tolerate divisor being 0 and return NULL instead.',
  },
} as const;

function divisor({ sql, literal }: TypedSql, safe: boolean, error: { readonly errorClass: string; readonly message: string }): string {
  if (literal !== undefined && isNonZero(literal)) return sql;
  if (safe) return `nullif(${sql}, 0)`;
  return `(CASE WHEN ${sql} = 0 THEN error(${sqlText(`[${error.errorClass}] ${error.message}`)}) ELSE ${sql} END)`;
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
