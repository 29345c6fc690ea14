import type { DataType } from '../schema/types.ts';
import { isFloating, isIntegral, isNumeric } from './sql/cast-sql.ts';

export interface Digits {
  readonly precision: number;
  readonly scale: number;
}

export const integralOrder = ['byte', 'short', 'integer', 'long'] as const;
export const maxPrecision = 38;

/** The decimal that holds all values of a type; `undefined` for a type that has none. */
export function digitsOf(type: DataType | undefined): Digits | undefined {
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

/** The type that holds both numbers, for choices between them; `undefined` where either is no number. */
export function widerNumber(left: DataType, right: DataType): DataType | undefined {
  if (!isNumeric(left) || !isNumeric(right)) return undefined;
  if (isFloating(left) || isFloating(right)) return left.kind === 'float' && right.kind === 'float' ? left : { kind: 'double' };
  if (isIntegral(left) && isIntegral(right)) {
    return { kind: integralOrder.findLast((kind) => kind === left.kind || kind === right.kind) ?? 'long' };
  }
  const [one, other] = [digitsOf(left), digitsOf(right)];
  if (one === undefined || other === undefined) return undefined;
  // Beyond 38 digits those before the point stay.
  const whole = Math.max(one.precision - one.scale, other.precision - other.scale);
  const scale = Math.min(Math.max(one.scale, other.scale), maxPrecision - Math.min(whole, maxPrecision));
  return { kind: 'decimal', precision: whole + scale, scale };
}
