import type { DataType, Field, StructType } from '../../schema/types.ts';

type FormatVersion = 1 | 2 | 3;

/** Ids of the fields of manifest entries and of the files in them (https://iceberg.apache.org/spec/#manifests), by their names. */
export const entryFieldIds = { status: 0, snapshot_id: 1, sequence_number: 3, file_sequence_number: 4, data_file: 2 } as const;
export const fileFieldIds = {
  content: 134,
  file_path: 100,
  file_format: 101,
  partition: 102,
  record_count: 103,
  file_size_in_bytes: 104,
  block_size_in_bytes: 105,
  column_sizes: 108,
  value_counts: 109,
  null_value_counts: 110,
  nan_value_counts: 137,
  lower_bounds: 125,
  upper_bounds: 128,
  key_metadata: 131,
  split_offsets: 132,
  equality_ids: 135,
  sort_order_id: 140,
  first_row_id: 142,
  referenced_data_file: 143,
  content_offset: 144,
  content_size_in_bytes: 145,
} as const;

/** Ids of the fields of manifest lists (https://iceberg.apache.org/spec/#manifest-lists), by their names. */
export const manifestFieldIds = {
  manifest_path: 500,
  manifest_length: 501,
  partition_spec_id: 502,
  content: 517,
  sequence_number: 515,
  min_sequence_number: 516,
  added_snapshot_id: 503,
  added_files_count: 504,
  existing_files_count: 505,
  deleted_files_count: 506,
  added_rows_count: 512,
  existing_rows_count: 513,
  deleted_rows_count: 514,
  partitions: 507,
  key_metadata: 519,
  first_row_id: 520,
} as const;

/** Ids of a field summary, by their names. */
export const summaryFieldIds = { contains_null: 509, contains_nan: 518, lower_bound: 510, upper_bound: 511 } as const;

/** The record of a manifest's entries in a format version; `partition` is the type of the spec's tuples. */
export function entrySchema(formatVersion: FormatVersion, partition: StructType): StructType {
  const ids = entryFieldIds;
  const numbers = formatVersion === 1 ? [] : [optional(ids, 'sequence_number', long), optional(ids, 'file_sequence_number', long)];
  return {
    kind: 'struct',
    fields: [
      required(ids, 'status', integer),
      optional(ids, 'snapshot_id', long),
      ...numbers,
      required(ids, 'data_file', fileSchema(formatVersion, partition)),
    ],
  };
}

/** The record of a manifest list in a format version. */
export function manifestListSchema(formatVersion: FormatVersion): StructType {
  const ids = manifestFieldIds;
  const count = formatVersion === 1 ? optional : required;
  const head = [required(ids, 'manifest_path', text), required(ids, 'manifest_length', long), required(ids, 'partition_spec_id', integer)];
  const numbers =
    formatVersion === 1
      ? []
      : [required(ids, 'content', integer), required(ids, 'sequence_number', long), required(ids, 'min_sequence_number', long)];
  const tail = formatVersion === 3 ? [optional(ids, 'first_row_id', long)] : [];
  return {
    kind: 'struct',
    fields: [
      ...head,
      ...numbers,
      required(ids, 'added_snapshot_id', long),
      count(ids, 'added_files_count', integer),
      count(ids, 'existing_files_count', integer),
      count(ids, 'deleted_files_count', integer),
      count(ids, 'added_rows_count', long),
      count(ids, 'existing_rows_count', long),
      count(ids, 'deleted_rows_count', long),
      optional(ids, 'partitions', listOf(fieldSummary, 508)),
      optional(ids, 'key_metadata', binary),
      ...tail,
    ],
  };
}

const integer: DataType = { kind: 'integer' };
const long: DataType = { kind: 'long' };
const text: DataType = { kind: 'string' };
const binary: DataType = { kind: 'binary' };
const boolean: DataType = { kind: 'boolean' };

const fieldSummary: StructType = {
  kind: 'struct',
  fields: [
    required(summaryFieldIds, 'contains_null', boolean),
    optional(summaryFieldIds, 'contains_nan', boolean),
    optional(summaryFieldIds, 'lower_bound', binary),
    optional(summaryFieldIds, 'upper_bound', binary),
  ],
};

function fileSchema(formatVersion: FormatVersion, partition: StructType): StructType {
  const ids = fileFieldIds;
  const metrics = [
    optional(ids, 'column_sizes', mapOf(long, 117, 118)),
    optional(ids, 'value_counts', mapOf(long, 119, 120)),
    optional(ids, 'null_value_counts', mapOf(long, 121, 122)),
    optional(ids, 'nan_value_counts', mapOf(long, 138, 139)),
    optional(ids, 'lower_bounds', mapOf(binary, 126, 127)),
    optional(ids, 'upper_bounds', mapOf(binary, 129, 130)),
    optional(ids, 'key_metadata', binary),
    optional(ids, 'split_offsets', listOf(long, 133)),
  ];
  const head = [
    required(ids, 'file_path', text),
    required(ids, 'file_format', text),
    required(ids, 'partition', partition),
    required(ids, 'record_count', long),
    required(ids, 'file_size_in_bytes', long),
  ];
  const sortOrder = optional(ids, 'sort_order_id', integer);
  if (formatVersion === 1) {
    return { kind: 'struct', fields: [...head, required(ids, 'block_size_in_bytes', long), ...metrics, sortOrder] };
  }
  const referenced = optional(ids, 'referenced_data_file', text);
  const tail =
    formatVersion === 2
      ? [referenced]
      : [
          optional(ids, 'first_row_id', long),
          referenced,
          optional(ids, 'content_offset', long),
          optional(ids, 'content_size_in_bytes', long),
        ];
  const equalityIds = optional(ids, 'equality_ids', listOf(integer, 136));
  return { kind: 'struct', fields: [required(ids, 'content', integer), ...head, ...metrics, equalityIds, sortOrder, ...tail] };
}

function required<Ids extends Readonly<Record<string, number>>>(ids: Ids, name: keyof Ids & string, type: DataType): Field {
  return { name, type, nullable: false, id: ids[name] };
}

function optional<Ids extends Readonly<Record<string, number>>>(ids: Ids, name: keyof Ids & string, type: DataType): Field {
  return { name, type, nullable: true, id: ids[name] };
}

function listOf(element: DataType, elementId: number): DataType {
  return { kind: 'list', element, elementNullable: false, elementId };
}

function mapOf(value: DataType, keyId: number, valueId: number): DataType {
  return { kind: 'map', key: integer, value, valueNullable: false, keyId, valueId };
}
