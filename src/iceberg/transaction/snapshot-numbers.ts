import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import { hasRowLineage } from '../metadata/format-features.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { assignFirstRowIds } from '../metadata/write-manifest-list.ts';
import { entriesOf, type MetadataSource } from '../scan/manifests.ts';

/** The manifests of a snapshot as its list needs them. */
export interface NumberedManifests {
  readonly manifests: readonly ManifestFile[];
  /** With the rows that took ids from there on; from format version 3 on. */
  readonly firstRowId: bigint | undefined;
  readonly addedRows: bigint | undefined;
}

/**
 * Manifests with what a list must say of them: counts, which lists of format version 1 may lack, and row ids
 * (https://iceberg.apache.org/spec/#first-row-id-assignment), from the table's next one on.
 */
export async function numbered(
  source: MetadataSource,
  metadata: TableMetadata,
  manifests: readonly ManifestFile[],
  signal: AbortSignal | undefined,
): Promise<NumberedManifests> {
  if (metadata.formatVersion === 1) return { manifests, firstRowId: undefined, addedRows: undefined };
  const counted: ManifestFile[] = [];
  for (const manifest of manifests) {
    counted.push(isCounted(manifest) ? manifest : { ...manifest, ...countsOf(await entriesOf(source, metadata, manifest, signal)) });
  }
  if (!hasRowLineage(metadata)) return { manifests: counted, firstRowId: undefined, addedRows: undefined };
  const firstRowId = metadata.nextRowId;
  const assigned = assignFirstRowIds(counted, firstRowId);
  return { manifests: assigned.manifests, firstRowId, addedRows: assigned.nextRowId - firstRowId };
}

function isCounted(manifest: ManifestFile): boolean {
  const { addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows } = manifest;
  return [addedFiles, existingFiles, deletedFiles, addedRows, existingRows, deletedRows].every((count) => count !== undefined);
}

type Counts = Pick<ManifestFile, 'addedFiles' | 'existingFiles' | 'deletedFiles' | 'addedRows' | 'existingRows' | 'deletedRows'>;

function countsOf(entries: readonly ManifestEntry[]): Counts {
  const files = { added: 0, existing: 0, deleted: 0 };
  const rows = { added: 0n, existing: 0n, deleted: 0n };
  for (const { status, file } of entries) {
    files[status] += 1;
    rows[status] += BigInt(file.recordCount);
  }
  return {
    addedFiles: files.added,
    existingFiles: files.existing,
    deletedFiles: files.deleted,
    addedRows: rows.added,
    existingRows: rows.existing,
    deletedRows: rows.deleted,
  };
}
