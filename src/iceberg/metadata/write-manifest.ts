import { printJson } from '../../base/bigint-json.ts';
import { decimalBytes, tableAvroSchema } from '../../codec/avro/table-avro-schema.ts';
import { writeAvroFile } from '../../codec/avro/write-avro-file.ts';
import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import { uuidBytes } from '../../codec/uuid-text.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { avroCodecOf, headerOf, syncMarkerOf, unassignedSequenceNumber } from './avro-settings.ts';
import { contentFileRow, type ManifestEntry, type ManifestFile, type PartitionValue } from './content-file.ts';
import { FieldSummaries } from './field-summaries.ts';
import { entrySchema } from './manifest-schemas.ts';
import { partitionFieldsToJson } from './partition-spec-json.ts';
import { currentSchema, partitionType, specById } from './partition-type.ts';
import { schemaToJson } from './schema-json.ts';
import { refusedUpdate } from './spec-errors.ts';
import type { TableMetadata } from './table-metadata.ts';

export interface ManifestToWrite {
  /** For the format version, the schemas and the specs. */
  readonly metadata: TableMetadata;
  readonly specId: number;
  readonly content: ManifestFile['content'];
  /** Snapshot that the manifest is written by. */
  readonly snapshotId: bigint;
  /** Entries with a negative sequence number inherit the snapshot's: that is for files this commit adds alone. */
  readonly entries: readonly ManifestEntry[];
  /** As `write.manifest.compression-codec`. */
  readonly codec?: string | undefined;
}

export interface WrittenManifest {
  readonly bytes: Uint8Array;
  /**
   * What a manifest list says of it. The sequence number is `unassignedSequenceNumber`, the lowest one too when no live file has one of its
   * own; `writeManifestList` puts the snapshot's for them.
   */
  readonly description: Omit<ManifestFile, 'path'>;
}

/**
 * A manifest of the table's format version (https://iceberg.apache.org/spec/#manifests).
 *
 * @throws ServiceError `ICEBERG_UPDATE_REFUSED` (kind invalid) for a spec that the table does not have or a file of another content;
 *   `AVRO_VALUE_MISMATCH` (kind invalid); `ICEBERG_CODEC_UNKNOWN` (kind invalid).
 */
export async function writeManifest(manifest: ManifestToWrite): Promise<WrittenManifest> {
  const { metadata, specId, content, snapshotId, entries } = manifest;
  const { formatVersion } = metadata;
  const spec = specById(metadata, specId);
  if (spec === undefined) throw refusedUpdate(`Cannot write a manifest of unknown partition spec: ${specId}`);
  if (formatVersion === 1 && content === 'deletes') throw refusedUpdate('Cannot write delete files in a v1 table');
  const partition = partitionType(metadata, spec);
  const totals = new Totals(partition);
  const header = headerOf({
    schema: printJson(schemaToJson(currentSchema(metadata))),
    'schema-id': String(metadata.currentSchemaId),
    'partition-spec': printJson(partitionFieldsToJson(spec)),
    'partition-spec-id': String(specId),
    'format-version': String(formatVersion),
    content: formatVersion === 1 ? undefined : content,
  });
  const bytes = await writeAvroFile({
    schema: tableAvroSchema(entrySchema(formatVersion, partition), 'manifest_entry'),
    metadata: header,
    codec: avroCodecOf(manifest.codec),
    sync: syncMarkerOf(snapshotId, specId, content, entries.length, entries[0]?.file.path ?? '', entries.at(-1)?.file.path ?? ''),
    records: rows(manifest, partition, totals),
  });
  return { bytes, description: { ...totals.description(), length: bytes.byteLength, specId, content, addedSnapshotId: snapshotId } };
}

const statusCodes = { existing: 0, added: 1, deleted: 2 } as const;
/** What the first format version wants and nobody reads. */
const blockSizeInBytes = 64 * 1024 * 1024;

