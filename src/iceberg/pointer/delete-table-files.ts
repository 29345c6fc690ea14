import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import { isBelow, parentLocation, plainLocation } from '../location.ts';
import { tableFiles } from '../open-table-files.ts';
import { entriesOf, manifestsOf } from '../scan/manifests.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import type { TableFiles } from '../table-files.ts';
import { metadataPathProperty } from './metadata-names.ts';
import type { LoadedMetadata } from './table-pointer.ts';

const deletesAtOnce = 8;
const dataPathProperties = ['write.data.path', 'write.folder-storage.path', 'write.object-storage.path'];

/**
 * Deletes the files of a table whose name is gone: all that its metadata refers to, data first and the newest metadata last, so that it can
 * be begun again. What lies outside of the table's own places (files that were added from elsewhere) stays, and so do files that nothing
 * refers to.
 *
 * @throws ServiceError when the metadata cannot be read or a file cannot be deleted.
 */
export async function deleteTableFiles(
  table: { readonly name: string; readonly loaded: LoadedMetadata; readonly openStore: OpenObjectStore },
  signal?: AbortSignal,
): Promise<void> {
  const { name, loaded, openStore } = table;
  const roots = placesOf(loaded);
  const files = tableFiles({ name, openStore, roots: () => roots });
  const manifests = await deleteContent({ name, files }, loaded.metadata, signal);
  await deleteAll(files, manifests, signal);
  await deleteAll(files, otherFilesOf(loaded.metadata), signal);
  if (loaded.metadataLocation !== undefined) await deleteAll(files, [loaded.metadataLocation], signal);
}

/** Deletes data and delete files; returns the manifests that named them. */
async function deleteContent(
  source: { readonly name: string; readonly files: TableFiles },
  metadata: TableMetadata,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (const snapshot of metadata.snapshots) {
    const manifests = await presentOr([], () => manifestsOf(source, metadata, snapshot, signal));
    for (const manifest of manifests) {
      if (seen.has(manifest.path)) continue;
      seen.add(manifest.path);
      const entries = await presentOr([], () => entriesOf(source, metadata, manifest, signal));
      await deleteAll(source.files, new Set(entries.map((entry) => entry.file.path)), signal);
    }
  }
  return seen;
}

function otherFilesOf(metadata: TableMetadata): readonly string[] {
  return [
    ...metadata.snapshots.flatMap((snapshot) => (snapshot.manifestList === undefined ? [] : [snapshot.manifestList])),
    ...metadata.statistics.map((file) => file.statisticsPath),
    ...metadata.partitionStatistics.map((file) => file.statisticsPath),
    ...metadata.metadataLog.map((entry) => entry.metadataFile),
  ];
}

/** Directories that are the table's own. */
function placesOf({ metadata, metadataLocation }: LoadedMetadata): readonly string[] {
  const named = [metadataPathProperty, ...dataPathProperties].flatMap((key) => metadata.properties[key] ?? []);
  const all = [metadata.location, ...named, ...(metadataLocation === undefined ? [] : [parentLocation(metadataLocation)])].map(
    plainLocation,
  );
  return all.filter((place) => !all.some((other) => other !== place && isBelow(place, other)));
}

async function deleteAll(files: TableFiles, locations: Iterable<string>, signal: AbortSignal | undefined): Promise<void> {
  await mapBounded([...locations], deletesAtOnce, async (location) => {
    try {
      await files.delete(location, signal);
    } catch (error) {
      if (!isServiceError(error, 'invalid') || error.code !== 'FILE_OUTSIDE_TABLE') throw error;
    }
  });
}

/** What an earlier attempt has deleted already, or lies elsewhere, names nothing that is left to delete. */
async function presentOr<T>(absent: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isServiceError(error, 'not-found') || (isServiceError(error, 'invalid') && error.code === 'FILE_OUTSIDE_TABLE')) return absent;
    throw error;
  }
}
