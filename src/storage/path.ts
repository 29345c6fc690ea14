import { type ServiceError, serviceError } from '../base/errors.ts';

/** Longest path, in UTF-8 bytes, that every adapter can store. */
const maxPathBytes = 1024;
/** Longest name between two slashes that a POSIX file system stores. */
const maxNameBytes = 255;

/**
 * Refuses a path that could leave the store's root or mean different objects to different adapters.
 *
 * @throws ServiceError `STORAGE_PATH_INVALID` (kind invalid).
 */
export function checkPath(path: string): void {
  const problem = problemOf(path);
  if (problem === undefined) return;
  throw serviceError.invalid('STORAGE_PATH_INVALID', `path "${path.slice(0, 200)}" ${problem}`, {
    hint: 'paths are relative to the table, with "/" between names',
  });
}

/** Whether `checkPath` lets it pass. */
export function isStorablePath(path: string): boolean {
  return problemOf(path) === undefined;
}

/** Order of paths: by their UTF-8 bytes. */
export function comparePaths(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

export function notFound(root: string, path: string, cause?: unknown): ServiceError {
  return serviceError.notFound('STORAGE_NOT_FOUND', `${root}: no object "${path}"`, { cause });
}

function problemOf(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (/[\0\\]/.test(path)) return 'holds a NUL or a backslash';
  if (/\p{Surrogate}/u.test(path)) return 'is not valid Unicode';
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const name of path.split('/')) {
    if (name === '') return 'has an empty name';
    if (name === '.' || name === '..') return `has the name "${name}"`;
    if (Buffer.byteLength(name) > maxNameBytes) return `has a name longer than ${maxNameBytes} bytes`;
  }
  return undefined;
}