function* rows(
  { metadata, specId, content, entries }: ManifestToWrite,
  partition: StructType,
  totals: Totals,
): Generator<InputRow, void, undefined> {
  const tuple = tupleWriter(partition);
  for (const entry of entries) {
    const { file, status } = entry;
    if (file.specId !== specId)
      throw refusedUpdate(`Cannot write file of spec ${file.specId} to a manifest of spec ${specId}: ${file.path}`);
    if ((file.content === 'data') !== (content === 'data')) {
      throw refusedUpdate(`Cannot write file with content ${file.content} to a ${content} manifest: ${file.path}`);
    }
    if (status !== 'added' && (entry.sequenceNumber < 0n || entry.fileSequenceNumber < 0n)) {
      throw refusedUpdate(`Cannot write ${status} file without a sequence number: ${file.path}`);
    }
    totals.add(entry);
    yield {
      status: statusCodes[status],
      snapshot_id: entry.snapshotId,
      ...(metadata.formatVersion === 1
        ? {}
        : { sequence_number: assigned(entry.sequenceNumber), file_sequence_number: assigned(entry.fileSequenceNumber) }),
      data_file: contentFileRow(file, { partition: tuple(file.partition), block_size_in_bytes: blockSizeInBytes }),
    };
  }
}

function assigned(sequenceNumber: bigint): bigint | undefined {
  return sequenceNumber < 0n ? undefined : sequenceNumber;
}

/** Writes tuples under the names their Avro record has for the fields. */
function tupleWriter(partition: StructType): (tuple: readonly PartitionValue[]) => InputRow {
  const { fields: avroFields } = tableAvroSchema(partition, 'r102');
  const names = Array.isArray(avroFields) ? (avroFields as readonly { readonly name: string }[]).map(({ name }) => name) : [];
  const columns = partition.fields.map(({ type }, index) => ({ name: names[index] ?? '', write: valueWriter(type) }));
  return (tuple) => {
    const row: Record<string, InputValue> = {};
    for (const [index, { name, write }] of columns.entries()) {
      const value = tuple[index];
      row[name] = value === undefined ? undefined : write(value);
    }
    return row;
  };
}

/** Values that Avro stores in another form. */
function valueWriter(type: DataType): (value: NonNullable<PartitionValue>) => InputValue {
  if (type.kind === 'string' && type.format === 'uuid') return (value) => (typeof value === 'string' ? uuidBytes(value) : value);
  if (type.kind !== 'decimal') return (value) => value;
  const size = decimalBytes(type.precision);
  return (value) => (typeof value === 'bigint' ? paddedUnscaled(value, size) : value);
}

function paddedUnscaled(value: bigint, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let rest = value;
  for (let index = size - 1; index >= 0; index--) {
    bytes[index] = Number(BigInt.asUintN(8, rest));
    rest >>= 8n;
  }
  return bytes;
}

/** Counts what a manifest list says of a manifest. */
class Totals {
  readonly #summaries: FieldSummaries;
  readonly #files = { existing: 0, added: 0, deleted: 0 };
  readonly #rows = { existing: 0n, added: 0n, deleted: 0n };
  #minSequenceNumber: bigint | undefined;

  constructor(partition: StructType) {
    this.#summaries = new FieldSummaries(partition);
  }

  add({ status, file, sequenceNumber }: ManifestEntry): void {
    this.#files[status] += 1;
    this.#rows[status] += BigInt(file.recordCount);
    this.#summaries.add(file.partition);
    if (status === 'deleted' || sequenceNumber < 0n) return;
    const lowest = this.#minSequenceNumber;
    this.#minSequenceNumber = lowest === undefined || sequenceNumber < lowest ? sequenceNumber : lowest;
  }

  description(): Omit<ManifestFile, 'path' | 'length' | 'specId' | 'content' | 'addedSnapshotId'> {
    return {
      sequenceNumber: unassignedSequenceNumber,
      minSequenceNumber: this.#minSequenceNumber ?? unassignedSequenceNumber,
      addedFiles: this.#files.added,
      existingFiles: this.#files.existing,
      deletedFiles: this.#files.deleted,
      addedRows: this.#rows.added,
      existingRows: this.#rows.existing,
      deletedRows: this.#rows.deleted,
      partitions: this.#summaries.summaries(),
      keyMetadata: undefined,
      firstRowId: undefined,
    };
  }
}
