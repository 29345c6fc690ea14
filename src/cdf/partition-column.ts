import { serviceError } from '../base/errors.ts';
import { buildColumn, type InputValue } from '../codec/build-columns.ts';
import type { Column } from '../schema/columns.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import type { DataType, Field } from '../schema/types.ts';
import { partitionValue } from '../table/partitioning/partition-text.ts';

/**
 * A column of the one value that a partition column has in a file, from the text of the table's log. Both spellings of a timestamp are the
 * same value. The empty text is null, as it is for every Delta reader.
 *
 * @throws ServiceError `CDF_PARTITION_VALUE_INVALID` (kind corrupt) when the text is no value of the column's type.
 */
export function partitionColumn({ name, type }: Field, text: string | undefined): Column {
  if (text === undefined || text === '') return buildColumn(type, [null], name);
  const value = inputOf(type, text);
  if (value !== undefined) return buildColumn(type, [value], name);
  throw serviceError.corrupt('CDF_PARTITION_VALUE_INVALID', `partition column "${name}": "${text}" is not a ${type.kind}`);
}

function inputOf(type: DataType, text: string): InputValue {
  const value = partitionValue(text, type);
  return type.kind === 'decimal' && typeof value === 'bigint' ? formatDecimal(value, type.scale) : (value ?? undefined);
}
