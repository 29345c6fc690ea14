import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import { notDeletable } from '../location.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { tableFiles } from '../open-table-files.ts';
import { entriesOf, manifestsOf } from '../scan/manifests.ts';
import type { TableFiles } from '../table-files.ts';
import type { LoadedMetadata } from './table-pointer.ts';

const deletesAtOnce = 8;

/** A table that is about to go, or has gone. */
export interface TableToDelete {
  readonly name: string;
  readonly loaded: LoadedMetadata;
  readonly openStore: OpenObjectStore;
  /** Directories whose files may be deleted: the table's own as its catalog knows them, and those the caller allows. */
  readonly places: readonly string[];
}

/**
 * Looks whether all that a table's metadata refers to lies where its files may be deleted, before anything is.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid), which lists what does not.
 */
export async function refuseForeignFiles(table: TableToDelete, signal?: AbortSignal): Promise<void> {
  const files = filesOf(table);
  const foreign = new Set<string>();
  for await (const locations of filesInOrder(files, table, signal)) for (const each of files.notDeletable(locations)) foreign.add(each);
  if (foreign.size > 0) throw notDeletable(table.name, [...foreign]);
}

/**
 * Deletes the files of a table whose name is gone: all that its metadata refers to, data first and the newest metadata last, so that it can
 * be begun again. Files that nothing refers to stay.
 *
 * @throws ServiceError when the metadata cannot be read or a file cannot be deleted.
 */
export async function deleteTableFiles(table: TableToDelete, signal?: AbortSignal): Promise<void> {
  const files = filesOf(table);
  for await (const locations of filesInOrder(files, table, signal)) {
    await mapBounded(locations, deletesAtOnce, (location) => files.delete(location, signal));
  }
}

function filesOf({ name, openStore, places }: TableToDelete): TableFiles {
  return tableFiles({ name, openStore, roots: () => places });
}

/** Groups of locations; each is read before it is given. */
async function* filesInOrder(
  files: TableFiles,
  { name, loaded }: TableToDelete,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly string[]> {
  const source = { name, files };
  const { metadata, metadataLocation } = loaded;
  const seen = new Set<string>();
  for (const snapshot of metadata.snapshots) {
    const manifests = await presentOr([], () => manifestsOf(source, metadata, snapshot, signal));
    for (const manifest of manifests) {
      if (seen.has(manifest.path)) continue;
      seen.add(manifest.path);
      const entries = await presentOr([], () => entriesOf(source, metadata, manifest, signal));
      yield [...new Set(entries.map((entry) => entry.file.path))];
    }
  }
  yield [...seen];
  yield otherFilesOf(metadata);
  if (metadataLocation !== undefined) yield [metadataLocation];
}

function otherFilesOf(metadata: TableMetadata): readonly string[] {
  return [
    ...metadata.snapshots.flatMap((snapshot) => (snapshot.manifestList === undefined ? [] : [snapshot.manifestList])),
    ...metadata.statistics.map((file) => file.statisticsPath),
    ...metadata.partitionStatistics.map((file) => file.statisticsPath),
    ...metadata.metadataLog.map((entry) => entry.metadataFile),
  ];
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
