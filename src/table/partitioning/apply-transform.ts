import { assertNever } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType } from '../../schema/types.ts';
import { floorDivide, monthsOfDays, yearsOfDays } from './calendar.ts';
import { murmur3, murmur3OfLong } from './murmur3.ts';
import { printTransform, type Transform } from './transform.ts';
import { unscaledBytes } from './unscaled-bytes.ts';

/**
 * A value that a transform takes and gives: int, date, year … as number; long, time, timestamps and unscaled decimals as bigint; text and
 * UUIDs as text; binary as bytes; `undefined` for null.
 */
export type TransformValue = boolean | number | bigint | string | Uint8Array | undefined;

/** The type of a transform's values for a column's; `undefined` when the transform does not take the type, or is not known. */
export function resultType(transform: Transform, type: DataType): DataType | undefined {
  if (type.kind === 'struct' || type.kind === 'list' || type.kind === 'map' || type.kind === 'variant' || type.kind === 'void')
    return undefined;
  switch (transform.kind) {
    case 'identity':
    case 'void':
      return type;
    case 'bucket':
      return bucketed.has(type.kind) ? { kind: 'integer' } : undefined;
    case 'truncate':
      if (type.kind === 'byte' || type.kind === 'short') return { kind: 'integer' };
      return isTruncated(type) ? type : undefined;
    case 'year':
    case 'month':
      return type.kind === 'date' || unitsPerDay(type) !== undefined ? { kind: 'integer' } : undefined;
    case 'day':
      return type.kind === 'date' || unitsPerDay(type) !== undefined ? { kind: 'date' } : undefined;
    case 'hour':
      return unitsPerDay(type) === undefined ? undefined : { kind: 'integer' };
    case 'unknown':
      return undefined;
    default:
      return assertNever(transform);
  }
}

/**
 * The partition value of a column's value; `type` is the column's.
 *
 * @throws ServiceError `PARTITION_TRANSFORM_REFUSED` (kind unsupported) for a transform that is not known or does not take the type.
 */
export function applyTransform(transform: Transform, type: DataType, value: TransformValue): TransformValue {
  if (resultType(transform, type) === undefined) throw transformRefused(transform, type);
  if (value === undefined || transform.kind === 'void') return undefined;
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'bucket':
      return bucketOf(hashOf(type, value), transform.count);
    case 'truncate':
      return truncated(type, value, transform.width);
    case 'hour':
      return Number(floorDivide(BigInt(numeric(value)), (unitsPerDay(type) ?? 1n) / 24n));
    case 'year':
      return yearsOfDays(daysOf(type, value));
    case 'month':
      return monthsOfDays(daysOf(type, value));
    case 'day':
      return daysOf(type, value);
    case 'unknown':
      return undefined;
    default:
      return assertNever(transform);
  }
}

/** `PARTITION_TRANSFORM_REFUSED` (kind unsupported). */
export function transformRefused(transform: Transform, type: DataType): ServiceError {
  return serviceError.unsupported(
    'PARTITION_TRANSFORM_REFUSED',
    `the transform ${printTransform(transform)} cannot be applied to values of type ${describeType(type)}`,
  );
}

/** The bucket of a hash. */
export function bucketOf(hash: number, count: number): number {
  return (hash & 0x7fff_ffff) % count;
}

/** Units of a timestamp type in a day; `undefined` for other types. */
export function unitsPerDay(type: DataType): bigint | undefined {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamp_ntz':
      return microsPerDay;
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return microsPerDay * nanosPerMicro;
    default:
      return undefined;
  }
}

/** Where the first `width` code points of UTF-8 text end. */
export function codePointsEnd(bytes: Uint8Array, from: number, until: number, width: number): number {
  let points = 0;
  for (let at = from; at < until; at++) {
    // Bytes that go on with a code point begin with 10.
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80 && ++points > width) return at;
  }
  return until;
}

export const nanosPerMicro = 1000n;
const microsPerDay = 86_400_000_000n;

const bucketed: ReadonlySet<DataType['kind']> = new Set<DataType['kind']>([
  'byte',
  'short',
  'integer',
  'long',
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamp_ntz',
  'timestamp_ns',
  'timestamp_ntz_ns',
  'string',
  'binary',
]);

function isTruncated(type: DataType): boolean {
  switch (type.kind) {
    case 'integer':
    case 'long':
    case 'decimal':
      return true;
    case 'string':
      return type.format === undefined;
    case 'binary':
      return type.fixedLength === undefined;
    default:
      return false;
  }
}

function hashOf(type: DataType, value: NonNullable<TransformValue>): number {
  if (type.kind === 'decimal') return hashOfBytes(unscaledBytes(BigInt(numeric(value))));
  if (typeof value === 'string') return hashOfBytes(isUuid(type) ? Buffer.from(value.replaceAll('-', ''), 'hex') : Buffer.from(value));
  if (value instanceof Uint8Array) return hashOfBytes(value);
  const units = BigInt(numeric(value));
  const nanos = type.kind === 'timestamp_ns' || type.kind === 'timestamp_ntz_ns';
  const long = nanos ? floorDivide(units, nanosPerMicro) : units;
  return murmur3OfLong(Number(BigInt.asIntN(32, long)), Number(BigInt.asIntN(32, long >> 32n)));
}

function hashOfBytes(bytes: Uint8Array): number {
  return murmur3(bytes, 0, bytes.length);
}

function isUuid(type: DataType): boolean {
  return type.kind === 'string' && type.format === 'uuid';
}

function truncated(type: DataType, value: NonNullable<TransformValue>, width: number): TransformValue {
  if (typeof value === 'string') return truncatedText(value, width);
  if (value instanceof Uint8Array) return value.subarray(0, width);
  if (typeof value === 'number') return truncatedNumber(value, width);
  const whole = floorDivide(BigInt(numeric(value)), BigInt(width)) * BigInt(width);
  // Values of fixed width wrap around.
  return type.kind === 'long' ? BigInt.asIntN(64, whole) : whole;
}

/** The largest multiple of the width that is not above the value; an int wraps around. */
export function truncatedNumber(value: number, width: number): number {
  return (value - (((value % width) + width) % width)) | 0;
}

function truncatedText(text: string, width: number): string {
  if (text.length <= width) return text;
  let end = 0;
  for (let points = 0; points < width && end < text.length; points++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function daysOf(type: DataType, value: NonNullable<TransformValue>): number {
  if (type.kind === 'date') return Number(numeric(value));
  return Number(floorDivide(BigInt(numeric(value)), unitsPerDay(type) ?? 1n));
}

function numeric(value: NonNullable<TransformValue>): number | bigint {
  return typeof value === 'bigint' ? value : Number(value);
}
