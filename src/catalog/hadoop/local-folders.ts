import { mkdir, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../../base/abort.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { Folders } from './folders.ts';

/** Hadoop's checksums of files that are gone, and marks that object stores need. */
const ofNoAccount = /^(\..+\.crc|\.namespace)$/;

/** Folders of a file system. */
export class LocalFolders implements Folders {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async children(path: string, signal?: AbortSignal): Promise<readonly string[] | undefined> {
    throwIfAborted(signal);
    try {
      const entries = await readdir(join(this.#root, path), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return path === '' ? [] : undefined;
      throw this.#failed(path, error);
    }
  }

  async create(path: string, signal?: AbortSignal): Promise<boolean> {
    throwIfAborted(signal);
    try {
      return (await mkdir(join(this.#root, path), { recursive: true })) !== undefined;
    } catch (error) {
      throw this.#failed(path, error);
    }
  }

  async removeEmpty(path: string, signal?: AbortSignal): Promise<'removed' | 'absent' | 'not-empty'> {
    throwIfAborted(signal);
    const folder = join(this.#root, path);
    try {
      const names = await readdir(folder);
      if (names.some((name) => !ofNoAccount.test(name))) return 'not-empty';
      for (const name of names) await unlink(join(folder, name));
      await rmdir(folder);
      return 'removed';
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'absent';
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return 'not-empty';
      throw this.#failed(path, error);
    }
  }

  #failed(path: string, cause: unknown): ServiceError {
    return serviceError.unavailable(
      'STORAGE_UNAVAILABLE',
      `folder ${join(this.#root, path)}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'check that the directory may be read and written', cause },
    );
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}
