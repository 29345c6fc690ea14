import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import type { Action, AddFile, CdcFile, DeletionVector, RemoveFile } from '../actions.ts';
import { commitInfoOf } from '../delta-snapshot.ts';

/** A file that stays in the table while other rows of it are deleted than before: its vectors on both sides of the version. */
export interface RedeletedFile {
  readonly file: AddFile;
  readonly before: DeletionVector | undefined;
  readonly after: DeletionVector | undefined;
}

/** Which files hold the row changes of one commit. */
export type RowChanges =
  /** Change files, which hold all changes of the commit. */
  | { readonly kind: 'recorded'; readonly files: readonly CdcFile[] }
  /** All live rows of added files are inserts, those of removed files deletes, and vectors that changed tell the rest. */
  | {
      readonly kind: 'inferred';
      readonly added: readonly AddFile[];
      readonly removed: readonly RemoveFile[];
      readonly redeleted: readonly RedeletedFile[];
    };

/**
 * The row changes of a commit, as the protocol infers them. Rewrites, metadata and a MERGE that changed nothing have none: `inferred`
 * without files.
 */
export function rowChangesOf(actions: readonly Action[]): RowChanges {
  const recorded = actions.filter((action) => action.kind === 'cdc');
  if (recorded.length > 0) return { kind: 'recorded', files: recorded };
  if (isMergeWithoutChanges(actions)) return { kind: 'inferred', added: [], removed: [], redeleted: [] };
  const adds = actions.filter((action) => action.kind === 'add').filter((file) => file.dataChange);
  const removes = actions.filter((action) => action.kind === 'remove').filter((file) => file.dataChange);
  const removedByPath = new Map(removes.map((file) => [file.storedPath, file]));
  const addedPaths = new Set(adds.map((file) => file.storedPath));
  const redeleted = adds.flatMap((file): readonly RedeletedFile[] => {
    const removed = removedByPath.get(file.storedPath);
    return removed === undefined ? [] : [{ file, before: removed.deletionVector, after: file.deletionVector }];
  });
  return {
    kind: 'inferred',
    added: adds.filter((file) => !removedByPath.has(file.storedPath)),
    removed: removes.filter((file) => !addedPaths.has(file.storedPath)),
    redeleted,
  };
}

/** The files that hold the row changes of a commit. */
export function filesOf(changes: RowChanges): readonly (AddFile | RemoveFile | CdcFile)[] {
  return changes.kind === 'recorded' ? changes.files : [...changes.removed, ...changes.redeleted.map(({ file }) => file), ...changes.added];
}

const mergeCounters = ['numTargetRowsInserted', 'numTargetRowsUpdated', 'numTargetRowsDeleted'];

/** A MERGE that matched rows and changed none may still rewrite their files, with `dataChange`, without recorded changes. */
function isMergeWithoutChanges(actions: readonly Action[]): boolean {
  const info = commitInfoOf(actions)?.body;
  const metrics: JsonValue | undefined = info?.['operationMetrics'];
  return info?.['operation'] === 'MERGE' && isJsonObject(metrics) && mergeCounters.every((counter) => isZero(metrics[counter]));
}

/** Engines write counters as text; some as numbers. */
function isZero(counter: JsonValue | undefined): boolean {
  return counter === '0' || counter === 0;
}
