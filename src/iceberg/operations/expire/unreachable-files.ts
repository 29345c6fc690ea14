import { isServiceError } from '../../../base/errors.ts';
import type { FileContent, ManifestFile } from '../../metadata/content-file.ts';
import type { IcebergSnapshot, TableMetadata } from '../../metadata/table-metadata.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../../scan/manifests.ts';

/** Files that only expired snapshots refer to. */
export interface UnreachableFiles {
  readonly content: ReadonlyMap<string, FileContent>;
  readonly manifests: readonly string[];
  readonly manifestLists: readonly string[];
  readonly statistics: readonly string[];
}

/**
 * The files of metadata before that metadata after does not refer to: whole sets are compared, for a file that one snapshot removed may be
 * part of another. What is removed of the data is looked for only in manifests that go themselves.
 *
 * @throws ServiceError when a manifest of a snapshot that stays cannot be read: nothing is known then.
 */
export async function unreachableFiles(
  source: MetadataSource,
  before: TableMetadata,
  after: TableMetadata,
  signal?: AbortSignal,
): Promise<UnreachableFiles> {
  const staying = new Set(after.snapshots.map(({ snapshotId }) => snapshotId));
  const gone = before.snapshots.filter(({ snapshotId }) => !staying.has(snapshotId));
  const kept = await manifestsOfAll(source, after, after.snapshots, signal);
  const lost = new Map<string, ManifestFile>();
  for (const snapshot of gone) {
    const manifests = await presentOr([], () => manifestsOf(source, before, snapshot, signal));
    for (const manifest of manifests) if (!kept.has(manifest.path)) lost.set(manifest.path, manifest);
  }
  const content = new Map<string, FileContent>();
  for (const manifest of lost.values()) {
    const entries = await presentOr([], () => entriesOf(source, before, manifest, signal));
    for (const { file } of entries) content.set(file.path, file.content);
  }
  for (const manifest of kept.values()) {
    if (content.size === 0) break;
    for (const { status, file } of await entriesOf(source, after, manifest, signal)) if (status !== 'deleted') content.delete(file.path);
  }
  const lists = new Set(after.snapshots.map(({ manifestList }) => manifestList));
  const manifestLists = gone.flatMap(({ manifestList }) => (manifestList === undefined || lists.has(manifestList) ? [] : [manifestList]));
  return { content, manifests: [...lost.keys()], manifestLists, statistics: statisticsOf(before, after) };
}

async function manifestsOfAll(
  source: MetadataSource,
  metadata: TableMetadata,
  snapshots: readonly IcebergSnapshot[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, ManifestFile>> {
  const found = new Map<string, ManifestFile>();
  for (const snapshot of snapshots) {
    for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) found.set(manifest.path, manifest);
  }
  return found;
}

function statisticsOf(before: TableMetadata, after: TableMetadata): readonly string[] {
  const pathsOf = ({ statistics, partitionStatistics }: TableMetadata): readonly string[] =>
    [...statistics, ...partitionStatistics].map(({ statisticsPath }) => statisticsPath);
  const kept = new Set(pathsOf(after));
  return [...new Set(pathsOf(before))].filter((path) => !kept.has(path));
}

/** What an earlier attempt has deleted already names nothing that is left to delete. */
async function presentOr<T>(absent: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isServiceError(error, 'not-found')) return absent;
    throw error;
  }
}
