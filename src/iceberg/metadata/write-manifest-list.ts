import { tableAvroSchema } from '../../codec/avro/table-avro-schema.ts';
import { writeAvroFile } from '../../codec/avro/write-avro-file.ts';
import type { InputRow } from '../../codec/build-columns.ts';
import { avroCodecOf, headerOf, syncMarkerOf } from './avro-settings.ts';
import type { ManifestFile } from './content-file.ts';
import { manifestListSchema } from './manifest-schemas.ts';
import { refusedUpdate } from './spec-errors.ts';

export interface ManifestListToWrite {
  readonly formatVersion: 1 | 2 | 3;
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | undefined;
  readonly sequenceNumber: bigint;
  /** First row id of the snapshot, from format version 3 on. */
  readonly firstRowId: bigint | undefined;
  /** Negative sequence numbers become the snapshot's. */
  readonly manifests: readonly ManifestFile[];
  /** As `write.manifest.compression-codec`. */
  readonly codec?: string | undefined;
}

/**
 * A manifest list (https://iceberg.apache.org/spec/#manifest-lists). From format version 3 on, data manifests without a first row id get the
 * next ones.
 *
 * @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid) for a list that the format version does not have, `ICEBERG_CODEC_UNKNOWN`.
 */
export async function writeManifestList(list: ManifestListToWrite): Promise<Uint8Array> {
  const { formatVersion, snapshotId, parentSnapshotId, sequenceNumber, firstRowId } = list;
  if (formatVersion === 3 && firstRowId === undefined) throw refusedUpdate('Cannot write a manifest list: first-row-id is null');
  if (formatVersion === 1 && list.manifests.some(({ content }) => content === 'deletes')) {
    throw refusedUpdate('Cannot store delete manifests in a v1 table');
  }
  const uncounted = formatVersion === 1 ? undefined : list.manifests.find((manifest) => !isCounted(manifest));
  if (uncounted !== undefined) throw refusedUpdate(`Cannot list a manifest whose files are not counted: ${uncounted.path}`);
  const manifests = firstRowId === undefined ? list.manifests : assignFirstRowIds(list.manifests, firstRowId).manifests;
  return writeAvroFile({
    schema: tableAvroSchema(manifestListSchema(formatVersion), 'manifest_file'),
    metadata: headerOf({
      'snapshot-id': String(snapshotId),
      'parent-snapshot-id': String(parentSnapshotId ?? null),
      'sequence-number': formatVersion === 1 ? undefined : String(sequenceNumber),
      'first-row-id': formatVersion === 3 ? String(firstRowId) : undefined,
      'format-version': String(formatVersion),
    }),
    codec: avroCodecOf(list.codec),
    sync: syncMarkerOf(snapshotId, sequenceNumber, ...manifests.map(({ path }) => path)),
    records: manifests.map((manifest) => manifestRow(manifest, sequenceNumber)),
  });
}

/**
 * Gives data manifests that have no first row id the next ones (https://iceberg.apache.org/spec/#first-row-id-assignment). What lies between
 * the first and `nextRowId` is the snapshot's `added-rows`.
 */
export function assignFirstRowIds(
  manifests: readonly ManifestFile[],
  firstRowId: bigint,
): { readonly manifests: readonly ManifestFile[]; readonly nextRowId: bigint } {
  let nextRowId = firstRowId;
  const assigned = manifests.map((manifest): ManifestFile => {
    if (manifest.content === 'deletes' || manifest.firstRowId !== undefined) return manifest;
    const numbered = { ...manifest, firstRowId: nextRowId };
    nextRowId += (manifest.existingRows ?? 0n) + (manifest.addedRows ?? 0n);
    return numbered;
  });
  return { manifests: assigned, nextRowId };
}

/** The first format version may leave counts out. */
function isCounted({ addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows }: ManifestFile): boolean {
  return [addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows].every((count) => count !== undefined);
}

function manifestRow(manifest: ManifestFile, sequenceNumber: bigint): InputRow {
  return {
    manifest_path: manifest.path,
    manifest_length: manifest.length,
    partition_spec_id: manifest.specId,
    content: manifest.content === 'deletes' ? 1 : 0,
    sequence_number: manifest.sequenceNumber < 0n ? sequenceNumber : manifest.sequenceNumber,
    min_sequence_number: manifest.minSequenceNumber < 0n ? sequenceNumber : manifest.minSequenceNumber,
    added_snapshot_id: manifest.addedSnapshotId,
    added_files_count: manifest.addedFiles,
    existing_files_count: manifest.existingFiles,
    deleted_files_count: manifest.deletedFiles,
    added_rows_count: manifest.addedRows,
    existing_rows_count: manifest.existingRows,
    deleted_rows_count: manifest.deletedRows,
    partitions: manifest.partitions?.map((summary) => ({
      contains_null: summary.containsNull,
      contains_nan: summary.containsNan,
      lower_bound: summary.lowerBound,
      upper_bound: summary.upperBound,
    })),
    key_metadata: manifest.keyMetadata,
    first_row_id: manifest.firstRowId,
  };
}
