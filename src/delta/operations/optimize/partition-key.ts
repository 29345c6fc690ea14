import { printJson } from '../../../base/bigint-json.ts';
import { fieldOf } from '../../../schema/columns.ts';
import type { DataType, StructType } from '../../../schema/types.ts';
import { partitionValue, plainPartitionText } from '../../../table/partitioning/partition-text.ts';
import type { PartitionValues } from '../../../table/staged-file.ts';
import { physicalPartitionColumns, physicalSchema } from '../../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';

/** `partitionKey` of a file's values as the log has them. */
export function partitionKeys(
  snapshot: Pick<DeltaSnapshot, 'schema' | 'partitionColumns' | 'mapping'>,
): (values: PartitionValues) => string {
  const { schema, partitionColumns, mapping } = snapshot;
  const columns = physicalPartitionColumns(schema, partitionColumns, mapping);
  const stored = physicalSchema(schema, mapping);
  return (values) => partitionKey(values, columns, stored);
}

/**
 * One text per *typed* partition: files whose values are spelled differently and mean the same (timestamps have two legal spellings, null
 * may be written as an empty string) get the same key. A value that does not parse stands for itself.
 */
export function partitionKey(values: PartitionValues, partitionColumns: readonly string[], schema: StructType): string {
  return printJson(
    partitionColumns.map((column) => {
      const text = values[column];
      const type = fieldOf(schema, column)?.type;
      return text === undefined || text === '' ? null : type === undefined ? text : canonicalText(text, type);
    }),
  );
}

function canonicalText(text: string, type: DataType): string {
  const value = partitionValue(text, type);
  if (value === undefined || value instanceof Uint8Array) return plainPartitionText(text, type) ?? text;
  return String(value);
}
