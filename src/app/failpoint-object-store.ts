import { isServiceError, serviceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../storage/object-store.ts';

/** Of a table whose versions list their files in files of their own: https://iceberg.apache.org/spec/#manifests */
const manifestName = /^[^/]+-m\d+\.avro$/;
const listName = /^snap-[^/]+\.avro$/;
/** Written for a catalog's swap, which is what commits. */
const catalogMetadataName = /\d{5}-[^/]+\.metadata\.json$/;

/**
 * Passes `after-manifests` after every manifest, `after-manifest-list` after every manifest list that was put, and `commit-applied` after every
 * conditional put that was applied: a kill there is a commit whose response never arrived, an error there is an unknown outcome.
 */
export class FailpointObjectStore implements ObjectStore {
  readonly root: string;
  readonly #inner: ObjectStore;
  readonly #failpoint: Failpoint;
  readonly putFile: ObjectStore['putFile'];

  constructor(inner: ObjectStore, failpoint: Failpoint) {
    this.root = inner.root;
    const { putFile } = inner;
    this.putFile = putFile === undefined ? undefined : (path, file, signal) => putFile.call(inner, path, file, signal);
    this.#inner = inner;
    this.#failpoint = failpoint;
  }

  read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#inner.read(path, signal);
  }

  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#inner.readRange(path, range, signal);
  }

  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    return this.#inner.head(path, signal);
  }

  list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    return this.#inner.list(options, signal);
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#inner.put(path, bytes, signal);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (listName.test(name)) await this.#failpoint('after-manifest-list');
    else if (manifestName.test(name)) await this.#failpoint('after-manifests');
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    const result = await this.#inner.putIfAbsent(path, bytes, signal);
    if (result !== 'created' || catalogMetadataName.test(path)) return result;
    try {
      await this.#failpoint('commit-applied');
    } catch (cause) {
      if (!isServiceError(cause)) throw cause;
      throw serviceError.unknownOutcome('STORAGE_OUTCOME_UNKNOWN', `the answer to creating ${path} was dropped`, { cause });
    }
    return result;
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#inner.delete(path, signal);
  }
}
