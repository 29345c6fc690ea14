import { isServiceError, ServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../storage/object-store.ts';

/**
 * Passes failpoint F5 after every conditional put that was applied: a kill there is a commit whose response never arrived, an error
 * there is an unknown outcome.
 */
export class FailpointObjectStore implements ObjectStore {
  readonly root: string;
  readonly #inner: ObjectStore;
  readonly #failpoint: Failpoint;

  constructor(inner: ObjectStore, failpoint: Failpoint) {
    this.root = inner.root;
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

  list(options: { readonly prefix: string; readonly startAfter?: string | undefined }, signal?: AbortSignal): AsyncIterable<ObjectInfo> {
    return this.#inner.list(options, signal);
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#inner.put(path, bytes, signal);
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    const result = await this.#inner.putIfAbsent(path, bytes, signal);
    if (result !== 'created') return result;
    try {
      await this.#failpoint('F5');
    } catch (cause) {
      if (!isServiceError(cause)) throw cause;
      throw new ServiceError({
        code: 'STORAGE_OUTCOME_UNKNOWN',
        kind: 'unknown-outcome',
        message: `the answer to creating ${path} was dropped`,
        cause,
      });
    }
    return result;
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#inner.delete(path, signal);
  }
}
