import { isServiceError } from '../../../base/errors.ts';
import { unsupportedFeature } from '../../../base/unsupported-feature.ts';
import type { ManifestFile } from '../../metadata/content-file.ts';
import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import { readMetadataFile } from '../../pointer/metadata-files.ts';
import { fileNameOf } from '../../pointer/metadata-names.ts';
import type { LoadedMetadata } from '../../pointer/table-pointer.ts';
import { manifestsOf } from '../../scan/manifests.ts';
import type { TableContext } from '../../table-context.ts';
import { illegalArgument } from '../operation-errors.ts';

/** The versions of a table's metadata that are moved. */
export interface Versions {
  /** Metadata file that is the newest in the target. */
  readonly end: string;
  /** Metadata file that is in the target already; `undefined`: nothing is. */
  readonly start: string | undefined;
  /** Metadata files that go, the newest first. */
  readonly files: readonly string[];
}

/** @throws AnalysisException `INVALID_ARGUMENT` for a version that the table's metadata log does not have. */
export async function versionsToMove(
  context: TableContext,
  { metadata, metadataLocation = '' }: LoadedMetadata,
  { startVersion, endVersion }: { readonly startVersion?: string | undefined; readonly endVersion?: string | undefined },
  signal: AbortSignal | undefined,
): Promise<Versions> {
  const known = [metadataLocation, ...metadata.metadataLog.map(({ metadataFile }) => metadataFile).toReversed()];
  const named = async (version: string, what: string): Promise<string> => {
    if (version.trim() === '') throw illegalArgument(`${what} version('${version}') cannot be empty.`);
    const file = known.findLast((path) => fileNameOf(path) === version);
    if (file === undefined)
      throw illegalArgument(`Cannot find provided version file ${version} in metadata log.`, known.map(fileNameOf).slice(0, 10).join(', '));
    await mustExist(context, file, signal);
    return file;
  };
  const end = endVersion === undefined ? metadataLocation : await named(endVersion, 'End');
  const start = startVersion === undefined ? undefined : await named(startVersion, 'Start');
  const log = end === metadataLocation ? metadata : (await readMetadataFile(context.files, end, signal)).metadata;
  const earlier = log.metadataLog.map(({ metadataFile }) => metadataFile).toReversed();
  const until = start === undefined ? -1 : earlier.indexOf(start);
  const files = [end, ...(until < 0 ? earlier : earlier.slice(0, until))];
  for (const file of files.slice(1)) await mustExist(context, file, signal);
  return { end, start, files };
}

/** What of the snapshots is moved. */
export interface MovedSnapshots {
  /** Those whose lists are rewritten. */
  readonly snapshots: readonly IcebergSnapshot[];
  /** By path: manifests that are rewritten. */
  readonly manifests: ReadonlyMap<string, ManifestFile>;
}

/**
 * Lists of snapshots that the start does not have, and the manifests in them that snapshots since then have made.
 *
 * @param moved ids of the snapshots of all versions that are moved and not in the start.
 * @throws AnalysisException `UNSUPPORTED_FEATURE` for a version some of whose snapshots have expired.
 */
export async function snapshotsToMove(
  context: TableContext,
  { start, end }: { readonly start: TableMetadata | undefined; readonly end: TableMetadata },
  moved: ReadonlySet<bigint>,
  signal: AbortSignal | undefined,
): Promise<MovedSnapshots> {
  const before = new Set(start?.snapshots.map(({ snapshotId }) => snapshotId));
  const snapshots: IcebergSnapshot[] = [];
  const chosen = new Map<string, ManifestFile>();
  // The newest list says most of a manifest: row ids that an upgrade has given it.
  for (const snapshot of end.snapshots.toReversed()) {
    const manifests = await listed(context, end, snapshot, signal);
    if (before.has(snapshot.snapshotId)) continue;
    snapshots.push(snapshot);
    for (const manifest of manifests) {
      if (start !== undefined && !moved.has(manifest.addedSnapshotId)) continue;
      if (!chosen.has(manifest.path)) chosen.set(manifest.path, manifest);
    }
  }
  return { snapshots, manifests: chosen };
}

async function listed(
  context: TableContext,
  metadata: TableMetadata,
  snapshot: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<readonly ManifestFile[]> {
  try {
    return await manifestsOf(context, metadata, snapshot, signal);
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
    throw unsupportedFeature(
      `table "${context.name}": the manifest list of snapshot ${snapshot.snapshotId} is gone, which the end version still has`,
      {
        hint: 'choose an end_version whose snapshots are all there: leave it out for the newest',
        cause: error,
      },
    );
  }
}

async function mustExist({ files }: TableContext, location: string, signal: AbortSignal | undefined): Promise<void> {
  if ((await files.head(location, signal)) === undefined)
    throw illegalArgument(`Version file ${location} does not exist.`, 'give a start_version that is there and in the target already');
}
