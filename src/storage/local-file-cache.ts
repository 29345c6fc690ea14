import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted, unlessAborted } from '../base/abort.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { translated } from './local-object-store.ts';

/** A file that lies elsewhere. Its bytes never change. */
export interface RemoteFile {
  /** Names the bytes: files with one key are one file. */
  readonly key: string;
  /** Bytes it has; `undefined` when not known. */
  readonly sizeBytes: number | undefined;
  /** Bytes `[from, until)`; fewer when the file ends earlier. */
  readonly readRange: (range: { readonly from: number; readonly until: number }, signal?: AbortSignal) => Promise<Uint8Array>;
}

/** A local copy that stays until it is released. */
export interface PinnedFile {
  readonly path: string;
  release(): void;
}

interface Entry {
  readonly key: string;
  readonly path: string;
  readonly fetching: AbortController;
  /** Pins, and callers that wait for the file. */
  users: number;
  bytes: number;
  isLoaded: boolean;
  loaded: Promise<void>;
}

const chunkBytes: number = 8 << 20;
const chunksInFlight = 2;
const maxNameLength = 120;

/**
 * Copies of remote files in a directory, for programs that open local files only. At most `maxBytes` on disk: the copies used longest ago go
 * first; what is pinned stays. A file that several ask for at once is fetched once. Memory is a few chunks for each file being fetched.
 */
export class LocalFileCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** Last used last. */
  readonly #entries = new Map<string, Entry>();
  #usedBytes = 0;
  #count = 0;
  #closing: Promise<void> | undefined;

  /** @param options.directory this cache's alone; made when first needed. */
  constructor(options: { readonly directory: string; readonly maxBytes: number }) {
    this.#directory = options.directory;
    this.#maxBytes = options.maxBytes;
  }

  /** Bytes on disk. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * A local copy of the file, fetched unless it is here.
   *
   * @throws ServiceError `STORAGE_CACHE_FULL` (unavailable) when it does not fit beside what is pinned; `STORAGE_FULL`; what `readRange` throws.
   */
  async pin(file: RemoteFile, signal?: AbortSignal): Promise<PinnedFile> {
    throwIfAborted(signal);
    if (this.#closing !== undefined) throw closed();
    const entry = this.#entries.get(file.key) ?? this.#begin(file);
    this.#entries.delete(file.key);
    this.#entries.set(file.key, entry);
    entry.users += 1;
    try {
      await unlessAborted(entry.loaded, signal);
    } catch (error) {
      this.#release(entry);
      throw error;
    }
    let released = false;
    return {
      path: entry.path,
      release: () => {
        if (!released) this.#release(entry);
        released = true;
      },
    };
  }

  /** Stops what is being fetched and deletes all copies. Nothing is pinned by then. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    for (const entry of this.#entries.values()) entry.fetching.abort();
    await Promise.allSettled([...this.#entries.values()].map((entry) => entry.loaded));
    await rm(this.#directory, { recursive: true, force: true });
  }

  #begin(file: RemoteFile): Entry {
    const path = join(this.#directory, `${++this.#count}-${nameOf(file.key)}`);
    const entry: Entry = {
      key: file.key,
      path,
      fetching: new AbortController(),
      users: 0,
      bytes: 0,
      isLoaded: false,
      loaded: Promise.resolve(),
    };
    entry.loaded = this.#fetch(entry, file);
    // Whoever waits hears of it; when nobody does any more, nobody must.
    entry.loaded.catch(() => undefined);
    this.#entries.set(file.key, entry);
    return entry;
  }

  async #fetch(entry: Entry, file: RemoteFile): Promise<void> {
    let copy: FileHandle | undefined;
    try {
      await this.#reserve(entry, file.sizeBytes ?? 0);
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      copy = await open(entry.path, 'wx', 0o600);
      if (file.sizeBytes === undefined) await this.#copyUntilEnd(entry, file, copy);
      else await copyKnown(file, file.sizeBytes, copy, entry.fetching.signal);
      await copy.close();
      copy = undefined;
      entry.isLoaded = true;
    } catch (error) {
      await copy?.close().catch(() => undefined);
      await this.#forget(entry);
      throw isServiceError(error) ? error : translated(this.#directory, entry.path, error);
    }
  }

  async #copyUntilEnd(entry: Entry, file: RemoteFile, copy: FileHandle): Promise<void> {
    for (let at = 0; ; ) {
      throwIfAborted(entry.fetching.signal);
      const bytes = await file.readRange({ from: at, until: at + chunkBytes }, entry.fetching.signal);
      await this.#reserve(entry, bytes.byteLength);
      await writeAll(copy, bytes, at);
      at += bytes.byteLength;
      if (bytes.byteLength < chunkBytes) return;
    }
  }

  /** Makes room by letting go of the copies used longest ago. */
  async #reserve(entry: Entry, bytes: number): Promise<void> {
    const unused = [...this.#entries.values()].filter((other) => other.users === 0 && other !== entry);
    for (const oldest of unused) {
      if (this.#usedBytes + bytes <= this.#maxBytes) break;
      if (oldest.users === 0) await this.#forget(oldest);
    }
    if (this.#usedBytes + bytes > this.#maxBytes) throw full(entry.key, bytes, this.#maxBytes);
    this.#usedBytes += bytes;
    entry.bytes += bytes;
  }

  async #forget(entry: Entry): Promise<void> {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    this.#usedBytes -= entry.bytes;
    entry.bytes = 0;
    await rm(entry.path, { force: true });
  }

  #release(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || entry.isLoaded) return;
    // Nobody waits any more: what is half fetched is given up, and who comes later begins anew.
    entry.fetching.abort();
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}

async function copyKnown(file: RemoteFile, sizeBytes: number, copy: FileHandle, signal: AbortSignal): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < sizeBytes) {
      const from = next;
      const until = Math.min(sizeBytes, from + chunkBytes);
      next = until;
      throwIfAborted(signal);
      await writeAll(copy, await file.readRange({ from, until }, signal), from);
    }
  };
  const stopping = async (): Promise<void> => {
    try {
      await worker();
    } finally {
      next = sizeBytes;
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: chunksInFlight }, stopping));
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}

async function writeAll(copy: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await copy.write(bytes, done, bytes.byteLength - done, at + done);
    done += bytesWritten;
  }
}

/** The end of the file's own name, so that messages which name the copy say what it is of; nothing that means more to a file system. */
function nameOf(key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._=-]/g, '_');
  return name.slice(-maxNameLength);
}

function full(key: string, bytes: number, maxBytes: number): ServiceError {
  return serviceError.unavailable(
    'STORAGE_CACHE_FULL',
    `no room for ${bytes} bytes of "${key}": what is in use fills the ${maxBytes} bytes for local copies`,
    { hint: 'read less at once, such as fewer partitions, or raise tidewater.engine.fileCacheSize' },
  );
}

function closed(): ServiceError {
  return serviceError.internal('STORAGE_CACHE_CLOSED', 'the cache of local copies is closed');
}
