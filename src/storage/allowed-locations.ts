import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Confinement, outside } from '../base/confinement.ts';

/**
 * A location in the one spelling that two are compared by: `file:/x`, `file:///x` and `/x` are the path `/x`, `s3a:` and `s3n:` are `s3:`,
 * slashes at the end are left out. Nothing else changes: names in locations are not percent-encoded, whatever they look like.
 */
export function plainLocation(location: string): string {
  const local = /^file:\/{0,3}(?=\/)|^file:(?=\/)/i.exec(location)?.[0];
  const path = local === undefined ? location.replace(/^s3[an]?:/i, 's3:') : location.slice(local.length);
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

/** Whether a plain location is a directory's, or of something in it. */
export function isBelow(location: string, directory: string): boolean {
  if (directory === '/') return location.startsWith('/');
  return location === directory || (location.startsWith(directory) && location[directory.length] === '/');
}

/** The nearest of the directories that a location is in; `undefined`: it is in none, or could mean another place than it seems to. */
export function nearestAbove(location: string, directories: readonly string[]): string | undefined {
  const plain = plainLocation(location);
  if (plain.split('/').some((segment) => segment === '.' || segment === '..')) return undefined;
  const above = directories.map(plainLocation).filter((directory) => isBelow(plain, directory));
  return above.toSorted((a, b) => b.length - a.length)[0];
}

/**
 * The places that lie in none of the known directories. One that does would add nothing but a root of its own, which may be a link: what is
 * below it is opened from the known directory, where links that lead out are seen.
 */
export function beyond(places: readonly string[], known: readonly string[]): readonly string[] {
  return places.filter((place) => nearestAbove(place, known) === undefined);
}

/** The directories and URIs of a setting, separated by commas. */
export function locationsOf(setting: string | undefined): readonly string[] {
  return (setting ?? '')
    .split(',')
    .map((location) => location.trim())
    .filter((location) => location !== '');
}

/**
 * Refuses local files that lie outside of all directories once links are followed. What is not there is not looked at: whoever opens it says so.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid), naming file and place.
 */
export async function refuseLinksOut(paths: readonly string[], within: Confinement): Promise<void> {
  const directories = within.directories.map(plainLocation).filter((directory) => directory.startsWith('/'));
  const real = await Promise.all(directories.map(realOf));
  for (const path of paths) {
    const actual = await realOf(path);
    // A file that is not there yet, or not any more, still lies in a directory.
    const place = actual ?? (await realOf(dirname(path)));
    if (place === undefined || real.some((directory) => directory !== undefined && isBelow(place, directory))) continue;
    throw outside(path, within, ` leads through a link to "${place}"`);
  }
}

/**
 * Refuses a place that somebody named, and that may not be there yet, outside of all directories, before and after links are followed.
 *
 * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid), naming it and the setting.
 */
export function refuseElsewhere(path: string, within: Confinement): void {
  const how = elsewhere(path, within.directories);
  if (how !== undefined) throw outside(path, within, how);
}

/** Whether `refuseElsewhere` lets it pass. */
export function liesWithin(path: string, directories: readonly string[]): boolean {
  return elsewhere(path, directories) === undefined;
}

function elsewhere(path: string, directories: readonly string[]): string | undefined {
  if (nearestAbove(path, directories) === undefined) return '';
  const plain = plainLocation(path);
  if (!plain.startsWith('/')) return undefined;
  const local = directories.map(plainLocation).filter((directory) => directory.startsWith('/'));
  const place = realNow(plain);
  return local.some((directory) => isBelow(place, realNow(directory))) ? undefined : ` leads through a link to "${place}"`;
}

/** The nearest directory above that is there, with links followed, and what follows below it. */
function realNow(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realNow(above), basename(path));
  }
}

async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    return undefined;
  }
}
