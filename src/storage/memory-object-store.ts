import { throwIfAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from './object-store.ts';
import { checkPath, comparePaths, notFound } from './path.ts';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly modifiedMs: number;
  readonly etag: string;
}

/** Objects in this process's memory: for tests, simulation and trying things out. Gone with the object. */
export class MemoryObjectStore implements ObjectStore {
  readonly root: string;
  readonly #clock: Clock;
  readonly #objects = new Map<string, StoredObject>();
  #sorted: readonly string[] | undefined;
  #writings = 0;

  constructor(options: { readonly name: string; readonly clock: Clock }) {
    this.root = `memory://${options.name}`;
    this.#clock = options.clock;
  }

  async read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.#object(path, signal)).bytes.slice();
  }

  async readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return (await this.#object(path, signal)).bytes.slice(range.from, Math.max(range.from, range.until));
  }

  async head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    await this.#enter(path, signal);
    return this.#info(path);
  }

  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    await Promise.resolve();
    // A listing shows the objects of the moment it began; those deleted meanwhile are left out.
    this.#sorted ??= [...this.#objects.keys()].sort(comparePaths);
    for (const path of this.#sorted) {
      throwIfAborted(signal);
      if (!path.startsWith(options.prefix)) continue;
      if (options.startAfter !== undefined && comparePaths(path, options.startAfter) <= 0) continue;
      const info = this.#info(path);
      if (info !== undefined) yield info;
    }
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#enter(path, signal);
    this.#store(path, bytes);
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    await this.#enter(path, signal);
    if (this.#objects.has(path)) return 'exists';
    this.#store(path, bytes);
    return 'created';
  }

  async delete(path: string, signal?: AbortSignal): Promise<void> {
    await this.#enter(path, signal);
    if (this.#objects.delete(path)) this.#sorted = undefined;
  }

  /** Every call gives way once, as a real store would: races show in tests. */
  async #enter(path: string, signal: AbortSignal | undefined): Promise<void> {
    checkPath(path);
    throwIfAborted(signal);
    await Promise.resolve();
    throwIfAborted(signal);
  }

  async #object(path: string, signal: AbortSignal | undefined): Promise<StoredObject> {
    await this.#enter(path, signal);
    const object = this.#objects.get(path);
    if (object === undefined) throw notFound(this.root, path);
    return object;
  }

  #info(path: string): ObjectInfo | undefined {
    const object = this.#objects.get(path);
    if (object === undefined) return undefined;
    return { path, sizeBytes: object.bytes.byteLength, modifiedMs: object.modifiedMs, etag: object.etag };
  }

  #store(path: string, bytes: Uint8Array): void {
    if (!this.#objects.has(path)) this.#sorted = undefined;
    this.#writings += 1;
    this.#objects.set(path, { bytes: bytes.slice(), modifiedMs: this.#clock.now(), etag: String(this.#writings) });
  }
}
