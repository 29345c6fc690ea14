import { isServiceError } from '../../base/errors.ts';
import type { ObjectInfo } from '../../storage/object-store.ts';
import { parentLocation } from '../location.ts';
import type { TableFiles } from '../table-files.ts';
import { fileNameOf, versionIn, versionNames, withoutTrailingSlash } from './metadata-names.ts';

/** A metadata file of a file-system table, as it was seen. */
export interface VersionFile {
  readonly version: number;
  readonly location: string;
  readonly info: ObjectInfo;
}

/** Versions looked for one by one above the hint before the folder is listed. */
const maxProbes = 32;
const maxHintDigits = 10;

export function metadataFolderOf(tableLocation: string): string {
  return `${withoutTrailingSlash(tableLocation)}/metadata`;
}

/** The directory of the table that a metadata file is of: the one above `metadata`, or that of a file that lies elsewhere. */
export function tableDirectoryOf(metadataLocation: string): string {
  const folder = parentLocation(metadataLocation);
  return fileNameOf(folder) === 'metadata' ? parentLocation(folder) : folder;
}

export function hintLocation(tableLocation: string): string {
  return `${metadataFolderOf(tableLocation)}/version-hint.text`;
}

/** A version's file, whatever its compression. */
export async function findVersion(
  files: TableFiles,
  tableLocation: string,
  version: number,
  signal?: AbortSignal,
): Promise<VersionFile | undefined> {
  const found = await Promise.all(
    versionNames(version).map(async (name) => {
      const location = `${metadataFolderOf(tableLocation)}/${name}`;
      const info = await files.head(location, signal);
      return info === undefined ? undefined : { version, location, info };
    }),
  );
  return found.find((file) => file !== undefined);
}

/**
 * The newest version of a file-system table: what the hint names and whatever follows it. The hint alone never decides: it may be late,
 * missing, or name a version that is gone, and then the folder is listed.
 */
export async function findNewest(files: TableFiles, tableLocation: string, signal?: AbortSignal): Promise<VersionFile | undefined> {
  const hint = await readHint(files, tableLocation, signal);
  const hinted = hint === undefined ? undefined : await findVersion(files, tableLocation, hint, signal);
  if (hinted === undefined) return await newestListed(files, tableLocation, signal);
  let newest = hinted;
  for (let probe = 0; probe < maxProbes; probe += 1) {
    const next = await findVersion(files, tableLocation, newest.version + 1, signal);
    if (next === undefined) return newest;
    newest = next;
  }
  return (await newestListed(files, tableLocation, signal)) ?? newest;
}

async function readHint(files: TableFiles, tableLocation: string, signal: AbortSignal | undefined): Promise<number | undefined> {
  try {
    const text = new TextDecoder().decode(await files.read(hintLocation(tableLocation), signal)).trim();
    return text.length <= maxHintDigits && /^\d+$/.test(text) ? Number(text) : undefined;
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

async function newestListed(files: TableFiles, tableLocation: string, signal: AbortSignal | undefined): Promise<VersionFile | undefined> {
  let newest: VersionFile | undefined;
  const folder = `${metadataFolderOf(tableLocation)}/`;
  for await (const { location, ...info } of files.list(folder, signal)) {
    const name = fileNameOf(location);
    const version = location.length === folder.length + name.length ? versionIn(name) : undefined;
    if (version !== undefined && version > (newest?.version ?? -1)) newest = { version, location, info };
  }
  return newest;
}
