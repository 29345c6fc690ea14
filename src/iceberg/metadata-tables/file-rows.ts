import type { InputRow } from '../../codec/build-columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { contentFileRow } from '../metadata/content-file-row.ts';
import { binaryType, intType, listType, longType, mapType, stringType, struct } from './columns.ts';
import type { UnifiedPartition } from './partition-type.ts';

/** The columns that describe a file (https://iceberg.apache.org/docs/latest/spark-queries/#files). */
export function fileColumns(partition: UnifiedPartition): StructType {
  return struct([
    ['content', intType],
    ['file_path', stringType],
    ['file_format', stringType],
    ['spec_id', intType],
    ...(partition.type === undefined ? [] : [['partition', partition.type] as const]),
    ['record_count', longType],
    ['file_size_in_bytes', longType],
    ['column_sizes', mapType(intType, longType)],
    ['value_counts', mapType(intType, longType)],
    ['null_value_counts', mapType(intType, longType)],
    ['nan_value_counts', mapType(intType, longType)],
    ['lower_bounds', mapType(intType, binaryType)],
    ['upper_bounds', mapType(intType, binaryType)],
    ['key_metadata', binaryType],
    ['split_offsets', listType(longType)],
    ['equality_ids', listType(intType)],
    ['sort_order_id', intType],
    ['first_row_id', longType],
    ['referenced_data_file', stringType],
    ['content_offset', longType],
    ['content_size_in_bytes', longType],
  ]);
}

export function fileRow(file: ContentFile, partition: UnifiedPartition): InputRow {
  return contentFileRow(file, {
    spec_id: file.specId,
    partition: partition.type === undefined ? undefined : partition.valueOf(file),
  });
}
