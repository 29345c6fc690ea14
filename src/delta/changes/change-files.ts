import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { ServiceError } from '../../base/errors.ts';
import { comparePaths } from '../../storage/path.ts';
import type { ChangeFile } from '../../table/changes.ts';
import { type Action, type AddFile, type CdcFile, physicalRows, type RemoveFile } from '../actions.ts';
import { commitInfoOf } from '../delta-snapshot.ts';

/** Where change files come from, for messages. */
interface ChangeSource {
  readonly table: string;
  readonly version: number;
}

/** The live file a `remove` ends, as the version before knew it; asked for only when the `remove` itself does not say enough. */
type FindRemoved = (file: RemoveFile) => Promise<AddFile | undefined>;

/**
 * The files that hold the row changes of one commit, in the order their rows are numbered. Recorded changes are all changes of a commit that
 * has any; else files that were added or removed with changed data are. Rewrites, metadata and other commits without changes have none.
 *
 * @throws ServiceError `CDF_UNSUPPORTED` (unsupported) naming the feature.
 */
export async function changeFilesOf(
  actions: readonly Action[],
  source: ChangeSource,
  findRemoved: FindRemoved,
): Promise<readonly ChangeFile[]> {
  const recorded = actions.filter((action) => action.kind === 'cdc');
  if (recorded.length > 0) return inOrder(recorded.map(recordedFile));
  if (isMergeWithoutChanges(actions)) return [];
  const files: ChangeFile[] = [];
  for (const action of actions) {
    if ((action.kind !== 'add' && action.kind !== 'remove') || !action.dataChange) continue;
    refuseDeletionVector(action, source);
    files.push(action.kind === 'add' ? insertFile(action) : await deleteFile(action, source, findRemoved));
  }
  return inOrder(files);
}

/**
 * A live file as rows to insert.
 *
 * @throws ServiceError `CDF_UNSUPPORTED` (unsupported) when it has a deletion vector.
 */
export function liveFile(file: AddFile, source: ChangeSource): ChangeFile {
  refuseDeletionVector(file, source);
  return insertFile(file);
}

const rank: Readonly<Record<ChangeFile['kind'], number>> = { delete: 0, recorded: 1, insert: 2 };

/** Deletes before inserts, then by the UTF-8 bytes of the path: the same for every reader of the version. */
export function inOrder(files: readonly ChangeFile[]): readonly ChangeFile[] {
  return [...files].sort((a, b) => rank[a.kind] - rank[b.kind] || comparePaths(a.path, b.path));
}

function recordedFile(file: CdcFile): ChangeFile {
  return { kind: 'recorded', path: file.storedPath, sizeBytes: file.sizeBytes, partitionValues: file.partitionValues, rowCount: undefined };
}

function insertFile(file: AddFile): ChangeFile {
  return {
    kind: 'insert',
    path: file.storedPath,
    sizeBytes: file.sizeBytes,
    partitionValues: file.partitionValues,
    rowCount: physicalRows(file.stats),
  };
}

async function deleteFile(file: RemoveFile, source: ChangeSource, findRemoved: FindRemoved): Promise<ChangeFile> {
  const { partitionValues, sizeBytes } = file;
  if (partitionValues !== undefined && sizeBytes !== undefined) {
    return { kind: 'delete', path: file.storedPath, sizeBytes, partitionValues, rowCount: physicalRows(file.stats) };
  }
  // Some writers leave out what the feed needs; the version before knows it.
  const added = await findRemoved(file);
  if (added !== undefined) return { ...insertFile(added), kind: 'delete' };
  throw unsupported(
    source,
    `remove of "${file.storedPath}" without partition values and size, and the version before does not know the file`,
  );
}

function refuseDeletionVector(file: AddFile | RemoveFile, source: ChangeSource): void {
  if (file.deletionVector === undefined) return;
  throw unsupported(source, `deletionVectors (file "${file.storedPath}")`);
}

function unsupported(source: ChangeSource, feature: string): ServiceError {
  return new ServiceError({
    code: 'CDF_UNSUPPORTED',
    kind: 'unsupported',
    message: `table "${source.table}": the rows of version ${source.version} cannot be read as changes: ${feature}`,
    hint: 'turn deletion vectors off for the table and purge them (REORG TABLE … APPLY (PURGE)), or start the feed after that version',
    context: { version: source.version },
  });
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
