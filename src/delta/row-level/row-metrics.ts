import { type FileChanges, fileCounts } from './file-changes.ts';

/** Rows and times of an UPDATE or DELETE. */
interface RowNumbers {
  readonly copiedRows: bigint;
  readonly scanTimeMs: number;
  readonly rewriteTimeMs: number;
}

/** What the history says of an UPDATE or DELETE, as other engines name it; `executionTimeMs` comes with the commit. */
export function rowMetrics(changes: FileChanges, numbers: RowNumbers): Readonly<Record<string, string>> {
  const files = fileCounts(changes);
  return {
    numRemovedFiles: String(files.filesRemoved),
    numRemovedBytes: String(files.bytesRemoved),
    numAddedFiles: String(files.filesAdded),
    numAddedBytes: String(files.bytesAdded),
    numAddedChangeFiles: String(files.changeFilesAdded),
    numCopiedRows: String(numbers.copiedRows),
    numDeletionVectorsAdded: String(files.vectorsAdded),
    numDeletionVectorsRemoved: String(files.vectorsRemoved),
    numDeletionVectorsUpdated: String(files.vectorsUpdated),
    scanTimeMs: String(numbers.scanTimeMs),
    rewriteTimeMs: String(numbers.rewriteTimeMs),
  };
}
