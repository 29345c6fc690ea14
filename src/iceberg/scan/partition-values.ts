import type { StructType } from '../../schema/types.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { PartitionValue } from '../spec/content-file.ts';
import type { IdentityField } from './file-layouts.ts';
import { identityText } from './partition-text.ts';

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
