import { serviceError } from '../base/errors.ts';
import { partitionHashes } from '../expr/sql/text-functions.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType } from '../schema/types.ts';
import { printTransform, type Transform } from '../table/partitioning/transform.ts';

/**
 * Engine SQL of a partition transform's result for a value of `type`, NULL for NULL: numbers of years, months and hours since 1970 and
 * buckets as INTEGER, days as DATE, all others in the value's own type (https://iceberg.apache.org/spec/#partition-transforms).
 *
 * @throws ServiceError `PARTITION_TRANSFORM_UNSUPPORTED` (unsupported) for unknown transforms and for types a transform does not take.
 */
export function transformSql(transform: Transform, value: string, type: DataType): string {
  const sql = transformed(transform, value, type);
  if (sql !== undefined) return sql;
  throw serviceError.unsupported(
    'PARTITION_TRANSFORM_UNSUPPORTED',
    `rows cannot be divided by ${printTransform(transform)} of a ${describeType(type)}`,
    { hint: 'change the partitioning of the table, or write it with the engine that defined it' },
  );
}

function transformed(transform: Transform, value: string, type: DataType): string | undefined {
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'void':
      return 'NULL';
    case 'bucket': {
      const hash = hashSql(value, type);
      return hash === undefined ? undefined : `((${hash} & 2147483647) % ${transform.count})`;
    }
    case 'truncate':
      return truncateSql(value, type, transform.width);
    case 'year':
    case 'month':
      return monthsSql(value, type, transform.kind);
    case 'day':
      return dateSql(value, type);
    case 'hour': {
      const micros = type.kind === 'date' ? undefined : microsSql(value, type);
      return micros === undefined ? undefined : `CAST(${floorDivide(micros, '3600000000')} AS INTEGER)`;
    }
    default:
      return undefined;
  }
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

function truncateSql(value: string, type: DataType, width: number): string | undefined {
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
      return `unhex(left(hex(${value}), ${2 * width}))`;
    default:
      return undefined;
  }
}

function monthsSql(value: string, type: DataType, unit: 'year' | 'month'): string | undefined {
  const date = dateSql(value, type);
  if (date === undefined) return undefined;
  const years = `(year(${date}) - 1970)`;
  return `CAST(${unit === 'year' ? years : `${years} * 12 + month(${date}) - 1`} AS INTEGER)`;
}

function dateSql(value: string, type: DataType): string | undefined {
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

function daysSql(date: string): string {
  return `CAST(date_diff('day', DATE '1970-01-01', ${date}) AS BIGINT)`;
}

/** The engine's own division of whole numbers rounds towards zero. */
function floorDivide(value: string, divisor: string): string {
  return `((${value} - (((${value} % ${divisor}) + ${divisor}) % ${divisor})) // ${divisor})`;
}

/** Engine SQL of a transform's result as text, exact and the same for equal values; NULL for NULL. `partitionValueOf` reads it. */
export function partitionValueSql(value: string, type: DataType): string {
  switch (type.kind) {
    case 'date':
      return `CAST(${daysSql(value)} AS VARCHAR)`;
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
      return `CAST(epoch_us(${value}) AS VARCHAR)`;
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return `CAST(epoch_ns(${value}) AS VARCHAR)`;
    case 'binary':
      return `hex(${value})`;
    default:
      return `CAST(${value} AS VARCHAR)`;
  }
}
