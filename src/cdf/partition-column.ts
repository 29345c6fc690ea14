import { serviceError } from '../base/errors.ts';
import { buildColumn, type InputValue } from '../codec/build-columns.ts';
import type { Column } from '../schema/columns.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import type { DataType, Field } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import { valueOfPlainText } from '../table/partitioning/partition-text.ts';

/** Whether the column has one value in all rows of the file, which is not read from it. */
export function isConstant({ layout, partitionValues }: Pick<ChangeFile, 'layout' | 'partitionValues'>, column: string): boolean {
  return layout === undefined && Object.hasOwn(partitionValues, column);
}

/**
 * A column of the one value that a partition column has in a file, from its plain text; without one null.
 *
 * @throws ServiceError `CDF_PARTITION_VALUE_INVALID` (kind corrupt) when the text is no value of the column's type.
 */
export function partitionColumn({ name, type }: Field, text: string | undefined): Column {
  if (text === undefined) return buildColumn(type, [null], name);
  const value = inputOf(type, text);
  if (value !== undefined) return buildColumn(type, [value], name);
  throw serviceError.corrupt('CDF_PARTITION_VALUE_INVALID', `partition column "${name}": "${text}" is not a ${type.kind}`);
}

function inputOf(type: DataType, text: string): InputValue {
  const value = valueOfPlainText(text, type);
  return type.kind === 'decimal' && typeof value === 'bigint' ? formatDecimal(value, type.scale) : (value ?? undefined);
}
