import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { throwIfAborted } from '../base/abort.ts';
import { ServiceError, serviceError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { DirectorySyncs } from './directory-syncs.ts';
import { listFolder, objectInfo, temporaryPrefix } from './local-listing.ts';
import type { ObjectInfo, ObjectStore, PutIfAbsentResult } from './object-store.ts';
import { checkPath, notFound } from './path.ts';

/**
 * Objects as files below a directory of a POSIX file system with hard links.
 *
 * A write goes to a temporary file beside its target, is synced, and is then linked (`putIfAbsent`) or renamed (`put`) into place and
 * the directory synced. `rename` would replace a winner silently and `open` with O_EXCL would show half a file, so neither serves
 * `putIfAbsent`. Symbolic links to files are followed under the root and refused where they lead out of it.
 */
export class LocalObjectStore implements ObjectStore {
  readonly root: string;
  readonly #directory: string;
  readonly #ids: IdSource;
  readonly #syncs = new DirectorySyncs(syncDirectory);
  #realRoot: string | undefined;

  constructor(options: { readonly directory: string; readonly ids: IdSource }) {
    this.#directory = resolve(options.directory);
    this.root = pathToFileURL(this.#directory).href;
    this.#ids = options.ids;
  }

  async read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#withFile(path, signal, async (file) => {
      const bytes = await file.readFile();
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    });
  }

  async readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#withFile(path, signal, async (file) => {
      const sizeBytes = (await file.stat()).size;
      const length = Math.max(0, Math.min(range.until, sizeBytes) - range.from);
      const bytes = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, range.from + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    });
  }

  async head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    try {
      const stat = await lstat(await this.#followed(path, await this.#locate(path, signal)));
      return stat.isFile() ? objectInfo(path, stat) : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw translated(this.root, path, error);
    }
  }

  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    const follow = async (path: string) => lstat(await this.#followed(path, await this.#locate(path, signal)));
    try {
      yield* listFolder(this.#directory, { ...options, follow: options.links === true ? follow : undefined }, signal);
    } catch (error) {
      throw translated(this.root, options.prefix, error);
    }
  }

  async put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#write(path, bytes, signal, async (temporary, target) => {
      await rename(temporary, target);
      return 'created';
    });
  }

  async putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    return this.#write(path, bytes, signal, async (temporary, target) => {
      try {
        await link(temporary, target);
        return 'created';
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
        await this.#refuseNoObject(path, target);
        return 'exists';
      }
    });
  }

  async delete(path: string, signal?: AbortSignal): Promise<void> {
    try {
      const target = await this.#locate(path, signal);
      await unlink(target);
      await this.#syncs.sync(dirname(target));
    } catch (error) {
      if (!isMissing(error)) throw translated(this.root, path, error);
    }
  }

  async #write(
    path: string,
    bytes: Uint8Array,
    signal: AbortSignal | undefined,
    place: (temporary: string, target: string) => Promise<PutIfAbsentResult>,
  ): Promise<PutIfAbsentResult> {
    checkPath(path);
    throwIfAborted(signal);
    const target = join(this.#directory, path);
    const temporary = join(dirname(target), `${temporaryPrefix}${this.#ids.uuid()}`);
    let result: PutIfAbsentResult;
    try {
      await makeDirectory(dirname(target));
      await this.#locate(path, signal);
      await writeSynced(temporary, bytes);
      throwIfAborted(signal);
      result = await this.#place(path, () => place(temporary, target));
    } catch (error) {
      throw translated(this.root, path, error);
    } finally {
      // After a rename it is gone already; a leftover is never listed.
      await unlink(temporary).catch(() => undefined);
    }
    if (result === 'created') await this.#makeDurable(path, target);
    return result;
  }

  /**
   * A link or directory has the name, but is no object: a writer that is told "exists" would look for it, see none, and try again without end.
   */
  async #refuseNoObject(path: string, target: string): Promise<void> {
    const there = await lstat(target).catch(() => undefined);
    if (there === undefined || there.isFile()) return;
    if (there.isSymbolicLink() && (await lstat(await this.#followed(path, target))).isFile()) return;
    throw serviceError.invalid(
      'STORAGE_PATH_INVALID',
      `${this.root}: "${path}" is a ${there.isSymbolicLink() ? 'symbolic link' : 'directory or device'}, which nobody reads and which keeps its name taken`,
      { hint: 'move it away, or put the file itself in its place' },
    );
  }

  /** @throws ServiceError `STORAGE_OUTCOME_UNKNOWN` for failures that do not say whether the name was made. */
  async #place(path: string, place: () => Promise<PutIfAbsentResult>): Promise<PutIfAbsentResult> {
    try {
      return await place();
    } catch (cause) {
      const code = codeOf(cause);
      if (code !== 'EIO' && code !== 'ESTALE' && code !== 'ETIMEDOUT') throw cause;
      throw serviceError.unknownOutcome('STORAGE_OUTCOME_UNKNOWN', `${this.root}: "${path}" may or may not be written: ${code}`, { cause });
    }
  }

  /** The object is visible from here on: when its directory cannot be synced, nobody knows whether it outlives a crash. */
  async #makeDurable(path: string, target: string): Promise<void> {
    try {
      await this.#syncs.sync(dirname(target));
    } catch (cause) {
      throw serviceError.unknownOutcome(
        'STORAGE_OUTCOME_UNKNOWN',
        `${this.root}: "${path}" was written but its directory could not be synced`,
        { cause },
      );
    }
  }

  async #withFile<Result>(path: string, signal: AbortSignal | undefined, use: (file: FileHandle) => Promise<Result>): Promise<Result> {
    let file: FileHandle | undefined;
    try {
      file = await open(await this.#followed(path, await this.#locate(path, signal)), constants.O_RDONLY | constants.O_NOFOLLOW);
      return await use(file);
    } catch (error) {
      throw translated(this.root, path, error);
    } finally {
      await file?.close();
    }
  }

  /** The file of a path, after its directory turned out to lie under the root with all links followed. */
  async #locate(path: string, signal: AbortSignal | undefined): Promise<string> {
    checkPath(path);
    throwIfAborted(signal);
    const target = join(this.#directory, path);
    await this.#refuseOutside(path, await realpath(dirname(target)));
    return target;
  }

  /** What a symbolic link leads to, under the root; anything else as it is. @throws ServiceError `STORAGE_PATH_INVALID`. */
  async #followed(path: string, target: string): Promise<string> {
    if (!(await lstat(target)).isSymbolicLink()) return target;
    const end = await realpath(target).catch(() => undefined);
    if (end === undefined) throw this.#leadsOut(path, 'is a symbolic link that leads nowhere');
    await this.#refuseOutside(path, end);
    return end;
  }

  async #refuseOutside(path: string, real: string): Promise<void> {
    this.#realRoot ??= await realpath(this.#directory);
    if (real === this.#realRoot || real.startsWith(this.#realRoot.replace(/\/?$/, sep))) return;
    throw this.#leadsOut(path, 'leads out of the table through a symbolic link');
  }

  #leadsOut(path: string, what: string): ServiceError {
    return serviceError.invalid('STORAGE_PATH_INVALID', `${this.root}: "${path}" ${what}`, {
      hint: 'move the files into the table, or replace the link',
    });
  }
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o644);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Creates missing directories and makes their names durable. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What the errors of the file system mean to whoever uses objects. */
export function translated(root: string, path: string, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  const code = codeOf(error);
  if (isMissing(error) || code === 'EISDIR') return notFound(root, path, error);
  if (code === 'ELOOP') {
    return serviceError.invalid('STORAGE_PATH_INVALID', `${root}: "${path}" is a symbolic link`, { cause: error });
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return serviceError.unavailable('STORAGE_FULL', `${root}: no space left to write "${path}"`, {
      hint: 'free space on the file system or raise the quota; nothing was written',
      cause: error,
    });
  }
  return serviceError.unavailable('STORAGE_UNAVAILABLE', `${root}: "${path}" failed with ${code ?? String(error)}`, {
    hint:
      code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'give the process the right to read and write the directory' : undefined,
    cause: error,
  });
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
