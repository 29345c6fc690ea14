import type { InputRow } from '../../codec/build-columns.ts';

/**
 * A partition value as the transform's result type has it: int, date, year … as number; long, timestamps and unscaled decimals as bigint;
 * text and UUIDs as text; binary as bytes.
 */
export type PartitionValue = boolean | number | bigint | string | Uint8Array | undefined;

export type FileFormat = 'parquet' | 'avro' | 'orc' | 'puffin';
export type FileContent = 'data' | 'position-deletes' | 'equality-deletes';

/** A data or delete file as manifests describe it (https://iceberg.apache.org/spec/#manifests); maps are by field id. */
export interface ContentFile {
  readonly content: FileContent;
  /** Byte for byte as written. */
  readonly path: string;
  readonly format: FileFormat;
  readonly specId: number;
  /** One for each field of the spec. */
  readonly partition: readonly PartitionValue[];
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  readonly columnSizes: ReadonlyMap<number, number> | undefined;
  readonly valueCounts: ReadonlyMap<number, number> | undefined;
  readonly nullValueCounts: ReadonlyMap<number, number> | undefined;
  readonly nanValueCounts: ReadonlyMap<number, number> | undefined;
  /** In the single-value encoding. */
  readonly lowerBounds: ReadonlyMap<number, Uint8Array> | undefined;
  readonly upperBounds: ReadonlyMap<number, Uint8Array> | undefined;
  readonly keyMetadata: Uint8Array | undefined;
  readonly splitOffsets: readonly number[] | undefined;
  readonly equalityIds: readonly number[] | undefined;
  readonly sortOrderId: number | undefined;
  readonly firstRowId: bigint | undefined;
  readonly referencedDataFile: string | undefined;
  /** Place of a deletion vector in its Puffin file. */
  readonly contentOffset: number | undefined;
  readonly contentSizeBytes: number | undefined;
}

export type EntryStatus = 'existing' | 'added' | 'deleted';

/** An entry of a manifest, what is inherited filled in. */
export interface ManifestEntry {
  readonly status: EntryStatus;
  /** Snapshot that added, or that deleted, the file. */
  readonly snapshotId: bigint;
  /** Data sequence number. */
  readonly sequenceNumber: bigint;
  readonly fileSequenceNumber: bigint;
  readonly file: ContentFile;
}

export interface FieldSummary {
  readonly containsNull: boolean;
  readonly containsNan: boolean | undefined;
  readonly lowerBound: Uint8Array | undefined;
  readonly upperBound: Uint8Array | undefined;
}

/** A manifest as a manifest list describes it (https://iceberg.apache.org/spec/#manifest-lists). */
export interface ManifestFile {
  readonly path: string;
  readonly length: number;
  readonly specId: number;
  readonly content: 'data' | 'deletes';
  readonly sequenceNumber: bigint;
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  /** Counts may be absent in format version 1. */
  readonly addedFiles: number | undefined;
  readonly existingFiles: number | undefined;
  readonly deletedFiles: number | undefined;
  readonly addedRows: bigint | undefined;
  readonly existingRows: bigint | undefined;
  readonly deletedRows: bigint | undefined;
  readonly partitions: readonly FieldSummary[] | undefined;
  readonly keyMetadata: Uint8Array | undefined;
  readonly firstRowId: bigint | undefined;
}

const contentCodes = { data: 0, 'position-deletes': 1, 'equality-deletes': 2 } as const;

/**
 * What manifests and metadata tables say of a file, by the spec's names: every column there is in any format version, schemas take those they
 * have. `own`: what one says and not the other, or otherwise.
 */
export function contentFileRow(file: ContentFile, own: InputRow): InputRow {
  return {
    content: contentCodes[file.content],
    file_path: file.path,
    file_format: file.format.toUpperCase(),
    record_count: file.recordCount,
    file_size_in_bytes: file.fileSizeBytes,
    column_sizes: file.columnSizes,
    value_counts: file.valueCounts,
    null_value_counts: file.nullValueCounts,
    nan_value_counts: file.nanValueCounts,
    lower_bounds: file.lowerBounds,
    upper_bounds: file.upperBounds,
    key_metadata: file.keyMetadata,
    split_offsets: file.splitOffsets,
    equality_ids: file.equalityIds,
    sort_order_id: file.sortOrderId,
    first_row_id: file.firstRowId,
    referenced_data_file: file.referencedDataFile,
    content_offset: file.contentOffset,
    content_size_in_bytes: file.contentSizeBytes,
    ...own,
  };
}
