import type { ProgressAdvance } from '../../table/commit.ts';
import { nextVersion } from '../../table/version.ts';
import type { TxnAction } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationCommit } from '../operations/operation-context.ts';
import { type FileChanges, fileCounts } from './file-changes.ts';

/** The marks of an upsert and what the history says of it, as of a stream that updates rows. */
export function upsertCommit(
  base: DeltaSnapshot,
  progress: readonly ProgressAdvance[],
  { changes, rows }: { readonly changes: FileChanges; readonly rows: number },
): OperationCommit {
  const counts = fileCounts(changes);
  const metrics = {
    numOutputRows: rows,
    numOutputBytes: counts.bytesAdded,
    numAddedFiles: counts.filesAdded,
    numRemovedFiles: counts.filesRemoved,
    numRemovedBytes: counts.bytesRemoved,
    numAddedChangeFiles: counts.changeFilesAdded,
    numDeletionVectorsAdded: counts.vectorsAdded,
    numDeletionVectorsRemoved: counts.vectorsRemoved,
    numDeletionVectorsUpdated: counts.vectorsUpdated,
  };
  return {
    operation: 'STREAMING UPDATE',
    operationParameters: {
      outputMode: 'Update',
      queryId: progress[0]?.writerId.split(':', 1)[0] ?? base.tableId,
      epochId: String(nextVersion(base.version)),
    },
    operationMetrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, String(value)])),
    actions: progress.map((advance): TxnAction => ({ kind: 'txn', appId: advance.writerId, version: advance.until })),
    isBlindAppend: false,
  };
}
