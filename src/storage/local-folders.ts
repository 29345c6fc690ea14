import type { Dirent } from 'node:fs';
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../base/abort.ts';

/** Directories nest at most this deep. */
const maxDepth = 64;

export interface FolderSurvey {
  /** Folders looked at, without the root. */
  readonly considered: number;
  /** Paths relative to the root, without a closing slash, deepest first: folders with nothing in them, or nothing but garbage. */
  readonly removable: readonly string[];
}

interface SurveyOptions {
  /** Whether the object of this path is about to be deleted. */
  readonly isGarbage: (path: string) => boolean;
  /** Folders that are looked at at all. */
  readonly isConsidered: (path: string) => boolean;
  /** A folder that got or lost an entry since is in use and stays. */
  readonly modifiedBefore: number;
}

/**
 * Folders of a file system that hold no object any more once the garbage is gone. (In an object store there are no folders.) Symbolic links
 * are not followed, and keep the folder they lie in.
 */
export async function surveyFolders(root: string, options: SurveyOptions, signal?: AbortSignal): Promise<FolderSurvey> {
  const removable: string[] = [];
  let considered = 0;
  const empties = async (folder: string, depth: number): Promise<boolean> => {
    throwIfAborted(signal);
    const modifiedMs = folder === '' ? Number.POSITIVE_INFINITY : await modifiedAt(join(root, folder));
    let empty = modifiedMs < options.modifiedBefore;
    for (const entry of await entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const goes = entry.isDirectory()
        ? options.isConsidered(path) && depth < maxDepth && (await below(path, depth + 1))
        : entry.isFile() && options.isGarbage(path);
      empty &&= goes;
    }
    return empty;
  };
  const below = async (folder: string, depth: number): Promise<boolean> => {
    considered += 1;
    const empty = await empties(folder, depth);
    if (empty) removable.push(folder);
    return empty;
  };
  await empties('', 0);
  return { considered, removable };
}

/** Removes the folder unless it holds something or is gone already; false then. */
export async function removeEmptyFolder(root: string, folder: string): Promise<boolean> {
  try {
    await rmdir(join(root, folder));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT' || code === 'ENOTDIR' || code === 'EBUSY') return false;
    throw error;
  }
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** A folder that is gone counts as just changed: there is nothing to remove. */
async function modifiedAt(directory: string): Promise<number> {
  const stat = await lstat(directory).catch(() => undefined);
  return stat?.mtimeMs ?? Number.POSITIVE_INFINITY;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
