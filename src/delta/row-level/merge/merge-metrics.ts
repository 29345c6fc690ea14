import { type FileChanges, fileCounts } from '../file-changes.ts';

interface MergeTimes {
  readonly materializeSourceTimeMs: number;
  readonly scanTimeMs: number;
  readonly rewriteTimeMs: number;
}

/** Rows of a MERGE by what happened to them. */
export interface MergeCounts {
  readonly source: bigint;
  readonly inserted: bigint;
  readonly matchedUpdated: bigint;
  readonly matchedDeleted: bigint;
  readonly notMatchedBySourceUpdated: bigint;
  readonly notMatchedBySourceDeleted: bigint;
  /** Unchanged rows of rewritten files. */
  readonly copied: bigint;
}

/** What the history says of a MERGE, as other engines name it; `executionTimeMs` comes with the commit. */
export function mergeMetrics(changes: FileChanges, counts: MergeCounts, times: MergeTimes): Readonly<Record<string, string>> {
  const files = fileCounts(changes);
  const updated = counts.matchedUpdated + counts.notMatchedBySourceUpdated;
  const numbers: Readonly<Record<string, bigint | number>> = {
    numSourceRows: counts.source,
    numTargetRowsCopied: counts.copied,
    numTargetRowsInserted: counts.inserted,
    numTargetRowsUpdated: updated,
    numTargetRowsMatchedUpdated: counts.matchedUpdated,
    numTargetRowsNotMatchedBySourceUpdated: counts.notMatchedBySourceUpdated,
    numTargetRowsDeleted: counts.matchedDeleted + counts.notMatchedBySourceDeleted,
    numTargetRowsMatchedDeleted: counts.matchedDeleted,
    numTargetRowsNotMatchedBySourceDeleted: counts.notMatchedBySourceDeleted,
    numOutputRows: counts.copied + counts.inserted + updated,
    numTargetFilesAdded: files.filesAdded,
    numTargetFilesRemoved: files.filesRemoved,
    numTargetBytesAdded: files.bytesAdded,
    numTargetBytesRemoved: files.bytesRemoved,
    numTargetChangeFilesAdded: files.changeFilesAdded,
    numTargetDeletionVectorsAdded: files.vectorsAdded,
    numTargetDeletionVectorsRemoved: files.vectorsRemoved,
    numTargetDeletionVectorsUpdated: files.vectorsUpdated,
    ...times,
  };
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
}
