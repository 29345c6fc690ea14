import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { type ContentFile, contentFileRow, type ManifestEntry, type ManifestFile } from '../metadata/content-file.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import { valueOfPartition } from '../scan/constant-columns.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { binaryType, type ColumnOf, intType, listType, longType, mapType, rowsOf, rowWith, stringType, struct } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { type UnifiedPartition, unifiedPartition } from './partition-type.ts';

/** Which files a table about files is of. */
export interface FilesScope {
  readonly content: 'all' | 'data' | 'deletes';
  /** Of all snapshots there are instead of the state's. */
  readonly everySnapshot: boolean;
}

/** `files`, `data_files`, `delete_files` and their `all_` forms: the live files. */
export function filesTable(source: MetadataSource, state: SnapshotState, scope: FilesScope): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  const metrics = readableMetrics(state.icebergSchema);
  const columns = fileColumns(partition);
  return {
    schema: { kind: 'struct', fields: [...columns.fields, { name: 'readable_metrics', type: metrics.type, nullable: true }] },
    async *rows(signal) {
      for (const manifest of await scopedManifests(source, state, scope, signal)) {
        for (const { status, file } of await entriesOf(source, state.metadata, manifest, signal)) {
          if (status !== 'deleted') yield { ...fileRow(file, partition), readable_metrics: metrics.valueOf(file) };
        }
      }
    },
  };
}

const statuses = { existing: 0, added: 1, deleted: 2 } as const;

/** `entries` and `all_entries`: what the manifests hold, deleted files included. */
export function entriesTable(source: MetadataSource, state: SnapshotState, scope: Pick<FilesScope, 'everySnapshot'>): MetadataRows {
  const partition = unifiedPartition(state.metadata);
  const metrics = readableMetrics(state.icebergSchema);
  const { schema, rowOf } = rowsOf<ManifestEntry>([
    ['status', intType, ({ status }) => statuses[status]],
    ['snapshot_id', longType, ({ snapshotId }) => snapshotId],
    ['sequence_number', longType, ({ sequenceNumber }) => sequenceNumber],
    ['file_sequence_number', longType, ({ fileSequenceNumber }) => fileSequenceNumber],
    ['data_file', fileColumns(partition), ({ file }) => fileRow(file, partition)],
    ['readable_metrics', metrics.type, ({ file }) => metrics.valueOf(file)],
  ]);
  return {
    schema,
    async *rows(signal) {
      for (const manifest of await scopedManifests(source, state, { content: 'all', ...scope }, signal)) {
        for (const entry of await entriesOf(source, state.metadata, manifest, signal)) yield rowOf(entry);
      }
    },
  };
}

/** Manifests in scope, each once. */
async function scopedManifests(
  source: MetadataSource,
  { metadata, snapshot }: SnapshotState,
  { content, everySnapshot }: FilesScope,
  signal: AbortSignal | undefined,
): Promise<readonly ManifestFile[]> {
  const found = new Map<string, ManifestFile>();
  for (const of of everySnapshot ? metadata.snapshots : [snapshot]) {
    for (const manifest of await manifestsOf(source, metadata, of, signal)) {
      if ((content === 'all' || manifest.content === content) && !found.has(manifest.path)) found.set(manifest.path, manifest);
    }
  }
  return [...found.values()];
}

/** The columns that describe a file (https://iceberg.apache.org/docs/latest/spark-queries/#files). */
function fileColumns(partition: UnifiedPartition): StructType {
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

function fileRow(file: ContentFile, partition: UnifiedPartition): InputRow {
  return contentFileRow(file, {
    spec_id: file.specId,
    partition: partition.type === undefined ? undefined : partition.valueOf(file),
  });
}

/** The metrics of files by the names of columns, with bounds as values. */
interface ReadableMetrics {
  readonly type: StructType;
  /** Maps that are decoded when they are asked for are asked for once. */
  valueOf(file: ContentFile): InputRow;
}

/** A member for each primitive column of the schema, nested ones by their dotted names, in the order of the names. */
function readableMetrics(schema: IcebergSchema): ReadableMetrics {
  const columns = [...columnsById(schema).values()]
    .filter(({ type }) => type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map')
    .map(({ id, path, type }) => ({ name: path.join('.'), ...rowsOf(metricsOf(id, type)) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return {
    type: struct(columns.map(({ name, schema: metrics }) => [name, metrics])),
    valueOf: ({ columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds }) => {
      const maps = { columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds };
      return rowWith(
        columns,
        ({ name }) => name,
        ({ rowOf }) => rowOf(maps),
      );
    },
  };
}

type MetricsMaps = Pick<ContentFile, 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts' | 'lowerBounds' | 'upperBounds'>;

function metricsOf(id: number, type: DataType): readonly ColumnOf<MetricsMaps>[] {
  const bound = (bytes: Uint8Array | undefined): InputValue =>
    bytes === undefined ? undefined : valueOfPartition(type, decodeSingleValue(type, bytes));
  return [
    ['column_size', longType, ({ columnSizes }) => columnSizes?.get(id)],
    ['value_count', longType, ({ valueCounts }) => valueCounts?.get(id)],
    ['null_value_count', longType, ({ nullValueCounts }) => nullValueCounts?.get(id)],
    ['nan_value_count', longType, ({ nanValueCounts }) => nanValueCounts?.get(id)],
    ['lower_bound', type, ({ lowerBounds }) => bound(lowerBounds?.get(id))],
    ['upper_bound', type, ({ upperBounds }) => bound(upperBounds?.get(id))],
  ];
}
