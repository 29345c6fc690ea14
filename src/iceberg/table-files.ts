import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../storage/object-store.ts';

/**
 * The files of a table by the locations its metadata holds: absolute paths and URIs, byte for byte as written. A location is mapped and
 * checked before it is opened (`--path-map`, `--path-base`, places a table may refer to).
 *
 * Errors as `ObjectStore`, and `FILE_OUTSIDE_TABLE` (kind invalid) for a location the table may not refer to.
 */
export interface TableFiles {
  read(location: string, signal?: AbortSignal): Promise<Uint8Array>;
  readRange(location: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array>;
  head(location: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>;
  put(location: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  putIfAbsent(location: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult>;
  /** @throws ServiceError `FILE_OUTSIDE_TABLE` too for a file that is only in a place its metadata names. */
  delete(location: string, signal?: AbortSignal): Promise<void>;
  /** Deletes what the caller has just written and nothing refers to, wherever the table writes. */
  discard(location: string, signal?: AbortSignal): Promise<void>;
  /** Those of the locations that `delete` would refuse. */
  notDeletable(locations: Iterable<string>): readonly string[];
  /** Files below a location, by their full locations. */
  list(location: string, signal?: AbortSignal): AsyncIterable<ObjectInfo & { readonly location: string }>;
  /** The store of the files below a directory, rooted there: for whoever writes several. */
  storeAt(directory: string): ObjectStore;
  /** A location as the engine opens it: a local path or an object store's URI. */
  openable(location: string): string;
}
