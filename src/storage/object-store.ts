import type { StorageSettings } from '../base/storage-settings.ts';

/** One listed object. */
export interface ObjectInfo {
  /** Relative to the store's root, `/` separated, never starting with `/`, compared as UTF-8 bytes. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Storage time of the last write, milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Two looks that saw one etag saw the same content. Absent where the store, or the request, does not tell. `isSameObject` compares. */
  readonly etag?: string | undefined;
}

/** Result of a conditional put. `exists` is a fact; anything that is not known is thrown as kind `unknown-outcome`. */
export type PutIfAbsentResult = 'created' | 'exists';

/**
 * Objects under one root. A table gets a store rooted at its own location, so no path can leave it: a path that is absolute,
 * empty, has a `..` or `.` segment, a NUL or a backslash is refused with `STORAGE_PATH_INVALID`.
 *
 * Guarantees every adapter gives (test/conformance/object-store.ts):
 * - `put` and `putIfAbsent` are atomic: a reader sees nothing or all of it. When they resolve the object is durable.
 * - `putIfAbsent` has exactly one winner among any number of racers in any number of processes.
 * - After an object is put, `read`, `head` and `list` see it.
 * - `list` is ordered by the UTF-8 bytes of the path and recursive; it never shows an object that is not completely written.
 * - `delete` is idempotent.
 *
 * Errors: `STORAGE_NOT_FOUND` (not-found), `STORAGE_PATH_INVALID` (invalid), `STORAGE_UNAVAILABLE` (unavailable: nothing was
 * changed), `STORAGE_FULL` (unavailable), `STORAGE_OUTCOME_UNKNOWN` (unknown-outcome: a write may have been applied).
 * No adapter retries: retries are one layer above (storage/retrying.ts), and never around `putIfAbsent`.
 */
export interface ObjectStore {
  /** The root as a URI (`file:///…`, `s3://…`, `memory://…`), percent-encoded. */
  readonly root: string;
  read(path: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** Bytes `[from, until)`; fewer when the object ends earlier. */
  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array>;
  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>;
  /**
   * Objects whose path starts with `prefix` and is greater (as bytes) than `startAfter`, ascending, recursive. `links`: where there are symbolic
   * links, those that lead to a file under the root are objects too, and others are `STORAGE_PATH_INVALID`; without it all are passed over.
   */
  list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo>;
  /** Creates or replaces. */
  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult>;
  delete(path: string, signal?: AbortSignal): Promise<void>;
  /** As `put`, of a local file, in little memory. Absent where `put` is all there is (see `putLocalFile`). */
  readonly putFile?: ((path: string, file: string, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Opens the store for a location (`file:///abs/dir`, an absolute or relative directory, `s3://bucket/prefix`, `memory://name`). */
export type OpenObjectStore = (location: string) => ObjectStore;
/** Opens a store with settings on top of the process's own: those of a catalog, or what it handed out for one table. */
export type OpenStoreWith = (location: string, settings?: StorageSettings) => ObjectStore;
