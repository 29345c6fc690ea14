import { serviceError } from '../../base/errors.ts';
import { comparePaths } from '../../storage/path.ts';
import type { ChangeFile } from '../../table/changes.ts';
import {
  type Action,
  type AddFile,
  type CdcFile,
  type DeletionVector,
  isEmptyVector,
  liveRows,
  physicalRows,
  type RemoveFile,
} from '../actions.ts';
import { positionsWithout } from '../deletion-vectors/position-sets.ts';
import { readDeletionVector, type VectorSource } from '../deletion-vectors/read-deletion-vector.ts';
import { type RedeletedFile, rowChangesOf } from './row-changes.ts';

/** Where change files come from. */
export interface ChangeSource extends VectorSource {
  readonly version: number;
  readonly signal?: AbortSignal | undefined;
}

/** The live file a `remove` ends, as the version before knew it; asked for only when the `remove` itself does not say enough. */
type FindRemoved = (file: RemoveFile) => Promise<AddFile | undefined>;

/**
 * The files that hold the row changes of one commit, in the order their rows are numbered. Recorded changes are all changes of a commit that
 * has any; else files that were added or removed with changed data are, and rows that deletion vectors came to cover or to leave. Rewrites,
 * metadata and other commits without changes have none.
 *
 * @throws ServiceError `CDF_UNSUPPORTED` (unsupported), and what `readDeletionVector` throws.
 */
export async function changeFilesOf(
  actions: readonly Action[],
  source: ChangeSource,
  findRemoved: FindRemoved,
): Promise<readonly ChangeFile[]> {
  const changes = rowChangesOf(actions);
  if (changes.kind === 'recorded') return inOrder(changes.files.map(recordedFile));
  const files: ChangeFile[] = [];
  for (const file of changes.removed) files.push(await deleteFile(file, source, findRemoved));
  for (const file of changes.redeleted) files.push(...(await redeletedFiles(file, source)));
  for (const file of changes.added) files.push(await liveFile(file, source));
  return inOrder(files);
}

/** A live file as rows to insert. */
export async function liveFile(file: AddFile, source: ChangeSource): Promise<ChangeFile> {
  return {
    kind: 'insert',
    path: file.storedPath,
    sizeBytes: file.sizeBytes,
    partitionValues: file.partitionValues,
    rowCount: liveRows(file),
    ...(await withoutDeleted(file, source)),
  };
}

const rank: Readonly<Record<ChangeFile['kind'], number>> = { delete: 0, recorded: 1, insert: 2 };

/** Deletes before inserts, then by the UTF-8 bytes of the path: the same for every reader of the version. */
export function inOrder(files: readonly ChangeFile[]): readonly ChangeFile[] {
  return [...files].sort((a, b) => rank[a.kind] - rank[b.kind] || comparePaths(a.path, b.path));
}

function recordedFile(file: CdcFile): ChangeFile {
  return { kind: 'recorded', path: file.storedPath, sizeBytes: file.sizeBytes, partitionValues: file.partitionValues, rowCount: undefined };
}

async function deleteFile(file: RemoveFile, source: ChangeSource, findRemoved: FindRemoved): Promise<ChangeFile> {
  const { partitionValues, sizeBytes } = file;
  if (partitionValues !== undefined && sizeBytes !== undefined) {
    const rows = physicalRows(file.stats);
    return {
      kind: 'delete',
      path: file.storedPath,
      sizeBytes,
      partitionValues,
      rowCount: rows === undefined ? undefined : rows - (file.deletionVector?.cardinality ?? 0),
      ...(await withoutDeleted(file, source)),
    };
  }
  // Some writers leave out what the feed needs; the version before knows it.
  const added = await findRemoved(file);
  if (added !== undefined) return { ...(await liveFile(added, source)), kind: 'delete' };
  throw serviceError.unsupported(
    'CDF_UNSUPPORTED',
    `table "${source.name}": the rows of version ${source.version} cannot be read as changes: remove of "${file.storedPath}" without partition values and size, and the version before does not know the file`,
    { hint: 'start the feed after that version', context: { version: source.version } },
  );
}

/** Rows in the vector after the version and not before it were deleted by it; the other way round they came back. */
async function redeletedFiles(change: RedeletedFile, source: ChangeSource): Promise<readonly ChangeFile[]> {
  const { storedPath: path, sizeBytes, partitionValues } = change.file;
  const before = await positionsOf(change.before, change.file, source);
  const after = await positionsOf(change.after, change.file, source);
  const sides = [
    { kind: 'delete', onlyRows: positionsWithout(after, before) },
    { kind: 'insert', onlyRows: positionsWithout(before, after) },
  ] as const;
  return sides
    .filter(({ onlyRows }) => onlyRows.length > 0)
    .map(({ kind, onlyRows }) => ({ kind, path, sizeBytes, partitionValues, rowCount: onlyRows.length, onlyRows }));
}

async function withoutDeleted(
  file: Pick<AddFile, 'stats' | 'deletionVector'>,
  source: ChangeSource,
): Promise<Pick<ChangeFile, 'deletedRows'>> {
  const vector = file.deletionVector;
  return vector === undefined || isEmptyVector(vector) ? {} : { deletedRows: await positionsOf(vector, file, source) };
}

async function positionsOf(
  vector: DeletionVector | undefined,
  { stats }: Pick<AddFile, 'stats'>,
  source: ChangeSource,
): Promise<BigInt64Array> {
  return vector === undefined ? new BigInt64Array(0) : readDeletionVector(source, { vector, rows: physicalRows(stats) }, source.signal);
}
