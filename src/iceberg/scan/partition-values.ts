import type { DataType, StructType } from '../../schema/types.ts';
import { partitionText } from '../../table/partitioning/partition-text.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { PartitionValue } from '../metadata/content-file.ts';
import type { IdentityField } from './file-layouts.ts';

/** The values of columns that a file does not hold and its partition does, by the table's names. */
export function partitionValuesOf(
  schema: StructType,
  columns: readonly string[],
  fields: readonly IdentityField[],
  partition: readonly PartitionValue[],
): PartitionValues {
  const values: Record<string, string | undefined> = {};
  for (const field of schema.fields) {
    if (!columns.includes(field.name)) continue;
    const identity = fields.find(({ sourceId }) => sourceId === field.id);
    // Names come from the table: one such as `__proto__` must become a member like any other.
    Object.defineProperty(values, field.name, {
      value: identity === undefined ? undefined : identityText(field.type, partition[identity.place]),
      enumerable: true,
    });
  }
  return values;
}

/** A value of an identity partition field in plain text; `undefined` is null. */
export function identityText(type: DataType, value: PartitionValue): string | undefined {
  return value === undefined ? undefined : partitionText(type, value, 'plain');
}
