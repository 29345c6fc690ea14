import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outside } from '../../base/confinement.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { nearestAbove } from '../../storage/allowed-locations.ts';
import type { TablePlace } from '../files/table-place.ts';

/** A file as the log names it: the spelling of the log, and the same decoded once and made relative where it lies under the root. */
export interface LoggedPath {
  readonly path: string;
  readonly storedPath: string;
}

/** What is known of a table's place. */
type KnownPlace = Pick<TablePlace, 'root' | 'isLocal' | 'within'>;

/**
 * The absolute path or URI of a file of the log. Files outside the table are opened only when the log names them by an absolute URI, as shallow
 * clones do, and only in the directories that the place allows; a relative path never leaves the table. A table of an object store never leads
 * to local files.
 *
 * @throws ServiceError `DELTA_PATH_REFUSED` (corrupt) for a path that would leave the directory otherwise, `FILE_OUTSIDE_TABLE` (invalid) for a
 * URI of a place that is not allowed, `DELTA_PATH_UNSUPPORTED` (unsupported) for one of another file system.
 */
export function absolutePathOf(file: LoggedPath, place: KnownPlace, table: string): string {
  const path = uncheckedPathOf(file, place, table);
  if (nearestAbove(path, place.within.directories) === undefined) throw outside(path, place.within);
  return path;
}

function uncheckedPathOf(file: LoggedPath, place: KnownPlace, table: string): string {
  const { storedPath } = file;
  const problem = problemOf(storedPath);
  if (problem !== undefined) throw refused(table, file.path, problem);
  if (!isAbsolute(storedPath)) return place.isLocal ? resolve(place.root, storedPath) : `${place.root}/${storedPath}`;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(file.path)?.[1]?.toLowerCase();
  if (scheme === undefined) throw refused(table, file.path, 'is absolute, is not a URI and lies outside the table');
  if (isObjectStore(scheme)) return storedPath.replace(/^[a-z0-9]+:\/+/i, 's3://');
  if (scheme !== 'file' || !place.isLocal) {
    throw serviceError.unsupported(
      'DELTA_PATH_UNSUPPORTED',
      `table "${table}": file "${file.path}" lies in a file system that is not read from here`,
      { hint: 'copy the files it refers to into the table (a deep clone), or read it where they are' },
    );
  }
  try {
    return fileURLToPath(file.path.replace(/^file:\/*/i, 'file:///'));
  } catch (cause) {
    throw refused(table, file.path, 'is not a file URI', cause);
  }
}

/** Hadoop's names for it mean the same. */
function isObjectStore(scheme: string): boolean {
  return scheme === 's3' || scheme === 's3a' || scheme === 's3n';
}

function isAbsolute(storedPath: string): boolean {
  return storedPath.startsWith('/') || /^[a-z][a-z0-9+.-]*:\//i.test(storedPath);
}

function problemOf(storedPath: string): string | undefined {
  if (storedPath === '') return 'is empty';
  if (storedPath.includes('\0')) return 'holds a NUL';
  return storedPath.split('/').includes('..') ? 'has the segment ".."' : undefined;
}

function refused(table: string, path: string, problem: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('DELTA_PATH_REFUSED', `table "${table}": file "${path.slice(0, 200)}" ${problem}`, {
    hint: 'only an absolute file URI may refer to a file outside the table; the log was tampered with or written by a broken writer',
    cause,
  });
}
