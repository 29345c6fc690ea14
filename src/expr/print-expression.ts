import { assertNever } from '../base/assert.ts';
import { sqlTypeName } from '../schema/sql-type.ts';
import type { DataType } from '../schema/types.ts';
import type { Expression, FrameBound, Literal, SortKey, Window } from './expression.ts';
import { printDateText, printTimestampText } from './parse/temporal-text.ts';

/**
 * The expression as Spark spells it, in one line: `((a > 1) AND (b IS NULL))`, literals as SQL. Parses back to an expression of the same meaning.
 * For histories and messages; engines get `expressionSql`.
 */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'column':
      return [...(expression.qualifier === undefined ? [] : [expression.qualifier]), ...expression.path].map(printName).join('.');
    case 'literal':
      return printLiteral(expression.literal);
    case 'unary':
      return expression.operator === 'not'
        ? `(NOT ${printExpression(expression.operand)})`
        : `(${expression.operator} ${printExpression(expression.operand)})`;
    case 'binary':
      return `(${printExpression(expression.left)} ${expression.operator === 'div' ? 'div' : expression.operator.toUpperCase()} ${printExpression(expression.right)})`;
    case 'is':
      return `(${printExpression(expression.operand)} IS ${expression.negated ? 'NOT ' : ''}${expression.test.toUpperCase()})`;
    case 'is-distinct': {
      const equal = `(${printExpression(expression.left)} <=> ${printExpression(expression.right)})`;
      return expression.negated ? equal : `(NOT ${equal})`;
    }
    case 'in':
      return negate(`(${printExpression(expression.operand)} IN (${printList(expression.options)}))`, expression.negated);
    case 'between': {
      const operand = printExpression(expression.operand);
      const range = `((${operand} >= ${printExpression(expression.low)}) AND (${operand} <= ${printExpression(expression.high)}))`;
      return negate(range, expression.negated);
    }
    case 'like':
      return negate(printLike(expression), expression.negated);
    case 'case':
      return printCase(expression);
    case 'cast':
      return `${expression.safe ? 'TRY_CAST' : 'CAST'}(${printExpression(expression.operand)} AS ${printType(expression.type)})`;
    case 'call':
      return printCall(expression);
    case 'member':
      return `${printExpression(expression.operand)}.${printName(expression.name)}`;
    case 'element':
      return `${printExpression(expression.operand)}[${printExpression(expression.index)}]`;
    case 'lambda':
      return `(${expression.parameters.map(printName).join(', ')}) -> ${printExpression(expression.body)}`;
    case 'parameter':
      return typeof expression.name === 'number' ? '?' : `:${expression.name}`;
    case 'alias':
      return `${printExpression(expression.operand)} AS ${printName(expression.name)}`;
    case 'star':
      return expression.qualifier === undefined ? '*' : `${expression.qualifier.split('.').map(printName).join('.')}.*`;
    default:
      return assertNever(expression);
  }
}

/** A literal as SQL text of Spark. */
export function printLiteral(literal: Literal): string {
  switch (literal.type) {
    case 'null':
      return 'NULL';
    case 'boolean':
      return literal.value ? 'true' : 'false';
    case 'integer':
      return `${literal.value}${{ byte: 'Y', short: 'S', integer: '', long: 'L' }[literal.width]}`;
    case 'decimal':
      return literal.scale === 0 ? `${literal.unscaled}BD` : printDecimal(literal.unscaled, literal.scale);
    case 'double':
      return Number.isFinite(literal.value) ? printFloating(literal.value, 'D') : `CAST('${printSpecial(literal.value)}' AS DOUBLE)`;
    case 'float':
      return Number.isFinite(literal.value) ? printFloating(literal.value, 'F') : `CAST('${printSpecial(literal.value)}' AS FLOAT)`;
    case 'string':
      return printString(literal.value);
    case 'binary':
      return `X'${Array.from(literal.value, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('')}'`;
    case 'date':
      return `DATE '${printDateText(literal.days)}'`;
    case 'timestamp':
      return `TIMESTAMP '${printTimestampText(literal.micros)}${literal.local === true ? '' : 'Z'}'`;
    case 'timestamp_ntz':
      return `TIMESTAMP_NTZ '${printTimestampText(literal.micros)}'`;
    case 'interval':
      return `INTERVAL '${literal.months} months ${literal.days} days ${printDecimal(literal.micros, 6)} seconds'`;
    default:
      return assertNever(literal);
  }
}

/** A type as SQL text of Spark: `STRUCT<a: INT NOT NULL, b: ARRAY<STRING>>`. */
export function printType(type: DataType): string {
  return sqlTypeName(type, printName);
}

