import { avroCorrupt } from '../../codec/avro/avro-errors.ts';
import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { blockCursor, checkBlockEnd, openAvroFile } from '../../codec/avro/read-avro-file.ts';
import { leastBytes } from '../../codec/avro/skip-values.ts';
import {
  bigintReader,
  booleanReader,
  bytesReader,
  type FieldSteps,
  into,
  numberReader,
  optionalReader,
  type Read,
  recordSteps,
  textReader,
  unexpected,
} from './avro-fields.ts';
import type { FieldSummary, ManifestFile } from './content-file.ts';
import { manifestFieldIds, summaryFieldIds } from './manifest-schemas.ts';
import type { IcebergSnapshot } from './table-metadata.ts';

/** Names that fields had in lists of the first format version. */
const formerNames: Readonly<Record<string, number>> = {
  ...manifestFieldIds,
  added_data_files_count: manifestFieldIds.added_files_count,
  existing_data_files_count: manifestFieldIds.existing_files_count,
  deleted_data_files_count: manifestFieldIds.deleted_files_count,
};

/**
 * The manifests a list has, in its order. `name` is the file's, for errors; `snapshot` the one whose list it is.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` (corrupt), `AVRO_UNSUPPORTED` (unsupported) naming the file.
 */
export function readManifestList(
  bytes: Uint8Array,
  { name, snapshot }: { readonly name: string; readonly snapshot: IcebergSnapshot },
): readonly ManifestFile[] {
  const where = `manifest list ${name}`;
  const { container, type } = openAvroFile(bytes, { name: where });
  const steps = recordSteps(type, formerNames, manifestSteps);
  const rowBytes = leastBytes(type);
  const manifests: ManifestFile[] = [];
  for (const block of container.blocks()) {
    const cursor = blockCursor(block, rowBytes);
    for (let index = 0; index < block.rowCount; index++) {
      const manifest = undescribedManifest(snapshot.snapshotId);
      for (const step of steps) step(cursor, manifest);
      const complaint = complaintOf(manifest);
      if (complaint !== undefined) throw avroCorrupt(where, complaint);
      manifests.push(manifest);
    }
    checkBlockEnd(cursor);
  }
  return manifests;
}

/** What a description says that no manifest is: a manifest that counts no live files would be passed over, with the rows of those it has. */
function complaintOf(manifest: ManifestFile): string | undefined {
  const { path, addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows } = manifest;
  if (path === '') return 'a manifest has no path';
  // Numbers tell which deletes hold for which files.
  const numbers = [manifest.sequenceNumber, manifest.minSequenceNumber];
  if (numbers.some((number) => number < 0n)) return `manifest ${path} has the sequence numbers ${numbers.join(' and ')}`;
  const counts = [
    ['added', addedFiles, addedRows],
    ['existing', existingFiles, existingRows],
    ['deleted', deletedFiles, deletedRows],
  ] as const;
  for (const [status, files, rows] of counts) {
    if ((files ?? 0) < 0 || (rows ?? 0n) < 0n) return `manifest ${path} is said to have ${files} ${status} files of ${rows} rows`;
    if (files === 0 && (rows ?? 0n) > 0n) return `manifest ${path} is said to have ${rows} ${status} rows in no file`;
  }
  return undefined;
}

function contentOf(value: number | undefined, cursor: ByteCursor): ManifestFile['content'] {
  const content = (['data', 'deletes'] as const)[value ?? 0];
  if (content === undefined) throw cursor.fail(`a manifest has the content ${value}`);
  return content;
}

type Draft = { -readonly [Key in keyof ManifestFile]: ManifestFile[Key] };
/** A manifest of a snapshot of which nothing is said. */
export function undescribedManifest(snapshotId: bigint): Draft {
  return {
    path: '',
    length: 0,
    specId: 0,
    content: 'data',
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: snapshotId,
    addedFiles: undefined,
    existingFiles: undefined,
    deletedFiles: undefined,
    addedRows: undefined,
    existingRows: undefined,
    deletedRows: undefined,
    partitions: undefined,
    keyMetadata: undefined,
    firstRowId: undefined,
  };
}

