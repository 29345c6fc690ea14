import { ServiceError } from '../base/errors.ts';

/**
 * A location in the one spelling that two are compared by: `file:/x`, `file:///x` and `/x` are the path `/x`, `s3a:` and `s3n:` are `s3:`,
 * slashes at the end are left out. Nothing else changes: names in locations are not percent-encoded, whatever they look like.
 */
export function plainLocation(location: string): string {
  const local = /^file:\/{0,3}(?=\/)|^file:(?=\/)/i.exec(location)?.[0];
  const path = local === undefined ? location.replace(/^s3[an]:/i, 's3:') : location.slice(local.length);
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

/** Whether a plain location is a directory's, or of something in it. */
export function isBelow(location: string, directory: string): boolean {
  if (directory === '/') return location.startsWith('/');
  return location === directory || (location.startsWith(directory) && location[directory.length] === '/');
}

/** Without scheme and without a slash at the start: what depends on where the process, or the caller, stands. */
export function isRelative(location: string): boolean {
  return !location.startsWith('/') && !/^[a-z][a-z0-9+.-]*:/i.test(location);
}

/** `directory/name`, whatever the directory ends with. */
export function childLocation(directory: string, name: string): string {
  return `${directory.replace(/\/+$/, '')}/${name}`;
}

/** The directory of a file. */
export function parentLocation(location: string): string {
  return location.slice(0, Math.max(0, location.lastIndexOf('/')));
}

/**
 * Refuses a location that could mean another place than it seems to.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid).
 */
export function checkLocation(location: string, table: string): void {
  const problem = problemOf(location);
  if (problem !== undefined) throw outsideTable(location, table, problem);
}

export function outsideTable(location: string, table: string, problem: string): ServiceError {
  return new ServiceError({
    code: 'FILE_OUTSIDE_TABLE',
    kind: 'invalid',
    message: `table "${table}": location "${location.slice(0, 300)}" ${problem}`,
    hint: 'a copied table needs a path map from where it was written to where it is; a table that takes in files of other places needs those allowed',
  });
}

const dotSegment = /^(?:\.|%2e){1,2}$/i;

function problemOf(location: string): string | undefined {
  if (location === '') return 'is empty';
  if (/[\0\\]/.test(location)) return 'holds a NUL or a backslash';
  return location.split('/').some((segment) => dotSegment.test(segment)) ? 'has the segment "." or ".."' : undefined;
}
