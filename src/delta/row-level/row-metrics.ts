import type { MergeOutcome } from '../../rows/merge/merge-outcome.ts';
import type { RowChange } from '../../rows/row-table.ts';
import type { RowCommand } from '../../rows/row-target.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { type FileChanges, fileCounts } from './file-changes.ts';

type Metrics = Readonly<Record<string, string>>;

/** An operation with the monotonic time at which its files were written. */
type Ended = RowChange<AddFile> & { readonly endedMs: number };

/** What the history says of an UPDATE or DELETE, as other engines name it; `executionTimeMs` comes with the commit. */
export function rowMetrics(command: RowCommand, changes: FileChanges, change: Ended): Metrics {
  const files = fileCounts(changes);
  const updates = command === 'update';
  return texts({
    // An UPDATE counts every file it takes rows from, as in Spark; the bytes are those of files that end.
    numRemovedFiles: updates ? change.readFiles.length : files.filesRemoved,
    numRemovedBytes: files.bytesRemoved,
    numAddedFiles: files.filesAdded,
    numAddedBytes: files.bytesAdded,
    numAddedChangeFiles: files.changeFilesAdded,
    numCopiedRows: change.copiedRows,
    numDeletionVectorsAdded: files.vectorsAdded,
    numDeletionVectorsRemoved: files.vectorsRemoved,
    numDeletionVectorsUpdated: files.vectorsUpdated,
    scanTimeMs: Math.round(change.scannedMs - change.startedMs),
    rewriteTimeMs: Math.round(change.endedMs - change.scannedMs),
    ...(updates ? { numUpdatedRows: change.updatedRows } : { numDeletedRows: change.deletedRows }),
  });
}

/** The same of a MERGE. */
export function mergeMetrics(changes: FileChanges, change: Ended & { readonly merge: MergeOutcome; readonly marksRows: boolean }): Metrics {
  const files = fileCounts(changes);
  const { counts, heldMs } = change.merge;
  const { updatedRows, deletedRows, insertedRows } = change;
  const written = changes.added.reduce((sum, file) => sum + BigInt(physicalRows(file.stats) ?? 0), 0n);
  const copied = change.marksRows ? 0n : written - updatedRows - insertedRows;
  return texts({
    numSourceRows: counts.source,
    numTargetRowsCopied: copied,
    numTargetRowsInserted: insertedRows,
    numTargetRowsUpdated: updatedRows,
    numTargetRowsMatchedUpdated: counts.matchedUpdated,
    numTargetRowsNotMatchedBySourceUpdated: counts.notMatchedBySourceUpdated,
    numTargetRowsDeleted: deletedRows,
    numTargetRowsMatchedDeleted: counts.matchedDeleted,
    numTargetRowsNotMatchedBySourceDeleted: counts.notMatchedBySourceDeleted,
    numOutputRows: copied + insertedRows + updatedRows,
    numTargetFilesAdded: files.filesAdded,
    numTargetFilesRemoved: files.filesRemoved,
    numTargetBytesAdded: files.bytesAdded,
    numTargetBytesRemoved: files.bytesRemoved,
    numTargetChangeFilesAdded: files.changeFilesAdded,
    numTargetDeletionVectorsAdded: files.vectorsAdded,
    numTargetDeletionVectorsRemoved: files.vectorsRemoved,
    numTargetDeletionVectorsUpdated: files.vectorsUpdated,
    materializeSourceTimeMs: Math.round(heldMs - change.startedMs),
    scanTimeMs: Math.round(change.scannedMs - heldMs),
    rewriteTimeMs: Math.round(change.endedMs - change.scannedMs),
  });
}

function texts(numbers: Readonly<Record<string, bigint | number>>): Metrics {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
}
