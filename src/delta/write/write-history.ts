import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { type AddFile, physicalRows } from '../actions.ts';
import { predicateText } from './replaced-rows.ts';

/** Files of a write, by what became of them. */
interface WrittenFiles {
  /** Files with the request's rows. */
  readonly added: readonly AddFile[];
  /** Files with rows that were there and stay. */
  readonly copied: readonly AddFile[];
  readonly removed: readonly AddFile[];
  readonly changeFiles: number;
  /** Rows taken out by `replaceWhere`, as far as known. */
  readonly deletedRows?: number | undefined;
}

const streamingUpdate = 'STREAMING UPDATE';

/** What the history says a write was asked to do; values as other engines write them. */
export function writeParameters(request: WriteRequest): JsonObject {
  const { mode, idempotency } = request;
  if (request.operation === streamingUpdate) {
    return {
      outputMode: mode.kind === 'append' ? 'Append' : 'Complete',
      queryId: idempotency?.appId ?? '',
      epochId: String(idempotency?.version ?? 0n),
    };
  }
  return {
    mode: mode.kind === 'append' ? 'Append' : 'Overwrite',
    partitionBy: printJson(request.partitionBy ?? []),
    predicate: mode.kind === 'overwrite' && mode.replaceWhere !== undefined ? predicateText(mode.replaceWhere) : undefined,
    canMergeSchema: request.mergeSchema === true ? true : undefined,
    canOverwriteSchema: request.overwriteSchema === true ? true : undefined,
    isDynamicPartitionOverwrite: mode.kind === 'overwrite-partitions' ? true : undefined,
  };
}

/** What the history says a write did. */
export function writeMetrics(request: WriteRequest, files: WrittenFiles): Readonly<Record<string, string>> {
  const { added, copied, removed } = files;
  const all = [...added, ...copied];
  if (request.operation === streamingUpdate) {
    return {
      numRemovedFiles: String(removed.length),
      numOutputRows: String(rowsIn(added)),
      numOutputBytes: String(bytesIn(all)),
      numAddedFiles: String(all.length),
    };
  }
  const { mode } = request;
  return {
    numFiles: String(all.length),
    ...(mode.kind === 'append' ? {} : { numRemovedFiles: String(removed.length), numRemovedBytes: String(bytesIn(removed)) }),
    ...(mode.kind === 'overwrite' && mode.replaceWhere !== undefined
      ? {
          numCopiedRows: String(rowsIn(copied)),
          numAddedChangeFiles: String(files.changeFiles),
          ...(files.deletedRows === undefined ? {} : { numDeletedRows: String(files.deletedRows) }),
        }
      : {}),
    numOutputRows: String(rowsIn(added)),
    numOutputBytes: String(bytesIn(all)),
  };
}

/** Rows by the statistics; files just written have them. */
export function rowsIn(files: readonly AddFile[]): number {
  return files.reduce((sum, file) => sum + (physicalRows(file.stats) ?? 0), 0);
}

export function bytesIn(files: readonly AddFile[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}
