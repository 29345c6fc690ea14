import type { InputRow } from '../../codec/build-columns.ts';
import type { StructType } from '../../schema/types.ts';
import { partitionValueText } from '../../table/partitioning/partition-path.ts';
import type { FieldSummary, ManifestFile } from '../metadata/content-file.ts';
import { decodeSingleValue } from '../metadata/single-value.ts';
import type { PartitionField, TableMetadata } from '../metadata/table-metadata.ts';
import { type MetadataSource, manifestsOf } from '../scan/manifests.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { booleanType, intType, listType, longType, stringType, struct } from './columns.ts';
import type { MetadataRows } from './metadata-rows.ts';
import { partitionType } from './partition-type.ts';

/** `manifests`: those of a snapshot. */
export function manifestsTable(source: MetadataSource, state: SnapshotState): MetadataRows {
  const { metadata, snapshot } = state;
  return {
    schema: manifestColumns(false),
    async *rows(signal) {
      for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) yield manifestRow(metadata, manifest);
    },
  };
}

/** `all_manifests`: those of every snapshot there is, with the snapshot that refers to them. */
export function allManifestsTable(source: MetadataSource, state: SnapshotState): MetadataRows {
  const { metadata } = state;
  return {
    schema: manifestColumns(true),
    async *rows(signal) {
      for (const snapshot of metadata.snapshots) {
        for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) {
          yield { ...manifestRow(metadata, manifest), reference_snapshot_id: snapshot.snapshotId };
        }
      }
    },
  };
}

function manifestColumns(withReference: boolean): StructType {
  const summary = struct([
    ['contains_null', booleanType],
    ['contains_nan', booleanType],
    ['lower_bound', stringType],
    ['upper_bound', stringType],
  ]);
  return struct([
    ['content', intType],
    ['path', stringType],
    ['length', longType],
    ['partition_spec_id', intType],
    ['added_snapshot_id', longType],
    ['added_data_files_count', intType],
    ['existing_data_files_count', intType],
    ['deleted_data_files_count', intType],
    ['added_delete_files_count', intType],
    ['existing_delete_files_count', intType],
    ['deleted_delete_files_count', intType],
    ['partition_summaries', listType(summary)],
    ...(withReference ? [['reference_snapshot_id', longType] as const] : []),
  ]);
}

function manifestRow(metadata: TableMetadata, manifest: ManifestFile): InputRow {
  const isData = manifest.content === 'data';
  const { addedFiles, existingFiles, deletedFiles } = manifest;
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === manifest.specId);
  return {
    content: isData ? 0 : 1,
    path: manifest.path,
    length: manifest.length,
    partition_spec_id: manifest.specId,
    added_snapshot_id: manifest.addedSnapshotId,
    added_data_files_count: isData ? addedFiles : 0,
    existing_data_files_count: isData ? existingFiles : 0,
    deleted_data_files_count: isData ? deletedFiles : 0,
    added_delete_files_count: isData ? 0 : addedFiles,
    existing_delete_files_count: isData ? 0 : existingFiles,
    deleted_delete_files_count: isData ? 0 : deletedFiles,
    partition_summaries: (manifest.partitions ?? []).map((summary, place) => summaryRow(metadata, spec?.fields[place], summary)),
  };
}

function summaryRow(metadata: TableMetadata, field: PartitionField | undefined, summary: FieldSummary): InputRow {
  const text = (bytes: Uint8Array | undefined): string => {
    // As the reference implementation writes what is not there.
    if (bytes === undefined || field === undefined) return 'null';
    const type = partitionType(metadata, field);
    return partitionValueText(field.transform, type, decodeSingleValue(type, bytes));
  };
  return {
    contains_null: summary.containsNull,
    contains_nan: summary.containsNan,
    lower_bound: text(summary.lowerBound),
    upper_bound: text(summary.upperBound),
  };
}
