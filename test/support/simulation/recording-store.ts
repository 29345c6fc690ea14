import type { Clock } from '../../../src/base/clock.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from '../../../src/storage/object-store.ts';

/** An object as it was stored, kept for the checkers even after it was deleted. */
export interface RecordedObject {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** World time of its first write, `Clock.monotonicMs`. */
  readonly atMs: number;
}

/** The storage itself, with a memory of everything that ever happened to it. */
export class RecordingStore implements ObjectStore {
  readonly root: string;
  readonly written: Map<string, RecordedObject> = new Map();
  readonly deletions: { readonly path: string; readonly atMs: number }[] = [];
  /** Objects that were written again with other bytes. */
  readonly overwritten: string[] = [];
  readonly #inner: ObjectStore;
  readonly #clock: Clock;

  constructor(inner: ObjectStore, clock: Clock) {
    this.root = inner.root;
    this.#inner = inner;
    this.#clock = clock;
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
    this.#remember(path, bytes);
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    const result = await this.#inner.putIfAbsent(path, bytes, signal);
    if (result === 'created') this.#remember(path, bytes);
    return result;
  }

  async delete(path: string, signal?: AbortSignal): Promise<void> {
    await this.#inner.delete(path, signal);
    this.deletions.push({ path, atMs: this.#clock.monotonicMs() });
  }

  #remember(path: string, bytes: Uint8Array): void {
    const known = this.written.get(path);
    if (known === undefined) this.written.set(path, { path, bytes: bytes.slice(), atMs: this.#clock.monotonicMs() });
    else if (Buffer.compare(known.bytes, bytes) !== 0) this.overwritten.push(path);
  }
}
