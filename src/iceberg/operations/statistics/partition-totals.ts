import type { InputRow } from '../../../codec/build-columns.ts';
import type { DataType, StructType } from '../../../schema/types.ts';
import { snapshotById } from '../../ancestry.ts';
import type { ContentFile, ManifestEntry, PartitionValue } from '../../metadata/content-file.ts';
import { hasDeletionVectors } from '../../metadata/format-features.ts';
import type { TableMetadata } from '../../metadata/table-metadata.ts';
import type { UnifiedPartition } from '../../metadata-tables/partition-type.ts';
import { comparePartitions } from '../../scan/compare-partitions.ts';
import { partitionKey } from '../../scan/partition-key.ts';

const integer: DataType = { kind: 'integer' };
const long: DataType = { kind: 'long' };

/** Columns behind the partition, by id; those of deletes must have a value from format version 3 on. */
const columns: readonly (readonly [id: number, name: string, type: DataType, presence: 'required' | 'of-deletes' | 'optional'])[] = [
  [2, 'spec_id', integer, 'required'],
  [3, 'data_record_count', long, 'required'],
  [4, 'data_file_count', integer, 'required'],
  [5, 'total_data_file_size_in_bytes', long, 'required'],
  [6, 'position_delete_record_count', long, 'of-deletes'],
  [7, 'position_delete_file_count', integer, 'of-deletes'],
  [8, 'equality_delete_record_count', long, 'of-deletes'],
  [9, 'equality_delete_file_count', integer, 'of-deletes'],
  [10, 'total_record_count', long, 'optional'],
  [11, 'last_updated_at', long, 'optional'],
  [12, 'last_updated_snapshot_id', long, 'optional'],
];

/** Columns of a file of partition statistics (https://iceberg.apache.org/spec/#partition-statistics-file). */
export function partitionStatisticsSchema(metadata: TableMetadata, type: StructType, partition: UnifiedPartition): StructType {
  const vectors = hasDeletionVectors(metadata);
  const members = type.fields.map((field, index) => ({ ...field, id: partition.fieldIds[index] }));
  return {
    kind: 'struct',
    fields: [
      { name: 'partition', type: { kind: 'struct', fields: members }, nullable: false, id: 1 },
      ...columns.map(([id, name, columnType, presence]) => {
        return { name, type: columnType, nullable: presence === 'optional' || (presence === 'of-deletes' && !vectors), id };
      }),
      ...(vectors ? [{ name: 'dv_count', type: integer, nullable: false, id: 13 }] : []),
    ],
  };
}

interface Totals {
  readonly partition: InputRow;
  readonly tuple: readonly PartitionValue[];
  readonly specId: number;
  readonly data: Count;
  dataBytes: number;
  readonly positions: Count;
  readonly equality: Count;
  vectors: number;
  updated: { readonly timestampMs: number; readonly snapshotId: bigint } | undefined;
}

interface Count {
  records: number;
  files: number;
}

/** What the files of each partition of each spec come to, entry by entry. In memory there is a row for each partition. */
export class PartitionTotals {
  readonly #metadata: TableMetadata;
  readonly #partition: UnifiedPartition;
  readonly #totals = new Map<string, Totals>();

  constructor(metadata: TableMetadata, partition: UnifiedPartition) {
    this.#metadata = metadata;
    this.#partition = partition;
  }

  /** A deleted file counts for nothing but when its partition has changed. */
  add({ file, status, snapshotId }: ManifestEntry): void {
    const key = partitionKey(file.specId, file.partition);
    const totals = this.#totals.get(key) ?? this.#nothing(file);
    this.#totals.set(key, totals);
    if (status !== 'deleted') addFile(totals, file);
    const snapshot = snapshotById(this.#metadata, snapshotId);
    if (snapshot !== undefined && (totals.updated === undefined || totals.updated.timestampMs < snapshot.timestampMs))
      totals.updated = snapshot;
  }

  /** By partition, ascending. */
  rows(): readonly InputRow[] {
    return [...this.#totals.values()].toSorted((a, b) => comparePartitions(a.tuple, b.tuple)).map(rowOf);
  }

  #nothing(file: ContentFile): Totals {
    return {
      partition: this.#partition.valueOf(file),
      tuple: this.#partition.tupleOf(file),
      specId: file.specId,
      data: { records: 0, files: 0 },
      dataBytes: 0,
      positions: { records: 0, files: 0 },
      equality: { records: 0, files: 0 },
      vectors: 0,
      updated: undefined,
    };
  }
}

function addFile(totals: Totals, { content, format, recordCount, fileSizeBytes }: ContentFile): void {
  const count = content === 'data' ? totals.data : content === 'position-deletes' ? totals.positions : totals.equality;
  count.records += recordCount;
  // Vectors are counted by themselves.
  if (content === 'position-deletes' && format === 'puffin') totals.vectors += 1;
  else count.files += 1;
  if (content === 'data') totals.dataBytes += fileSizeBytes;
}

/** How many rows are left after deletes only the files themselves tell. */
function rowOf({ partition, specId, data, dataBytes, positions, equality, vectors, updated }: Totals): InputRow {
  return {
    partition,
    spec_id: specId,
    data_record_count: data.records,
    data_file_count: data.files,
    total_data_file_size_in_bytes: dataBytes,
    position_delete_record_count: positions.records,
    position_delete_file_count: positions.files,
    equality_delete_record_count: equality.records,
    equality_delete_file_count: equality.files,
    total_record_count: undefined,
    last_updated_at: updated?.timestampMs,
    last_updated_snapshot_id: updated?.snapshotId,
    dv_count: vectors,
  };
}
