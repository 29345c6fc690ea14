import type { ContentFile, ManifestEntry, ManifestFile } from '../../src/iceberg/metadata/content-file.ts';
import type { TableMetadata } from '../../src/iceberg/metadata/table-metadata.ts';
import { writeManifest } from '../../src/iceberg/metadata/write-manifest.ts';

/** A manifest of one added file, as its list describes it. */
export const listed: ManifestFile = {
  path: 'm0.avro',
  length: 0,
  specId: 0,
  content: 'data',
  sequenceNumber: 7n,
  minSequenceNumber: 7n,
  addedSnapshotId: 70n,
  addedFiles: 1,
  existingFiles: 0,
  deletedFiles: 0,
  addedRows: 10n,
  existingRows: 0n,
  deletedRows: 0n,
  partitions: undefined,
  keyMetadata: undefined,
  firstRowId: undefined,
};

/** A manifest of which the list says nothing but what its entries inherit. */
export const uncounted: ManifestFile = { ...listed, addedFiles: undefined, existingFiles: undefined, deletedFiles: undefined };

export const uncountedDeletes: ManifestFile = { ...uncounted, content: 'deletes' };

export function file(path: string, more: Partial<ContentFile> = {}): ContentFile {
  return {
    content: 'data',
    path,
    format: 'parquet',
    specId: 0,
    partition: [],
    recordCount: 10,
    fileSizeBytes: 1234,
    columnSizes: new Map([[1, 2 ** 40]]),
    valueCounts: new Map([[1, 10]]),
    nullValueCounts: new Map([[1, 0]]),
    nanValueCounts: undefined,
    lowerBounds: new Map([[1, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)]]),
    upperBounds: new Map([[1, Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0)]]),
    keyMetadata: undefined,
    splitOffsets: [4],
    equalityIds: undefined,
    sortOrderId: 0,
    firstRowId: undefined,
    referencedDataFile: undefined,
    contentOffset: undefined,
    contentSizeBytes: undefined,
    ...more,
  };
}

export function entry(status: ManifestEntry['status'], sequenceNumber: number, of: ContentFile): ManifestEntry {
  const number = BigInt(sequenceNumber);
  return { status, snapshotId: 9_007_199_254_740_993n, sequenceNumber: number, fileSequenceNumber: number, file: of };
}

export async function written(
  metadata: TableMetadata,
  entries: readonly ManifestEntry[],
  content: ManifestFile['content'] = 'data',
): ReturnType<typeof writeManifest> {
  return await writeManifest({ metadata, specId: 0, content, snapshotId: 70n, entries });
}