const manifestSteps: FieldSteps<Draft> = {
  [manifestFieldIds.manifest_path]: into(textReader, (manifest, value) => (manifest.path = value ?? '')),
  [manifestFieldIds.manifest_length]: into(numberReader, (manifest, value) => (manifest.length = value ?? 0)),
  [manifestFieldIds.partition_spec_id]: into(numberReader, (manifest, value) => (manifest.specId = value ?? 0)),
  [manifestFieldIds.content]: into(numberReader, (manifest, value, cursor) => (manifest.content = contentOf(value, cursor))),
  [manifestFieldIds.sequence_number]: into(bigintReader, (manifest, value) => (manifest.sequenceNumber = value ?? 0n)),
  [manifestFieldIds.min_sequence_number]: into(bigintReader, (manifest, value) => (manifest.minSequenceNumber = value ?? 0n)),
  [manifestFieldIds.added_snapshot_id]: into(
    bigintReader,
    (manifest, value) => (manifest.addedSnapshotId = value ?? manifest.addedSnapshotId),
  ),
  [manifestFieldIds.added_files_count]: into(numberReader, (manifest, value) => (manifest.addedFiles = value)),
  [manifestFieldIds.existing_files_count]: into(numberReader, (manifest, value) => (manifest.existingFiles = value)),
  [manifestFieldIds.deleted_files_count]: into(numberReader, (manifest, value) => (manifest.deletedFiles = value)),
  [manifestFieldIds.added_rows_count]: into(bigintReader, (manifest, value) => (manifest.addedRows = value)),
  [manifestFieldIds.existing_rows_count]: into(bigintReader, (manifest, value) => (manifest.existingRows = value)),
  [manifestFieldIds.deleted_rows_count]: into(bigintReader, (manifest, value) => (manifest.deletedRows = value)),
  [manifestFieldIds.partitions]: into(summariesReader, (manifest, value) => (manifest.partitions = value)),
  [manifestFieldIds.key_metadata]: into(bytesReader, (manifest, value) => (manifest.keyMetadata = value)),
  [manifestFieldIds.first_row_id]: into(bigintReader, (manifest, value) => (manifest.firstRowId = value)),
};

function summariesReader(type: AvroType): Read<readonly FieldSummary[]> {
  return optionalReader(type, (branch) => {
    if (branch.kind !== 'array' || branch.items.kind !== 'record') return unexpected(branch);
    const read = summaryReader(branch.items);
    const itemBytes = leastBytes(branch.items);
    return (cursor) => {
      const summaries: FieldSummary[] = [];
      for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
        for (let index = 0; index < count; index++) summaries.push(read(cursor));
      }
      return summaries;
    };
  });
}

type Summary = { -readonly [Key in keyof FieldSummary]: FieldSummary[Key] };

const summarySteps: FieldSteps<Summary> = {
  [summaryFieldIds.contains_null]: into(booleanReader, (summary, value) => (summary.containsNull = value ?? true)),
  [summaryFieldIds.contains_nan]: into(booleanReader, (summary, value) => (summary.containsNan = value)),
  [summaryFieldIds.lower_bound]: into(bytesReader, (summary, value) => (summary.lowerBound = value)),
  [summaryFieldIds.upper_bound]: into(bytesReader, (summary, value) => (summary.upperBound = value)),
};

function summaryReader(record: AvroRecord): (cursor: ByteCursor) => FieldSummary {
  const steps = recordSteps(record, summaryFieldIds, summarySteps);
  return (cursor) => {
    const summary: Summary = { containsNull: true, containsNan: undefined, lowerBound: undefined, upperBound: undefined };
    for (const step of steps) step(cursor, summary);
    return summary;
  };
}
