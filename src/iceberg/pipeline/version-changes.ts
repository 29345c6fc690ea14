import { isServiceError, ServiceError } from '../../base/errors.ts';
import type { ChangeFile, HeldChanges, VersionLink } from '../../table/changes.ts';
import type { Version } from '../../table/version.ts';
import { ancestorsOf, snapshotById } from '../ancestry.ts';
import type { IcebergView } from '../iceberg-view.ts';
import { appendedFiles } from '../scan/appended-files.ts';
import { liveFiles } from '../scan/live-files.ts';
import { snapshotIdOfVersion } from '../snapshot-at.ts';
import type { IcebergSnapshot } from '../spec/table-metadata.ts';
import { versionOf, viewOf } from '../view-of.ts';
import type { ChangeSource, FeedFiles } from './change-source.ts';
import { feedFilesOf } from './feed-files.ts';
import { recordedChanges } from './recorded-changes.ts';

/**
 * The row changes of one version, which is the sequence number of a snapshot in the branch's ancestry. Rewrites change no rows; a number that
 * is nobody's there (another branch's, or taken back) has no changes. Rows that an append brought in Parquet files of the table's own shape
 * are read from these files; everything else is computed by the engine into a file for the reader.
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
  const view = viewOf(newest.loaded, { snapshotId: snapshot.snapshotId });
  const changes = { ...base(view, version), link: linkOf(snapshot) };
  return gapWhenGone(source, version, async () => {
    const { operation } = snapshot.summary;
    if (operation === 'replace') return { ...changes, files: [] };
    if (operation !== 'append') return { ...changes, ...(await recordedChanges(source, view, snapshot, signal)) };
    const { parentSnapshotId } = snapshot;
    const added =
      parentSnapshotId === undefined
        ? await liveFiles(source.context, view, undefined, signal)
        : await appendedFiles(source.context, view, { after: parentSnapshotId }, signal);
    return { ...changes, ...(await feedFilesOf(source, view, added.data, signal)) };
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
  if (snapshot === undefined) throw gap(source, version, 'no snapshot of the branch has it any more');
  const view = viewOf(newest.loaded, { snapshotId: snapshot.snapshotId });
  return gapWhenGone(source, version, async () => {
    const live = await liveFiles(source.context, view, undefined, signal);
    const found: FeedFiles = await feedFilesOf(source, view, live.data, signal);
    return { ...base(view, version), link: linkOf(snapshot), ...found };
  });
}

function base(view: IcebergView, version: Version): Omit<HeldChanges, 'files'> & { readonly files: readonly ChangeFile[] } {
  return { version, committedAt: view.committedAt, schema: view.schema, partitionColumns: [], files: [] };
}

function linkOf({ snapshotId, parentSnapshotId }: IcebergSnapshot): VersionLink {
  return { id: String(snapshotId), previous: parentSnapshotId === undefined ? undefined : String(parentSnapshotId) };
}

function snapshotOf({ metadata, snapshot: head }: IcebergView, version: Version): IcebergSnapshot | undefined {
  const id = snapshotIdOfVersion(metadata, head?.snapshotId, version);
  return id === undefined ? undefined : snapshotById(metadata, id);
}

/** Snapshots of format version 1 have no numbers: what is counted changes when old ones are expired. */
function refuseUnnumbered({ context }: ChangeSource, { metadata }: IcebergView): void {
  if (metadata.formatVersion > 1) return;
  throw new ServiceError({
    code: 'CDF_UNSUPPORTED',
    kind: 'unsupported',
    message: `table "${context.name}" has format version 1, whose snapshots have no sequence numbers`,
    hint: "ALTER TABLE … SET TBLPROPERTIES ('format-version' = '2')",
  });
}

/** A version that no snapshot has: beyond the newest, expired, or never one of the branch's. */
function checkReach(source: ChangeSource, newest: IcebergView, version: Version): void {
  if (version > newest.version) {
    throw new ServiceError({
      code: 'TABLE_VERSION_NOT_FOUND',
      kind: 'not-found',
      message: `table "${source.context.name}": version ${version} not found, latest is ${newest.version}`,
    });
  }
  let oldest: IcebergSnapshot | undefined;
  for (const ancestor of ancestorsOf(newest.metadata, newest.snapshot)) oldest = ancestor;
  const isCut = oldest?.parentSnapshotId !== undefined;
  if (isCut && version < versionOf(newest.metadata, oldest)) throw gap(source, version, 'its snapshot was expired');
}

/** Files that an expired snapshot took with it. */
async function gapWhenGone<Result>(source: ChangeSource, version: Version, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const isGone = isServiceError(error) && (error.code === 'ICEBERG_FILE_MISSING' || error.code === 'ENGINE_FILE_MISSING');
    if (!isGone) throw error;
    throw gap(source, version, error.message, error);
  }
}

function gap({ context }: ChangeSource, version: Version, what: string, cause?: unknown): ServiceError {
  return new ServiceError({
    code: 'CDF_GAP',
    kind: 'not-found',
    message: `table "${context.name}": the changes of version ${version} are not available: ${what}`,
    hint: 'choose how the feed goes on: "onGap: resnapshot" publishes the current rows again, "onGap: skip" goes on with the oldest readable version, "onGap: fail" waits',
    context: { version },
    cause,
  });
}
