import { avroCorrupt } from '../../codec/avro/avro-errors.ts';
import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { blockCursor, checkBlockEnd, openAvroFile } from '../../codec/avro/read-avro-file.ts';
import { leastBytes, valueSkipper } from '../../codec/avro/skip-values.ts';
import {
  bigintReader,
  booleanReader,
  bytesReader,
  knownFields,
  numberReader,
  optionalReader,
  type Read,
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
  const steps = knownFields(type, formerNames).map((field) => manifestStep(field.id, field.type));
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
type Step = (cursor: ByteCursor, manifest: Draft) => void;

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

function manifestStep(id: number, type: AvroType): Step {
  switch (id) {
    case manifestFieldIds.manifest_path:
      return into(textReader(type), (manifest, value) => (manifest.path = value ?? ''));
    case manifestFieldIds.manifest_length:
      return into(numberReader(type), (manifest, value) => (manifest.length = value ?? 0));
    case manifestFieldIds.partition_spec_id:
      return into(numberReader(type), (manifest, value) => (manifest.specId = value ?? 0));
    case manifestFieldIds.content:
      return into(numberReader(type), (manifest, value, cursor) => (manifest.content = contentOf(value, cursor)));
    case manifestFieldIds.sequence_number:
      return into(bigintReader(type), (manifest, value) => (manifest.sequenceNumber = value ?? 0n));
    case manifestFieldIds.min_sequence_number:
      return into(bigintReader(type), (manifest, value) => (manifest.minSequenceNumber = value ?? 0n));
    case manifestFieldIds.added_snapshot_id:
      return into(bigintReader(type), (manifest, value) => (manifest.addedSnapshotId = value ?? manifest.addedSnapshotId));
    case manifestFieldIds.added_files_count:
      return into(numberReader(type), (manifest, value) => (manifest.addedFiles = value));
    case manifestFieldIds.existing_files_count:
      return into(numberReader(type), (manifest, value) => (manifest.existingFiles = value));
    case manifestFieldIds.deleted_files_count:
      return into(numberReader(type), (manifest, value) => (manifest.deletedFiles = value));
    case manifestFieldIds.added_rows_count:
      return into(bigintReader(type), (manifest, value) => (manifest.addedRows = value));
    case manifestFieldIds.existing_rows_count:
      return into(bigintReader(type), (manifest, value) => (manifest.existingRows = value));
    case manifestFieldIds.deleted_rows_count:
      return into(bigintReader(type), (manifest, value) => (manifest.deletedRows = value));
    case manifestFieldIds.partitions:
      return into(summariesReader(type), (manifest, value) => (manifest.partitions = value));
    case manifestFieldIds.key_metadata:
      return into(bytesReader(type), (manifest, value) => (manifest.keyMetadata = value));
    case manifestFieldIds.first_row_id:
      return into(bigintReader(type), (manifest, value) => (manifest.firstRowId = value));
    default:
      return valueSkipper(type);
  }
}

function into<T>(read: Read<T>, set: (manifest: Draft, value: T | undefined, cursor: ByteCursor) => unknown): Step {
  return (cursor, manifest) => {
    set(manifest, read(cursor), cursor);
  };
}

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

function summaryReader(record: AvroRecord): (cursor: ByteCursor) => FieldSummary {
  type Summary = { -readonly [Key in keyof FieldSummary]: FieldSummary[Key] };
  const steps = knownFields(record, summaryFieldIds).map(({ id, type }): ((cursor: ByteCursor, summary: Summary) => void) => {
    switch (id) {
      case summaryFieldIds.contains_null: {
        const read = booleanReader(type);
        return (cursor, summary) => {
          summary.containsNull = read(cursor) ?? true;
        };
      }
      case summaryFieldIds.contains_nan: {
        const read = booleanReader(type);
        return (cursor, summary) => {
          summary.containsNan = read(cursor);
        };
      }
      case summaryFieldIds.lower_bound:
      case summaryFieldIds.upper_bound: {
        const read = bytesReader(type);
        const place = id === summaryFieldIds.lower_bound ? 'lowerBound' : 'upperBound';
        return (cursor, summary) => {
          summary[place] = read(cursor);
        };
      }
      default:
        return valueSkipper(type);
    }
  });
  return (cursor) => {
    const summary: Summary = { containsNull: true, containsNan: undefined, lowerBound: undefined, upperBound: undefined };
    for (const step of steps) step(cursor, summary);
    return summary;
  };
}
