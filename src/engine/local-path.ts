import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ServiceError, serviceError } from '../base/errors.ts';

/** Whether a location is one of a local file: a path or a `file:` URI. */
export function isLocalPath(location: string): boolean {
  return location.startsWith('/') || /^file:/iu.test(location);
}

/** The path of a local file given by path or `file:` URI. */
export function localPath(location: string): string {
  return location.startsWith('/') ? location : fileURLToPath(location.replace(/^file:(?=\/[^/])/iu, 'file://'));
}

// The engine takes these for patterns, but only where no file has exactly the given name.
const patternCharacters = /[*?[\]{}]/u;
/** Files of all engines end so; what does not may be a directory, of which the engine reads all files. */
const fileName = /\.parquet$/iu;

/**
 * Refuses paths that the engine would take for more than one file: patterns whose file is gone, and directories.
 *
 * @throws ServiceError `ENGINE_FILE_MISSING` (kind not-found).
 */
export async function refuseManyFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!patternCharacters.test(path) && fileName.test(path)) continue;
    if (!(await isFile(path))) throw fileMissing(path, 'is a directory');
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory();
  } catch (cause) {
    throw fileMissing(path, 'is not there', cause);
  }
}

/** That a data file is gone. */
export function fileMissing(path: string, reason: string, cause?: unknown): ServiceError {
  return serviceError.notFound('ENGINE_FILE_MISSING', `file "${path}" ${reason}`, { cause });
}
