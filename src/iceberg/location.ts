import { type ServiceError, serviceError } from '../base/errors.ts';
import { isBelow, plainLocation } from '../storage/allowed-locations.ts';

export { isBelow, plainLocation };

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
  return serviceError.invalid('FILE_OUTSIDE_TABLE', `table "${table}": location "${location.slice(0, 300)}" ${problem}`, {
    hint: 'a copied table needs a path map from where it was written to where it is; a table that takes in files of other places needs those allowed',
  });
}

/** Locations that an error names. */
const maxNamedLocations = 10;

/** The refusal to delete files that the metadata alone says are the table's. */
export function notDeletable(table: string, locations: readonly string[]): ServiceError {
  const named = locations.slice(0, maxNamedLocations).map((location) => `"${location.slice(0, 300)}"`);
  const more = locations.length > named.length ? ` and ${locations.length - named.length} more` : '';
  return serviceError.invalid(
    'FILE_OUTSIDE_TABLE',
    `table "${table}": not deleted, for they are outside of the directory that its catalog knows: ${named.join(', ')}${more}`,
    {
      hint: "if these places are the table's, name them in tidewater.iceberg.allowedLocations (of a session) or maintenance.allowedLocations (of the pipeline)",
    },
  );
}

const dotSegment = /^(?:\.|%2e){1,2}$/i;

function problemOf(location: string): string | undefined {
  if (location === '') return 'is empty';
  if (/[\0\\]/.test(location)) return 'holds a NUL or a backslash';
  return location.split('/').some((segment) => dotSegment.test(segment)) ? 'has the segment "." or ".."' : undefined;
}
