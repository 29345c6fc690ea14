import { isServiceError, serviceError } from '../../base/errors.ts';
import type { ChangeFile, HeldChanges, VersionLink } from '../../table/changes.ts';
import { changesGone } from '../../table/changes-gone.ts';
import type { Version } from '../../table/version.ts';
import { ancestorsOf, snapshotById } from '../ancestry.ts';
import { isRewrite } from '../changes/changelog-range.ts';
import { type ChangedFile, inOrder, snapshotChanges } from '../changes/snapshot-changes.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import { deletedRowsIn } from '../scan/file-scan.ts';
import { liveFiles } from '../scan/live-files.ts';
import { snapshotIdOfVersion } from '../snapshot-at.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { snapshotStateOf, versionOf } from '../snapshot-state-of.ts';
import type { ChangeSource } from './change-source.ts';
import { holdsData } from './empties-table.ts';
import { feedFilesOf } from './feed-files.ts';
import { recordedChanges } from './recorded-changes.ts';

/**
 * The row changes of one version, which is the sequence number of a snapshot in the branch's ancestry. Rewrites change no rows; a number that
 * is nobody's there (another branch's, or taken back) has no changes. Rows of a version that only adds rows, or only takes some away, are read from
 * the table's own files; what does both is computed by the engine into a file for the reader.
 *
 * @throws ServiceError `CDF_GAP` (not-found) when the snapshot was expired, `CDF_UNSUPPORTED` (unsupported), `TABLE_VERSION_NOT_FOUND`
 * (not-found) beyond the newest version.
 */
export async function changesOfVersion(source: ChangeSource, version: Version, signal?: AbortSignal): Promise<HeldChanges> {
  const newest = await source.context.refresh(signal);
  refuseUnnumbered(source, newest);
  const snapshot = snapshotOf(newest, version);
  if (snapshot === undefined) {
    checkReach(source, newest, version);
    return { ...base(newest, version), files: [] };
  }
  const state = snapshotStateOf(newest.loaded, { snapshotId: snapshot.snapshotId });
  const changes = { ...base(state, version), link: linkOf(snapshot) };
  return gapWhenGone(source, version, async () => {
    if (isRewrite(snapshot)) return { ...changes, files: [] };
    const changed = await snapshotChanges(source.context, state, snapshot, signal);
    const [first] = changed;
    // Rows that a snapshot only moved, and both halves of an update, come as changes of both kinds.
    const isMixed = changed.some(({ change }) => change !== first?.change);
    if (isMixed) return { ...changes, ...(await recordedChanges(source, state, snapshot, signal)) };
    const empties = first?.change === 'DELETE' && !(await holdsData(source.context, state, signal));
    return { ...changes, empties, files: await feedFilesOf(source, state, changed, signal) };
  });
}

/**
 * The live rows of one version.
 *
 * @throws ServiceError as `changesOfVersion`; `CDF_GAP` also for a version that is not in the branch's ancestry any more.
 */
export async function rowsAtVersion(source: ChangeSource, version: Version, signal?: AbortSignal): Promise<HeldChanges> {
  const newest = await source.context.refresh(signal);
  refuseUnnumbered(source, newest);
  if (version === 0 && newest.snapshot === undefined) return { ...base(newest, version), files: [] };
  const snapshot = snapshotOf(newest, version);
  if (snapshot === undefined) throw changesGone(source.context.name, version, 'no snapshot of the branch has it any more');
  const state = snapshotStateOf(newest.loaded, { snapshotId: snapshot.snapshotId });
  return gapWhenGone(source, version, async () => {
    const files = await liveRows(source, state, signal);
    return { ...base(state, version), link: linkOf(snapshot), files: await feedFilesOf(source, state, files, signal) };
  });
}

async function liveRows({ context }: ChangeSource, state: SnapshotState, signal: AbortSignal | undefined): Promise<readonly ChangedFile[]> {
  const { data: files } = await liveFiles(context, state, undefined, signal);
  const deletedRows = deletedRowsIn(context, state, files);
  return files.map((file): ChangedFile => ({ entry: file.entry, change: 'INSERT', deletedRows: deletedRows(file) })).toSorted(inOrder);
}

function base(state: SnapshotState, version: Version): Omit<HeldChanges, 'files'> & { readonly files: readonly ChangeFile[] } {
  return { version, committedAt: state.committedAt, schema: state.schema, partitionColumns: [], files: [] };
}

function linkOf({ snapshotId, parentSnapshotId }: IcebergSnapshot): VersionLink {
  return { id: String(snapshotId), previous: parentSnapshotId === undefined ? undefined : String(parentSnapshotId) };
}

function snapshotOf({ metadata, snapshot: head }: SnapshotState, version: Version): IcebergSnapshot | undefined {
  const id = snapshotIdOfVersion(metadata, head?.snapshotId, version);
  return id === undefined ? undefined : snapshotById(metadata, id);
}

/** Snapshots of format version 1 have no numbers: what is counted changes when old ones are expired. */
function refuseUnnumbered({ context }: ChangeSource, { metadata }: SnapshotState): void {
  if (metadata.formatVersion > 1) return;
  throw serviceError.unsupported(
    'CDF_UNSUPPORTED',
    `table "${context.name}" has format version 1, whose snapshots have no sequence numbers`,
    { hint: "ALTER TABLE … SET TBLPROPERTIES ('format-version' = '2')" },
  );
}

/** A version that no snapshot has: beyond the newest, expired, or never one of the branch's. */
function checkReach(source: ChangeSource, newest: SnapshotState, version: Version): void {
  if (version > newest.version) {
    throw serviceError.notFound(
      'TABLE_VERSION_NOT_FOUND',
      `table "${source.context.name}": version ${version} not found, latest is ${newest.version}`,
    );
  }
  let oldest: IcebergSnapshot | undefined;
  for (const ancestor of ancestorsOf(newest.metadata, newest.snapshot)) oldest = ancestor;
  const isCut = oldest?.parentSnapshotId !== undefined;
  if (isCut && version < versionOf(newest.metadata, oldest)) throw changesGone(source.context.name, version, 'its snapshot was expired');
}

/** Files that an expired snapshot took with it. */
async function gapWhenGone<Result>(source: ChangeSource, version: Version, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const isGone = isServiceError(error) && (error.code === 'ICEBERG_FILE_MISSING' || error.code === 'ENGINE_FILE_MISSING');
    if (!isGone) throw error;
    throw changesGone(source.context.name, version, error.message, { cause: error });
  }
}
