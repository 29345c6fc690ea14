import { printJson } from '../base/bigint-json.ts';
import { ServiceError } from '../base/errors.ts';

const maxPathBytes = 4096;

/**
 * Refuses paths that could leave the root or mean something else than they say.
 *
 * @throws ServiceError `STORAGE_PATH_INVALID` (kind invalid) naming the path and what is wrong with it.
 */
export function checkObjectPath(path: string): void {
  const fault = faultOf(path);
  if (fault === undefined) return;
  throw new ServiceError({
    code: 'STORAGE_PATH_INVALID',
    kind: 'invalid',
    message: `path ${printJson(path.slice(0, 200))} ${fault}`,
    hint: 'object paths are relative to the root, with / between non-empty names',
  });
}

function faultOf(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (path.includes('\0')) return 'holds a NUL';
  if (path.includes('\\')) return 'holds a backslash';
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'has an empty segment';
    if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  }
  return undefined;
}

/** Order of paths everywhere: by UTF-8 bytes, which UTF-16 comparison is not beyond U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
