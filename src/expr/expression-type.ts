import type { DataType } from '../schema/types.ts';
import type { BinaryOperator, Expression, Literal } from './expression.ts';
import { findFunction } from './functions.ts';
import { isFloating, isIntegral, isNumeric } from './sql/cast-sql.ts';

const boolean: DataType = { kind: 'boolean' };
const comparisons: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['and', 'or', '=', '<>', '<', '<=', '>', '>=', '<=>']);
const integralOrder = ['byte', 'short', 'integer', 'long'] as const;
const maxPrecision = 38;

/** The type of a bound expression's values by Spark's rules; `undefined` where it depends on what is not known here. */
export function expressionType(expression: Expression): DataType | undefined {
  switch (expression.kind) {
    case 'column':
      // Like NULL, of any type.
      return expression.type?.kind === 'void' ? undefined : expression.type;
    case 'literal':
      return literalType(expression.literal);
    case 'unary':
      return expression.operator === 'not' ? boolean : expressionType(expression.operand);
    case 'binary':
      return comparisons.has(expression.operator)
        ? boolean
        : arithmeticType(expression.operator, expressionType(expression.left), expressionType(expression.right));
    case 'is':
    case 'is-distinct':
    case 'in':
    case 'between':
    case 'like':
      return boolean;
    case 'case':
      return commonType([
        ...expression.branches.map(({ then }) => then),
        ...(expression.otherwise === undefined ? [] : [expression.otherwise]),
      ]);
    case 'cast':
      return expression.type;
    case 'call':
      return findFunction(expression.name)?.type?.(expression.arguments.map(expressionType), expression);
    case 'member': {
      const operand = expressionType(expression.operand);
      const wanted = expression.name.toLowerCase();
      return operand?.kind === 'struct' ? operand.fields.find(({ name }) => name.toLowerCase() === wanted)?.type : undefined;
    }
    case 'element': {
      const operand = expressionType(expression.operand);
      return operand?.kind === 'list' ? operand.element : operand?.kind === 'map' ? operand.value : undefined;
    }
    case 'alias':
      return expressionType(expression.operand);
    case 'lambda':
    case 'parameter':
    case 'star':
      return undefined;
  }
}

/** The column type of a literal; `undefined` for NULL and intervals. */
export function literalType(literal: Literal): DataType | undefined {
  switch (literal.type) {
    case 'null':
    case 'interval':
      return undefined;
    case 'integer':
      return { kind: literal.width };
    case 'decimal':
      return { kind: 'decimal', precision: literal.precision, scale: literal.scale };
    default:
      return { kind: literal.type };
  }
}

/** The decimal of a quotient, as Spark computes its precision. */
export function quotientType(left: DataType | undefined, right: DataType | undefined): DataType {
  const dividend = decimalOf(left);
  const divisor = decimalOf(right);
  if (dividend === undefined || divisor === undefined || (left?.kind !== 'decimal' && right?.kind !== 'decimal')) return { kind: 'double' };
  const scale = Math.max(6, dividend.scale + divisor.precision + 1);
  const precision = dividend.precision - dividend.scale + divisor.scale + scale;
  if (precision <= maxPrecision) return { kind: 'decimal', precision, scale };
  const whole = precision - scale;
  return { kind: 'decimal', precision: maxPrecision, scale: Math.max(maxPrecision - whole, Math.min(scale, 6)) };
}

function arithmeticType(operator: BinaryOperator, left: DataType | undefined, right: DataType | undefined): DataType | undefined {
  if (operator === 'div') return { kind: 'long' };
  if (operator === '/') return quotientType(left, right);
  if (operator === '||') return left?.kind === 'list' || left?.kind === 'binary' ? left : { kind: 'string' };
  if (left === undefined || right === undefined) return temporalType(left) ?? temporalType(right);
  if (!isNumeric(left) || !isNumeric(right)) return temporalType(left);
  return widerNumber(left, right, operator);
}

// An interval, whose type is not known here, moves a date or a time.
function temporalType(type: DataType | undefined): DataType | undefined {
  return type?.kind === 'timestamp' || type?.kind === 'timestamp_ntz' ? type : undefined;
}

function widerNumber(left: DataType, right: DataType, operator: BinaryOperator): DataType | undefined {
  if (isFloating(left) || isFloating(right)) return left.kind === 'float' && right.kind === 'float' ? left : { kind: 'double' };
  if (isIntegral(left) && isIntegral(right)) {
    return { kind: integralOrder.findLast((kind) => kind === left.kind || kind === right.kind) ?? 'long' };
  }
  const one = decimalOf(left);
  const other = decimalOf(right);
  if (one === undefined || other === undefined) return undefined;
  if (operator === '*') return capped(one.precision + other.precision + 1, one.scale + other.scale);
  const scale = Math.max(one.scale, other.scale);
  return capped(Math.max(one.precision - one.scale, other.precision - other.scale) + scale + 1, scale);
}

function capped(precision: number, scale: number): DataType {
  return { kind: 'decimal', precision: Math.min(precision, maxPrecision), scale: Math.min(scale, maxPrecision) };
}

function decimalOf(type: DataType | undefined): { readonly precision: number; readonly scale: number } | undefined {
  switch (type?.kind) {
    case 'decimal':
      return type;
    case 'byte':
      return { precision: 3, scale: 0 };
    case 'short':
      return { precision: 5, scale: 0 };
    case 'integer':
      return { precision: 10, scale: 0 };
    case 'long':
      return { precision: 20, scale: 0 };
    default:
      return undefined;
  }
}

function commonType(expressions: readonly Expression[]): DataType | undefined {
  const known = expressions
    .filter((expression) => !(expression.kind === 'literal' && expression.literal.type === 'null'))
    .map(expressionType);
  const [first] = known;
  return first !== undefined && known.every((type) => type?.kind === first.kind) ? first : undefined;
}
