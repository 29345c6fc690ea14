import { stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from './object-store.ts';

/** One request to a store, when it ended. */
export interface StoreRequest {
  readonly op: 'read' | 'read-range' | 'head' | 'list' | 'put' | 'put-if-absent' | 'delete';
  /** `ok`, `exists` (a conditional put that lost), or the error's code. */
  readonly code: string;
  readonly durationMs: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** Tells of every request; changes none. */
export class MeteredObjectStore implements ObjectStore {
  readonly root: string;
  readonly #inner: ObjectStore;
  readonly #clock: Clock;
  readonly #onRequest: (request: StoreRequest) => void;
  readonly putFile: ObjectStore['putFile'];

  constructor(inner: ObjectStore, options: { readonly clock: Clock; readonly onRequest: (request: StoreRequest) => void }) {
    this.root = inner.root;
    this.#inner = inner;
    this.#clock = options.clock;
    this.#onRequest = options.onRequest;
    const { putFile } = inner;
    this.putFile =
      putFile === undefined
        ? undefined
        : async (path, file, signal) => {
            const { size } = await stat(file);
            await this.#measure('put', size, () => putFile.call(inner, path, file, signal));
          };
  }

  read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#measure('read', 0, () => this.#inner.read(path, signal));
  }

  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#measure('read-range', 0, () => this.#inner.readRange(path, range, signal));
  }

  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    return this.#measure('head', 0, () => this.#inner.head(path, signal));
  }

  /** One request for the whole listing, whatever pages the store makes of it; its time includes the consumer's. */
  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    const startedMs = this.#clock.monotonicMs();
    try {
      yield* this.#inner.list(options, signal);
      this.#tell('list', startedMs, { code: 'ok' });
    } catch (error) {
      this.#tell('list', startedMs, { code: codeOf(error) });
      throw error;
    }
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#measure('put', bytes.byteLength, () => this.#inner.put(path, bytes, signal));
  }

  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    return this.#measure('put-if-absent', bytes.byteLength, () => this.#inner.putIfAbsent(path, bytes, signal));
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#measure('delete', 0, () => this.#inner.delete(path, signal));
  }

  async #measure<T>(op: StoreRequest['op'], bytesWritten: number, request: () => Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    try {
      const result = await request();
      const bytesRead = result instanceof Uint8Array ? result.byteLength : 0;
      this.#tell(op, startedMs, { code: result === 'exists' ? 'exists' : 'ok', bytesRead, bytesWritten });
      return result;
    } catch (error) {
      this.#tell(op, startedMs, { code: codeOf(error) });
      throw error;
    }
  }

  #tell(
    op: StoreRequest['op'],
    startedMs: number,
    end: { readonly code: string; readonly bytesRead?: number; readonly bytesWritten?: number },
  ): void {
    const { code, bytesRead = 0, bytesWritten = 0 } = end;
    this.#onRequest({ op, code, durationMs: this.#clock.monotonicMs() - startedMs, bytesRead, bytesWritten });
  }
}

function codeOf(error: unknown): string {
  return isServiceError(error) ? error.code : 'UNEXPECTED';
}
