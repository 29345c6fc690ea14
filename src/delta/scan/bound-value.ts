import type { JsonValue } from '../../base/bigint-json.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import { partitionValue } from '../../table/partitioning/partition-text.ts';

export type BoundSide = 'min' | 'max';

/** Bounds of text may have been cut at this many UTF-16 units by whoever wrote them. */
const cutTextUnits = 32;
/** Timestamps in statistics are cut to milliseconds. */
const microsLost = 1000n;
/** Digits that a number of JSON holds exactly once it was read as a double. */
const exactDigits = 15;
const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * A bound of the log's statistics as a value that is certainly not inside the real values' range. `undefined`: there is no usable bound.
 *
 * Wider than written: the latest millisecond of timestamps; decimals of many digits, which some engines write through doubles. NaN, which
 * some engines leave out of the bounds, is greater than all numbers: the reader of the bounds has to mind it.
 */
export function boundOf(value: JsonValue | undefined, type: DataType, side: BoundSide): BoundValue | undefined {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return integerOf(value);
    case 'float': {
      const number = numberOf(value);
      return number === undefined ? undefined : Math.fround(number);
    }
    case 'double':
      return numberOf(value);
    case 'decimal':
      return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
        ? decimalBound(String(value), type.scale, side)
        : undefined;
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'date': {
      const days = typeof value === 'string' ? parseDateText(value) : undefined;
      return days === undefined ? undefined : BigInt(days);
    }
    case 'timestamp':
    case 'timestamp_ntz': {
      const parsed = typeof value === 'string' ? parseTimestampText(value) : undefined;
      if (parsed === undefined) return undefined;
      return side === 'max' ? parsed.micros + microsLost : parsed.micros;
    }
    case 'boolean':
    case 'binary':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
  }
}

/** Whether the bound may be the beginning of a longer value. */
export function mayBeCut(bound: BoundValue | undefined): boolean {
  return typeof bound === 'string' && bound.length >= cutTextUnits;
}

/** A partition value in plain text as a value to compare with; `undefined` for types without order here. */
export function partitionBound(text: string, type: DataType): BoundValue | boolean | undefined {
  const value = partitionValue(text, type);
  if (value instanceof Uint8Array) return undefined;
  if (typeof value !== 'number' || type.kind === 'double') return value;
  return type.kind === 'float' ? Math.fround(value) : BigInt(value);
}

function integerOf(value: JsonValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

/** Long numbers may come as text; NaN and infinities, which others write as text, are no bounds. */
function numberOf(value: JsonValue): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && numberPattern.test(value) ? Number(value) : undefined;
}

function decimalBound(text: string, scale: number, side: BoundSide): bigint | undefined {
  const number = numberPattern.exec(text);
  if (number === null) return undefined;
  const digits = `${number[2] ?? ''}${number[3] ?? ''}`;
  // The value is `digits` with the point so many places from their end; as many as `scale` are wanted.
  const shift = scale - (number[3] ?? '').length + Number(number[4] ?? 0);
  if (Math.abs(shift) > 400) return undefined;
  const magnitude = BigInt(digits);
  const signed = number[1] === '-' ? -magnitude : magnitude;
  const unscaled = shift >= 0 ? signed * 10n ** BigInt(shift) : dividedOutward(signed, 10n ** BigInt(-shift), side);
  if (digits.replace(/^0+/, '').length <= exactDigits) return unscaled;
  const slack = ((unscaled < 0n ? -unscaled : unscaled) >> 50n) + 1n;
  return side === 'min' ? unscaled - slack : unscaled + slack;
}

function dividedOutward(value: bigint, divisor: bigint, side: BoundSide): bigint {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  if (side === 'min') return value < 0n ? quotient - 1n : quotient;
  return value < 0n ? quotient : quotient + 1n;
}

/** Decimal text as an unscaled value; `undefined` when it is none or has more places than `scale`. */
export function exactUnscaled(text: string, scale: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (match === null) return undefined;
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  if (fraction.length > scale) return undefined;
  const unscaled = BigInt(`${match[2] ?? '0'}${fraction.padEnd(scale, '0')}`);
  return match[1] === '-' ? -unscaled : unscaled;
}
