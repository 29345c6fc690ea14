import { compress } from '../../codec/compression.ts';
import { tableMetadataBytes } from '../metadata/print-table-metadata.ts';
import { readTableMetadata } from '../metadata/read-table-metadata.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { TableFiles } from '../table-files.ts';
import type { MetadataCodec } from './metadata-names.ts';
import type { LoadedMetadata } from './table-pointer.ts';

const cleanUpProperty = 'write.metadata.delete-after-commit.enabled';

/** @throws ServiceError `STORAGE_NOT_FOUND`, or kind corrupt or unsupported for a file that is no metadata this version reads. */
export async function readMetadataFile(files: TableFiles, location: string, signal?: AbortSignal): Promise<LoadedMetadata> {
  return { metadata: readTableMetadata(await files.read(location, signal), location), metadataLocation: location };
}

/** The bytes of a metadata file. */
export async function metadataBytes(metadata: TableMetadata, codec: MetadataCodec): Promise<Uint8Array> {
  const bytes = tableMetadataBytes(metadata);
  return codec === 'gzip' ? await compress('gzip', bytes) : bytes;
}

/**
 * Deletes the metadata files that a commit has dropped from the metadata log, oldest first, when the table asks for it. Best effort: what
 * cannot be deleted stays until orphan files are removed. Never throws.
 */
export async function deleteDroppedMetadata(files: TableFiles, base: TableMetadata | undefined, metadata: TableMetadata): Promise<void> {
  if (base === undefined || metadata.properties[cleanUpProperty]?.toLowerCase() !== 'true') return;
  const kept = new Set(metadata.metadataLog.map((entry) => entry.metadataFile));
  for (const { metadataFile } of base.metadataLog) {
    if (!kept.has(metadataFile)) await leaveOnFailure(files.delete(metadataFile));
  }
}

/** Waits for a step after the commit whose failure changes nothing about it. */
export async function leaveOnFailure(step: Promise<unknown>): Promise<void> {
  await step.then(
    () => undefined,
    () => undefined,
  );
}
