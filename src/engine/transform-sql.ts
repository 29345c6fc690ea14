import { serviceError } from '../base/errors.ts';
import { bucketSql, dateSql, daysSql, hoursSql, monthsSql, truncateSql } from '../expr/sql/partition-transforms.ts';
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
    case 'bucket':
      return bucketSql(value, type, transform.count);
    case 'truncate':
      return truncateSql(value, type, transform.width);
    case 'year':
    case 'month':
      return monthsSql(value, type, transform.kind);
    case 'day':
      return dateSql(value, type);
    case 'hour':
      return hoursSql(value, type);
    default:
      return undefined;
  }
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
