import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { Literal } from '../expression.ts';
import { parseDateText, parseTimestampText } from '../temporal-text.ts';

/** A bound or a literal of one type: exact numbers with a scale, doubles, text by its bytes. */
export type Comparable =
  | { readonly kind: 'exact'; readonly unscaled: bigint; readonly scale: number }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean };

const microsPerDay = 86_400_000_000n;
const exactKinds: ReadonlySet<string> = new Set(['byte', 'short', 'integer', 'long']);

/** A bound of a column as something comparable; `undefined` where its kind does not fit the type. */
export function boundOf(value: BoundValue | boolean | undefined, type: DataType): Comparable | undefined {
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (typeof value === 'bigint') return { kind: 'exact', unscaled: value, scale: type.kind === 'decimal' ? type.scale : 0 };
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : { kind: 'double', value };
  return value === undefined ? undefined : { kind: 'text', value };
}

/**
 * A literal as the engine compares it with a column of the type; `undefined` where that depends on more than the two (time zones,
 * rounding, text that must be read as a number).
 */
export function literalFor(literal: Literal, type: DataType): Comparable | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'decimal':
      return exactLiteral(literal) ?? (exactKinds.has(type.kind) ? doubleLiteral(literal) : undefined);
    case 'float':
    case 'double':
      return numberLiteral(literal);
    case 'string':
      return literal.type === 'string' ? { kind: 'text', value: literal.value } : undefined;
    case 'boolean':
      return literal.type === 'boolean' ? { kind: 'boolean', value: literal.value } : undefined;
    case 'date':
      return dateLiteral(literal);
    case 'timestamp':
    case 'timestamp_ntz':
      return timestampLiteral(literal, type.kind);
    default:
      return undefined;
  }
}

/** Negative: `left` first. `undefined` for two that do not compare. */
export function compare(left: Comparable, right: Comparable): number | undefined {
  if (left.kind === 'exact' && right.kind === 'exact') return compareExact(left, right);
  if (left.kind === 'text' && right.kind === 'text') return Buffer.compare(Buffer.from(left.value), Buffer.from(right.value));
  if (left.kind === 'boolean' && right.kind === 'boolean') return Number(left.value) - Number(right.value);
  const [a, b] = [asDouble(left), asDouble(right)];
  return a === undefined || b === undefined ? undefined : a - b;
}

/** The instants of a date's first microsecond, for comparing a date column with a time. */
function dateLiteral(literal: Literal): Comparable | undefined {
  if (literal.type === 'date') return exact(BigInt(literal.days));
  if (literal.type !== 'string') return undefined;
  const days = /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(literal.value) ? parseDateText(literal.value) : undefined;
  return days === undefined ? undefined : exact(BigInt(days));
}

function timestampLiteral(literal: Literal, kind: 'timestamp' | 'timestamp_ntz'): Comparable | undefined {
  if (literal.type === 'timestamp' || literal.type === 'timestamp_ntz') return exact(literal.micros);
  if (literal.type === 'date') return exact(BigInt(literal.days) * microsPerDay);
  if (literal.type !== 'string') return undefined;
  const parsed = parseTimestampText(literal.value);
  // What a zone means for a time without zone is left to the engine.
  return parsed === undefined || (parsed.zoned && kind === 'timestamp_ntz') ? undefined : exact(parsed.micros);
}

function exactLiteral(literal: Literal): Comparable | undefined {
  if (literal.type === 'integer') return exact(literal.value);
  if (literal.type === 'decimal') return { kind: 'exact', unscaled: literal.unscaled, scale: literal.scale };
  return undefined;
}

function doubleLiteral(literal: Literal): Comparable | undefined {
  if (literal.type !== 'double' && literal.type !== 'float') return undefined;
  return Number.isNaN(literal.value) ? undefined : { kind: 'double', value: literal.value };
}

function numberLiteral(literal: Literal): Comparable | undefined {
  const whole = exactLiteral(literal);
  if (whole?.kind === 'exact') return { kind: 'double', value: Number(whole.unscaled) / 10 ** whole.scale };
  return doubleLiteral(literal);
}

function exact(unscaled: bigint): Comparable {
  return { kind: 'exact', unscaled, scale: 0 };
}

function compareExact(
  left: { readonly unscaled: bigint; readonly scale: number },
  right: { readonly unscaled: bigint; readonly scale: number },
): number {
  const scale = Math.max(left.scale, right.scale);
  const difference = left.unscaled * 10n ** BigInt(scale - left.scale) - right.unscaled * 10n ** BigInt(scale - right.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function asDouble(value: Comparable): number | undefined {
  if (value.kind === 'double') return value.value;
  return value.kind === 'exact' && value.scale === 0 ? Number(value.unscaled) : undefined;
}