/** A name, in backticks where it is not a plain word. */
export function printName(name: string): string {
  return keywords.has(name.toUpperCase()) ? `\`${name}\`` : printPlainName(name);
}

function printPlainName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

/** Words that begin something else when a parenthesis follows. */
const reservedCalls: ReadonlySet<string> = new Set(
  'AND OR NOT IN IS LIKE ILIKE BETWEEN THEN WHEN ELSE WHERE SELECT AS DIV HAVING CASE CAST EXISTS'.split(' '),
);

const keywords: ReadonlySet<string> = new Set(
  'AND OR NOT IN IS LIKE ILIKE RLIKE REGEXP BETWEEN THEN WHEN ELSE WHERE SELECT AS DIV HAVING TRUE FALSE NULL CASE CAST FROM EXISTS INTERVAL CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP CURRENT_USER CURRENT_TIME'.split(
    ' ',
  ),
);

function negate(text: string, negated: boolean): string {
  return negated ? `(NOT ${text})` : text;
}

function printList(expressions: readonly Expression[]): string {
  return expressions.map(printExpression).join(', ');
}

function printLike(like: Extract<Expression, { kind: 'like' }>): string {
  const escape = like.escape === undefined ? '' : ` ESCAPE ${printString(like.escape)}`;
  return `(${printExpression(like.operand)} ${like.form.toUpperCase()} ${printExpression(like.pattern)}${escape})`;
}

function printCase(expression: Extract<Expression, { kind: 'case' }>): string {
  const operand = expression.operand === undefined ? '' : ` ${printExpression(expression.operand)}`;
  const branches = expression.branches.map(({ when, then }) => ` WHEN ${printExpression(when)} THEN ${printExpression(then)}`).join('');
  const otherwise = expression.otherwise === undefined ? '' : ` ELSE ${printExpression(expression.otherwise)}`;
  return `CASE${operand}${branches}${otherwise} END`;
}

const shifts: ReadonlySet<string> = new Set(['<<', '>>', '>>>']);

function printCall(call: Extract<Expression, { kind: 'call' }>): string {
  const [part, source] = call.arguments;
  if (call.name === 'extract' && part?.kind === 'literal' && part.literal.type === 'string' && source !== undefined)
    return `extract(${part.literal.value} FROM ${printExpression(source)})`;
  if (shifts.has(call.name) && part !== undefined && source !== undefined)
    return `(${printExpression(part)} ${call.name} ${printExpression(source)})`;
  const given = call.star === true ? '*' : printList(call.arguments);
  const filter = call.filter === undefined ? '' : ` FILTER (WHERE ${printExpression(call.filter)})`;
  const nulls = call.ignoreNulls === true ? ' IGNORE NULLS' : '';
  const over = call.over === undefined ? '' : ` OVER (${printWindow(call.over)})`;
  if (call.name.startsWith('system.')) return `${call.name}(${given})`;
  const name = reservedCalls.has(call.name.toUpperCase()) ? printName(call.name) : printPlainName(call.name);
  return `${name}(${call.distinct === true ? 'DISTINCT ' : ''}${given})${filter}${nulls}${over}`;
}

function printWindow({ partitionBy, orderBy, frame }: Window): string {
  return [
    ...(partitionBy.length === 0 ? [] : [`PARTITION BY ${printList(partitionBy)}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${orderBy.map(printSortKey).join(', ')}`]),
    ...(frame === undefined ? [] : [`${frame.unit.toUpperCase()} BETWEEN ${printBound(frame.from)} AND ${printBound(frame.until)}`]),
  ].join(' ');
}

function printSortKey({ expression, descending, nullsFirst }: SortKey): string {
  const nulls = nullsFirst === undefined ? '' : ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  return `${printExpression(expression)} ${descending ? 'DESC' : 'ASC'}${nulls}`;
}

/** A frame's bound as SQL, the same in all dialects. */
export function printBound(bound: FrameBound): string {
  return bound.kind === 'current-row' ? 'CURRENT ROW' : `${bound.rows ?? 'UNBOUNDED'} ${bound.kind.toUpperCase()}`;
}

/** Plain decimal text of an unscaled value. */
export function printDecimal(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function printFloating(value: number, suffix: 'D' | 'F'): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  const [mantissa = text, exponent] = text.split('e');
  const pointed = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return `${pointed}${exponent === undefined ? '' : `E${exponent}`}${suffix}`;
}

function printSpecial(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function printString(value: string): string {
  const escaped = value.replaceAll(/[\\'\n\r\t\0\x1a]/g, (character) => escapes[character] ?? `\\${character}`);
  return `'${escaped}'`;
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0', '\x1a': '\\Z' };
