import type { InputRow } from '../../codec/build-columns.ts';
import { bodyOf } from '../action-json.ts';
import type { Action, AddFile, RemoveFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { partitionTypes, statisticsTypes } from './checkpoint-schema.ts';
import { parsedPartitionValues, parsedStatistics } from './struct-statistics.ts';

/** What a snapshot holds beside its files: protocol, metadata, progress marks that have not expired, domains. */
export function stateActions(snapshot: DeltaSnapshot, nowMs: number): readonly Action[] {
  const { transactionRetentionMs } = snapshot.settings;
  const oldestMs = transactionRetentionMs === undefined ? Number.NEGATIVE_INFINITY : nowMs - transactionRetentionMs;
  // A mark without a time is for ever.
  const txns = [...snapshot.txns()].filter((txn) => (txn.lastUpdatedMs ?? Number.POSITIVE_INFINITY) >= oldestMs);
  return [snapshot.protocol, snapshot.metadata, ...txns, ...snapshot.domains()];
}

/** Live files, and removed ones that readers of older versions may still use. */
export function fileActions(snapshot: DeltaSnapshot, nowMs: number): readonly (AddFile | RemoveFile)[] {
  const expiredBeforeMs = nowMs - snapshot.settings.deletedFileRetentionMs;
  const removed = [...snapshot.tombstones()].filter((file) => (file.deletedMs ?? 0) > expiredBeforeMs);
  return [...removed.map((file) => ({ ...file, dataChange: false, stats: undefined, tags: undefined })), ...snapshot.files()];
}

/** An action as a row of a checkpoint file. */
export function rowOf(action: Action): InputRow {
  return { [action.kind]: bodyOf(action) };
}

/** Makes rows of file actions, with statistics as the table wants them. */
export function fileRows(snapshot: DeltaSnapshot): (file: AddFile | RemoveFile) => InputRow {
  const { checkpointStatsAsStruct } = snapshot.settings;
  const statistics = checkpointStatsAsStruct ? statisticsTypes(snapshot) : undefined;
  const partitions = checkpointStatsAsStruct ? partitionTypes(snapshot) : undefined;
  return (file) => {
    const body = bodyOf({ ...file, dataChange: false });
    if (file.kind !== 'add' || statistics === undefined || partitions === undefined) return { [file.kind]: body };
    const parsed = {
      stats_parsed: parsedStatistics(file.stats, statistics),
      partitionValues_parsed: parsedPartitionValues(file.partitionValues, partitions),
    };
    return { add: { ...body, ...parsed } };
  };
}
