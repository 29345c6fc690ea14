import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError, serviceError } from '../../base/errors.ts';
import { LruCache } from '../../base/lru-cache.ts';
import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import { readManifest } from '../metadata/manifest.ts';
import { readManifestList, undescribedManifest } from '../metadata/manifest-list.ts';
import type { IcebergSnapshot, TableMetadata } from '../metadata/table-metadata.ts';
import type { TableFiles } from '../table-files.ts';

/** About how much memory decoded manifests and lists may take. */
const maxCachedBytes = 256 * 1024 * 1024;
/** About what an entry takes: its objects, and its part of the unpacked file. */
const entryBytes = 1_024;
/** Manifests that are read at the same time. */
export const manifestsAtOnce = 8;

/** What reading some of a table's files needs. */
export interface FileSource {
  /** Of the table, for messages. */
  readonly name: string;
  readonly files: Pick<TableFiles, 'read' | 'readRange' | 'head'>;
}

/** What reading a table's metadata files needs. */
export interface MetadataSource extends FileSource {
  readonly files: TableFiles;
}

/**
 * The manifests of a snapshot, in the list's order; none without a snapshot.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `AVRO_FILE_CORRUPT` (corrupt) naming the file, and what the storage throws.
 */
export async function manifestsOf(
  source: MetadataSource,
  metadata: TableMetadata,
  snapshot: IcebergSnapshot | undefined,
  signal?: AbortSignal,
): Promise<readonly ManifestFile[]> {
  if (snapshot === undefined) return [];
  const { manifestList } = snapshot;
  if (manifestList === undefined) return listedInMetadata(source, metadata, snapshot, signal);
  const cache = cacheOf(source.files);
  const present = cache.lists.take(manifestList);
  if (present !== undefined) return present;
  const bytes = await readNamed(source, 'manifest list', manifestList, signal);
  const manifests = readManifestList(bytes, { name: manifestList, snapshot });
  cache.lists.put(manifestList, manifests, bytes.byteLength + manifests.length * entryBytes);
  return manifests;
}

/** The entries of a manifest, deleted ones included, in the manifest's order. @throws as `manifestsOf`. */
export async function entriesOf(
  source: MetadataSource,
  metadata: TableMetadata,
  manifest: ManifestFile,
  signal?: AbortSignal,
): Promise<readonly ManifestEntry[]> {
  const cache = cacheOf(source.files);
  // Lists of other snapshots may give the same file other numbers to inherit (a table that was upgraded).
  const key = `${manifest.path}\0${manifest.sequenceNumber}\0${manifest.firstRowId ?? ''}\0${manifest.addedSnapshotId}`;
  const present = cache.manifests.take(key);
  if (present !== undefined) return present;
  const bytes = await readNamed(source, 'manifest', manifest.path, signal);
  const entries = readManifest(bytes, manifest, metadata);
  cache.manifests.put(key, entries, bytes.byteLength + entries.length * entryBytes);
  return entries;
}

/**
 * Reads a file the metadata names.
 *
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found) saying what it was.
 */
export async function readNamed(source: FileSource, noun: string, location: string, signal?: AbortSignal): Promise<Uint8Array> {
  throwIfAborted(signal);
  try {
    return await source.files.read(location, signal);
  } catch (error) {
    throw missingFile(source, noun, location, error);
  }
}

/** What the storage threw, told in terms of the table when the file is gone. */
export function missingFile(source: FileSource, noun: string, location: string, error: unknown): unknown {
  if (!isServiceError(error, 'not-found')) return error;
  return serviceError.notFound('ICEBERG_FILE_MISSING', `table "${source.name}": ${noun} "${location}" is gone`, {
    hint: 'the snapshot was expired by another program, or the table was copied in part; read another snapshot or restore the file',
    cause: error,
  });
}

/** Format version 1 may list the manifests in the metadata; what a list would say of them is in the manifests themselves. */
async function listedInMetadata(
  source: MetadataSource,
  metadata: TableMetadata,
  snapshot: IcebergSnapshot,
  signal: AbortSignal | undefined,
): Promise<readonly ManifestFile[]> {
  const manifests: ManifestFile[] = [];
  for (const path of snapshot.manifests ?? []) {
    const head = await source.files.head(path, signal);
    if (head === undefined) throw missingFile(source, 'manifest', path, serviceError.notFound('STORAGE_NOT_FOUND', path));
    manifests.push({ ...undescribedManifest(snapshot.snapshotId), path, length: head.sizeBytes, specId: metadata.defaultSpecId });
  }
  return manifests;
}

interface MetadataCache {
  readonly lists: LruCache<string, readonly ManifestFile[]>;
  readonly manifests: LruCache<string, readonly ManifestEntry[]>;
}

/** The files are immutable: what one table has read holds for as long as it is open. */
const caches = new WeakMap<TableFiles, MetadataCache>();

function cacheOf(files: TableFiles): MetadataCache {
  const present = caches.get(files);
  if (present !== undefined) return present;
  const cache: MetadataCache = {
    lists: new LruCache({ maxWeight: maxCachedBytes }),
    manifests: new LruCache({ maxWeight: maxCachedBytes }),
  };
  caches.set(files, cache);
  return cache;
}
