import type { DataType } from '../schema/types.ts';
import { commonType } from './common-type.ts';
import type { BinaryOperator, Literal } from './expression.ts';
import { isFloating, isIntegral, isNumeric } from './sql/cast-sql.ts';
import { type Digits, digitsOf, integralOrder, maxPrecision } from './wider-number.ts';

/** What is known of a side of an operator. */
export interface Operand {
  readonly type: DataType | undefined;
  readonly literal?: Literal | undefined;
}

const minScale = 6;

/** The type of an operator's result, comparisons and AND and OR left out; `undefined` where it depends on what is not known. */
export function arithmeticType(operator: BinaryOperator, one: Operand, other: Operand): DataType | undefined {
  if (operator === 'div') return { kind: 'long' };
  const [left, right] = operandTypes(one, other);
  if (operator === '/') return quotientType(one, other);
  if (operator === '||') {
    if (left?.kind === 'list') return right?.kind === 'list' ? (commonType(left, right) ?? left) : left;
    return left?.kind === 'binary' && right?.kind === 'binary' ? left : { kind: 'string' };
  }
  if (left === undefined || right === undefined) return movedDateType(one, other) ?? temporalType(left) ?? temporalType(right);
  if (!isNumeric(left) || !isNumeric(right)) return temporalType(left);
  if (isFloating(left) || isFloating(right)) return left.kind === 'float' && right.kind === 'float' ? left : { kind: 'double' };
  if (isIntegral(left) && isIntegral(right)) {
    return { kind: integralOrder.findLast((kind) => kind === left.kind || kind === right.kind) ?? 'long' };
  }
  return decimalResult(operator, decimalOf({ ...one, type: left }), decimalOf({ ...other, type: right }));
}

/** The types that an operator takes its sides as: text as a number, NULL as the other's type. */
export function operandTypes(one: Operand, other: Operand): readonly [DataType | undefined, DataType | undefined] {
  return [operandType(one, other), operandType(other, one)];
}

function operandType({ type, literal }: Operand, other: Operand): DataType | undefined {
  if (literal?.type === 'null') return isNumeric(other.type) ? other.type : other.literal?.type === 'null' ? { kind: 'double' } : undefined;
  if (type?.kind !== 'string') return type;
  if (isIntegral(other.type)) return { kind: 'long' };
  return isNumeric(other.type) || other.type?.kind === 'string' || other.literal?.type === 'null' ? { kind: 'double' } : type;
}

/** Decimals divide as decimals, all other numbers as doubles. */
export function quotientType(one: Operand, other: Operand): DataType {
  const [left, right] = operandTypes(one, other);
  const dividend = decimalOf({ ...one, type: left });
  const divisor = decimalOf({ ...other, type: right });
  if (dividend === undefined || divisor === undefined || (left?.kind !== 'decimal' && right?.kind !== 'decimal')) return { kind: 'double' };
  return decimalResult('/', dividend, divisor) ?? { kind: 'double' };
}

function decimalResult(operator: BinaryOperator, one: Digits | undefined, other: Digits | undefined): DataType | undefined {
  if (one === undefined || other === undefined) return undefined;
  const scale = Math.max(one.scale, other.scale);
  const [whole, otherWhole] = [one.precision - one.scale, other.precision - other.scale];
  switch (operator) {
    case '*':
      return capped(one.precision + other.precision + 1, one.scale + other.scale);
    case '/': {
      const digits = Math.max(minScale, one.scale + other.precision + 1);
      return capped(whole + other.scale + digits, digits);
    }
    case '%':
      return capped(Math.min(whole, otherWhole) + scale, scale);
    default:
      return capped(Math.max(whole, otherWhole) + scale + 1, scale);
  }
}

/** Whether a sum, product or remainder of decimals has more than 38 digits before it is rounded. */
export function leavesDigits(operator: BinaryOperator, one: Operand, other: Operand): boolean {
  const [left, right] = operandTypes(one, other);
  const [first, second] = [decimalOf({ ...one, type: left }), decimalOf({ ...other, type: right })];
  if (first === undefined || second === undefined) return false;
  if (operator === '*') return first.precision + second.precision + 1 > maxPrecision;
  const whole = Math.max(first.precision - first.scale, second.precision - second.scale);
  return whole + Math.max(first.scale, second.scale) + 1 > maxPrecision;
}

/** Beyond 38 digits those after the point give way, down to six. */
function capped(precision: number, scale: number): DataType {
  if (precision <= maxPrecision) return { kind: 'decimal', precision, scale };
  return { kind: 'decimal', precision: maxPrecision, scale: Math.max(maxPrecision - (precision - scale), Math.min(scale, minScale)) };
}

/** A whole number that is written has as many digits as it is long. */
function decimalOf({ type, literal }: Operand): Digits | undefined {
  return literal?.type === 'integer' ? { precision: String(literal.value).replace('-', '').length, scale: 0 } : digitsOf(type);
}

/** A date moved by months and days stays one; moved by less it becomes an instant. */
function movedDateType(one: Operand, other: Operand): DataType | undefined {
  const [date, by] = one.type?.kind === 'date' ? [one.type, other.literal] : [other.type, one.literal];
  if (date?.kind !== 'date' || by?.type !== 'interval') return undefined;
  return by.micros === 0n ? date : { kind: 'timestamp' };
}

// An interval, whose type is not known here, moves a date or a time.
function temporalType(type: DataType | undefined): DataType | undefined {
  return type?.kind === 'timestamp' || type?.kind === 'timestamp_ntz' ? type : undefined;
}
