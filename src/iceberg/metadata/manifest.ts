import { serviceError } from '../../base/errors.ts';
import { avroCorrupt } from '../../codec/avro/avro-errors.ts';
import { blockCursor, checkBlockEnd, openAvroFile } from '../../codec/avro/read-avro-file.ts';
import { leastBytes } from '../../codec/avro/skip-values.ts';
import type { EntryStatus, FileContent, FileFormat, ManifestEntry, ManifestFile } from './content-file.ts';
import { contentFileOf, entryReader, type RawEntry } from './manifest-entry-reader.ts';
import { partitionReader, specOfManifest } from './partition-reader.ts';
import type { TableMetadata } from './table-metadata.ts';

/**
 * The entries of a manifest in file order, with what they inherit from its description in the manifest list filled in
 * (https://iceberg.apache.org/spec/#sequence-number-inheritance): snapshot ids, sequence numbers, first row ids. Maps by column are decoded
 * when they are asked for, and hold on to the file's bytes until then.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT`, `ICEBERG_METADATA_INVALID` (corrupt); `AVRO_UNSUPPORTED`, `ICEBERG_FILE_FORMAT_UNSUPPORTED`
 *   (unsupported) naming the manifest.
 */
export function readManifest(bytes: Uint8Array, manifest: ManifestFile, metadata: TableMetadata): readonly ManifestEntry[] {
  const name = `manifest ${manifest.path}`;
  const { container, type } = openAvroFile(bytes, { name });
  const known = specOfManifest(metadata, manifest.specId, container.metadata, name);
  const read = entryReader(type, (record) => partitionReader(record, known.metadata, known.spec));
  const inherit = inheritance(manifest, name);
  const rowBytes = leastBytes(type);
  const entries: ManifestEntry[] = [];
  for (const block of container.blocks()) {
    const cursor = blockCursor(block, rowBytes);
    for (let index = 0; index < block.rowCount; index++) entries.push(inherit(read(cursor, block)));
    checkBlockEnd(cursor);
  }
  checkCounts(entries, manifest, name);
  return entries;
}

/** The list's counts decide whether a manifest is read at all, so they must be those of its entries where they are given. */
function checkCounts(entries: readonly ManifestEntry[], manifest: ManifestFile, name: string): void {
  const found = { added: 0, existing: 0, deleted: 0 };
  for (const { status } of entries) found[status] += 1;
  const listed = { added: manifest.addedFiles, existing: manifest.existingFiles, deleted: manifest.deletedFiles };
  for (const status of statuses) {
    const count = listed[status];
    if (count === undefined || count === found[status]) continue;
    throw avroCorrupt(name, `${found[status]} entries are ${status}, its manifest list says ${count}`);
  }
}

const statuses: readonly EntryStatus[] = ['existing', 'added', 'deleted'];
const contents: readonly FileContent[] = ['data', 'position-deletes', 'equality-deletes'];

function inheritance(manifest: ManifestFile, name: string): (raw: RawEntry) => ManifestEntry {
  // Manifests of tables of the first version have no numbers.
  const numberless = manifest.sequenceNumber === 0n;
  let nextRowId = manifest.firstRowId;
  return ({ status: statusCode, snapshotId, sequenceNumber, fileSequenceNumber, file }) => {
    const status = statuses[statusCode];
    const content = contents[file.content];
    if (status === undefined) throw avroCorrupt(name, `an entry has the status ${statusCode}`);
    if (content === undefined) throw avroCorrupt(name, `an entry has the content ${file.content}`);
    if ((content === 'data') !== (manifest.content === 'data')) {
      throw avroCorrupt(name, `file ${file.path} has the content ${content} in a manifest of ${manifest.content}`);
    }
    if (file.recordCount < 0 || file.fileSizeBytes < 0) {
      throw avroCorrupt(name, `file ${file.path} is said to have ${file.recordCount} rows in ${file.fileSizeBytes} bytes`);
    }
    const inherited = numberless || status === 'added' ? manifest.sequenceNumber : undefined;
    const dataNumber = sequenceNumber ?? inherited;
    if (dataNumber === undefined) throw avroCorrupt(name, `${status} file ${file.path} has no sequence number`);
    if (dataNumber < 0n) throw avroCorrupt(name, `${status} file ${file.path} has the sequence number ${dataNumber}`);
    let firstRowId: bigint | undefined;
    if (nextRowId !== undefined && content === 'data') {
      firstRowId = file.firstRowId;
      if (firstRowId === undefined && status !== 'deleted') {
        firstRowId = nextRowId;
        nextRowId += BigInt(file.recordCount);
      }
    }
    return {
      status,
      snapshotId: snapshotId ?? manifest.addedSnapshotId,
      sequenceNumber: dataNumber,
      // Writers before it was there had the one number for both.
      fileSequenceNumber: fileSequenceNumber ?? inherited ?? dataNumber,
      file: contentFileOf(file, { content, format: formatOf(file.format, file.path, name), specId: manifest.specId, firstRowId }),
    };
  };
}

function formatOf(text: string, path: string, name: string): FileFormat {
  switch (text) {
    case 'PARQUET':
      return 'parquet';
    case 'PUFFIN':
      return 'puffin';
    default: {
      const lower = text.toLowerCase();
      if (lower === 'parquet' || lower === 'avro' || lower === 'orc' || lower === 'puffin') return lower;
      throw serviceError.unsupported('ICEBERG_FILE_FORMAT_UNSUPPORTED', `${name}: file ${path} has the format "${text}"`, {
        hint: 'parquet, avro and orc data files are read; rewrite the file with an engine that has its format',
      });
    }
  }
}
