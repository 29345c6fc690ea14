import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType } from '../../schema/types.ts';

/**
 * Engine SQL for a partition column's value as the log spells it: exact, `NULL` for null and for the empty string, which the format cannot
 * tell from it. `column` is engine SQL.
 *
 * @throws AnalysisException `INVALID_PARTITION_COLUMN_DATA_TYPE` (0A000) for a type whose values no text stands for.
 */
export function partitionTextSql(column: string, type: DataType, name: string): string {
  switch (type.kind) {
    case 'string':
      return `nullif(${column}, '')`;
    case 'date':
      return `(${yearText(column)} || strftime(${column}, '-%m-%d'))`;
    case 'timestamp':
      return instantText(`(${column} AT TIME ZONE 'UTC')`);
    case 'timestamp_ntz':
      return localText(column);
    case 'float':
    case 'double':
      return (
        `CASE WHEN isnan(${column}) THEN 'NaN' WHEN isinf(${column}) THEN (CASE WHEN ${column} > 0 THEN 'Infinity' ELSE '-Infinity' END) ` +
        `ELSE CAST(${column} AS VARCHAR) END`
      );
    case 'binary':
    case 'struct':
    case 'list':
    case 'map':
      throw new AnalysisException({
        errorClass: 'INVALID_PARTITION_COLUMN_DATA_TYPE',
        sqlState: '0A000',
        message: `Cannot use "${describeType(type).toUpperCase()}" for partition column "${name}"`,
        parameters: { type: describeType(type), columnName: name },
        hint: 'partition by a column of text, number, boolean, date or timestamp type',
      });
    default:
      return `CAST(${column} AS VARCHAR)`;
  }
}

function instantText(local: string): string {
  return `(${yearText(local)} || strftime(${local}, '-%m-%dT%H:%M:%S.%fZ'))`;
}

/** Without a fraction when there is none, as other engines write it. */
function localText(local: string): string {
  const whole = `epoch_us(${local}) % 1000000 = 0`;
  const time = `CASE WHEN ${whole} THEN strftime(${local}, '-%m-%d %H:%M:%S') ELSE strftime(${local}, '-%m-%d %H:%M:%S.%f') END`;
  return `(${yearText(local)} || ${time})`;
}

/** At least four digits; a sign for years that need it. */
function yearText(date: string): string {
  const digits = `CAST(abs(year(${date})) AS VARCHAR)`;
  const sign = `CASE WHEN year(${date}) > 9999 THEN '+' WHEN year(${date}) < 0 THEN '-' ELSE '' END`;
  return `${sign} || lpad(${digits}, CAST(greatest(4, length(${digits})) AS INTEGER), '0')`;
}
