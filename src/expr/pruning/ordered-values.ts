import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { Literal } from '../expression.ts';
import { castLiteral } from './fold-literal.ts';

/** A value in the form bounds have. */
export type Ordered = BoundValue | boolean;

/** How a column is compared with literals: a literal's value, and bounds, in one common form. */
export interface Comparison {
  readonly value: Ordered;
  /** A bound of the column in the form of `value`. Keeps the order. `undefined` when the bound is not of the column's type. */
  readonly form: (bound: Ordered) => Ordered | undefined;
}

const maxPrecision = 38;

/** How values of a column's type and a literal are compared by Spark's rules; `undefined` where pruning does not know. */
export function comparisonWith(type: DataType, literal: Literal): Comparison | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return integerComparison(literal);
    case 'decimal':
      return decimalComparison(type.scale, literal);
    case 'float':
    case 'double':
      return floatingComparison(type.kind, literal);
    case 'string':
      return literal.type === 'string' ? { value: literal.value, form: onlyOf('string') } : undefined;
    case 'boolean':
      return literal.type === 'boolean' ? { value: literal.value, form: onlyOf('boolean') } : undefined;
    case 'date':
      return dateComparison(literal);
    case 'timestamp':
    case 'timestamp_ntz': {
      const cast = castLiteral(literal, type);
      return cast?.type === 'timestamp' || cast?.type === 'timestamp_ntz' ? { value: cast.micros, form: onlyOf('bigint') } : undefined;
    }
    default:
      return undefined;
  }
}

/** Negative, zero or positive. Texts by their UTF-8 bytes, NaN after all numbers and equal to itself, -0 equal to 0. Both of one form. */
export function compareOrdered(left: Ordered, right: Ordered): number {
  if (typeof left === 'string' && typeof right === 'string') return compareUtf8(left, right);
  if (typeof left === 'number' && typeof right === 'number' && (Number.isNaN(left) || Number.isNaN(right))) {
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Order of the texts' UTF-8 bytes, which is that of their code points. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const one = left.charCodeAt(at);
    const other = right.charCodeAt(at);
    // Surrogates stand for code points beyond all other units.
    if (one !== other) return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function onlyOf(type: 'string' | 'boolean' | 'bigint' | 'number'): (bound: Ordered) => Ordered | undefined {
  return (bound) => (typeof bound === type ? bound : undefined);
}

function integerComparison(literal: Literal): Comparison | undefined {
  switch (literal.type) {
    case 'integer':
      return { value: literal.value, form: onlyOf('bigint') };
    case 'decimal': {
      const factor = 10n ** BigInt(literal.scale);
      return { value: literal.unscaled, form: (bound) => (typeof bound === 'bigint' ? bound * factor : undefined) };
    }
    case 'double':
      // The engine compares as doubles, too: rounding keeps the order.
      return { value: literal.value, form: (bound) => (typeof bound === 'bigint' ? Number(bound) : undefined) };
    case 'string': {
      const cast = castLiteral(literal, { kind: 'long' });
      return cast?.type === 'integer' ? { value: cast.value, form: onlyOf('bigint') } : undefined;
    }
    default:
      return undefined;
  }
}

function decimalComparison(scale: number, literal: Literal): Comparison | undefined {
  const given = literal.type === 'integer' ? { unscaled: literal.value, scale: 0 } : literal.type === 'decimal' ? literal : undefined;
  if (given === undefined) return undefined;
  const common = Math.max(scale, given.scale);
  if (common > maxPrecision) return undefined;
  const factor = 10n ** BigInt(common - scale);
  return {
    value: given.unscaled * 10n ** BigInt(common - given.scale),
    form: (bound) => (typeof bound === 'bigint' ? bound * factor : undefined),
  };
}

function floatingComparison(kind: 'float' | 'double', literal: Literal): Comparison | undefined {
  const value = numberOf(literal);
  // Engines differ in which of the two they compare as: certain only where it makes no difference.
  if (value === undefined || (kind === 'float' && !Number.isNaN(value) && Math.fround(value) !== value)) return undefined;
  // A float's bound may be spelled with no more digits than tell it apart.
  return { value, form: (bound) => (typeof bound !== 'number' ? undefined : kind === 'float' ? Math.fround(bound) : bound) };
}

function numberOf(literal: Literal): number | undefined {
  switch (literal.type) {
    case 'double':
    case 'float':
      return literal.value;
    case 'integer':
      return Number.isSafeInteger(Number(literal.value)) ? Number(literal.value) : undefined;
    case 'decimal':
      // Exact digits over an exact power of ten: rounded once, as everybody does.
      return Number.isSafeInteger(Number(literal.unscaled)) && literal.scale <= 22
        ? Number(literal.unscaled) / 10 ** literal.scale
        : undefined;
    default:
      return undefined;
  }
}

function dateComparison(literal: Literal): Comparison | undefined {
  if (literal.type === 'timestamp' || literal.type === 'timestamp_ntz') {
    return { value: literal.micros, form: (bound) => (typeof bound === 'bigint' ? bound * 86_400_000_000n : undefined) };
  }
  const cast = castLiteral(literal, { kind: 'date' });
  return cast?.type === 'date' ? { value: BigInt(cast.days), form: onlyOf('bigint') } : undefined;
}
