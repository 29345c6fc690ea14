import type { DataType } from '../../schema/types.ts';
import { partitionHashes } from './text-functions.ts';

// Engine SQL of partition transforms (https://iceberg.apache.org/spec/#partition-transforms) of a value of `type`: NULL for NULL;
// `undefined` for a type that the transform does not take.

/** The number of the bucket, an INTEGER. */
export function bucketSql(value: string, type: DataType, count: number | bigint): string | undefined {
  const hash = hashSql(value, type);
  return hash === undefined ? undefined : `CAST((${hash} & 2147483647) % ${count} AS INTEGER)`;
}

/** What is hashed is the same for all types whose values may be promoted to each other. */
function hashSql(value: string, type: DataType): string | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return `${partitionHashes.long}(CAST(${value} AS BIGINT))`;
    case 'date':
      return `${partitionHashes.long}(${daysSql(value)})`;
    case 'time':
      return `${partitionHashes.long}(CAST(epoch_us(${value}) AS BIGINT))`;
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return `${partitionHashes.long}(CAST(${microsSql(value, type) ?? 'NULL'} AS BIGINT))`;
    case 'decimal':
      return `${partitionHashes.decimal}(replace(CAST(${value} AS VARCHAR), '.', ''))`;
    case 'string':
      return type.format === 'uuid' ? `${partitionHashes.bytes}(unhex(replace(${value}, '-', '')))` : `${partitionHashes.text}(${value})`;
    case 'binary':
      return `${partitionHashes.bytes}(${value})`;
    default:
      return undefined;
  }
}

/** Bytes and shorts become INTEGER, all others stay what they are. */
export function truncateSql(value: string, type: DataType, width: number | bigint): string | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long': {
      const wide = `CAST(${value} AS HUGEINT)`;
      return `CAST(${wide} - (((${wide} % ${width}) + ${width}) % ${width}) AS ${type.kind === 'long' ? 'BIGINT' : 'INTEGER'})`;
    }
    case 'decimal': {
      const unscaled = `CAST(replace(CAST(${value} AS VARCHAR), '.', '') AS HUGEINT)`;
      const cut = `CAST(${unscaled} - (((${unscaled} % ${width}) + ${width}) % ${width}) AS VARCHAR)`;
      const digits = `lpad(ltrim(${cut}, '-'), CAST(greatest(length(ltrim(${cut}, '-')), ${type.scale + 1}) AS INTEGER), '0')`;
      const sign = `CASE WHEN ${cut} LIKE '-%' THEN '-' ELSE '' END`;
      const text = type.scale === 0 ? cut : `${sign} || ${digits}[:-${type.scale + 1}] || '.' || ${digits}[-${type.scale}:]`;
      return `CAST(${text} AS DECIMAL(${type.precision},${type.scale}))`;
    }
    case 'string':
      return type.format === 'uuid' ? undefined : `left(${value}, ${width})`;
    case 'binary':
      return `unhex(left(hex(${value}), ${2n * BigInt(width)}))`;
    default:
      return undefined;
  }
}

/** Years or months since 1970, an INTEGER. */
export function monthsSql(value: string, type: DataType, unit: 'year' | 'month'): string | undefined {
  const date = dateSql(value, type);
  if (date === undefined) return undefined;
  const years = `(year(${date}) - 1970)`;
  return `CAST(${unit === 'year' ? years : `${years} * 12 + month(${date}) - 1`} AS INTEGER)`;
}

/** The day in UTC. */
export function dateSql(value: string, type: DataType): string | undefined {
  if (type.kind === 'date') return value;
  const micros = microsSql(value, type);
  return micros === undefined ? undefined : `CAST(make_timestamp(${micros}) AS DATE)`;
}

/** Whole microseconds since 1970, rounded down. */
function microsSql(value: string, type: DataType): string | undefined {
  switch (type.kind) {
    case 'timestamp':
    case 'timestamp_ntz':
      return `epoch_us(${value})`;
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return floorDivide(`epoch_ns(${value})`, '1000');
    default:
      return undefined;
  }
}

/** Days since 1970. */
export function daysSql(date: string): string {
  return `CAST(date_diff('day', DATE '1970-01-01', ${date}) AS BIGINT)`;
}

/** Hours since 1970, an INTEGER. */
export function hoursSql(value: string, type: DataType): string | undefined {
  const micros = microsSql(value, type);
  return micros === undefined ? undefined : `CAST(${floorDivide(micros, '3600000000')} AS INTEGER)`;
}

/** The engine's own division of whole numbers rounds towards zero. */
function floorDivide(value: string, divisor: string): string {
  return `((${value} - (((${value} % ${divisor}) + ${divisor}) % ${divisor})) // ${divisor})`;
}
