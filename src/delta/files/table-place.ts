import { fileURLToPath } from 'node:url';
import { type Confinement, outside } from '../../base/confinement.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { nearestAbove } from '../../storage/allowed-locations.ts';
import type { ObjectStore, OpenObjectStore } from '../../storage/object-store.ts';
import { openObjectStore } from '../../storage/open-object-store.ts';
import type { ReadFileRange } from '../../table/scan.ts';

/** Where the files of a table lie, as scans name them. */
export interface TablePlace {
  /** An absolute directory, or the URI of another store; nothing in it is percent-encoded. */
  readonly root: string;
  readonly isLocal: boolean;
  /** The table's own directory, and those outside of it that it may refer to. The log has no say in them. */
  readonly within: Confinement;
  /** Reads files by their paths in scans. */
  readonly readRange: ReadFileRange;
  /**
   * The store of a file given by its absolute path or URI, opened at the directory it may be read in: no link in it leads out of it.
   *
   * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid) for a file that lies in none.
   */
  locate(path: string): { readonly store: ObjectStore; readonly path: string };
}

const setting = 'tidewater.delta.allowedLocations (of a session; the pipeline reads no file outside of its tables)';

/**
 * The place of a store.
 *
 * @param parts.openStore opens what a clone refers to in other stores; without it, that is refused.
 * @param parts.outside directories outside of the table that it may refer to. Asked for each file: making a clone adds to them.
 */
export function tablePlace(parts: {
  readonly name: string;
  readonly store: ObjectStore;
  readonly openStore: OpenObjectStore | undefined;
  readonly outside: () => readonly string[];
}): TablePlace {
  const { name, store } = parts;
  const isLocal = store.root.startsWith('file://');
  const root = isLocal ? fileURLToPath(store.root) : decodeURIComponent(store.root).replace(/\/+$/, '');
  const within: Confinement = {
    get directories() {
      return [root, ...parts.outside()];
    },
    of: `table "${name}"`,
    setting,
  };
  const locate = (path: string): { readonly store: ObjectStore; readonly path: string } => {
    const directory = nearestAbove(path, within.directories);
    if (directory === undefined) throw outside(path, within);
    const below = path.slice(directory.length).replace(/^\/+/, '');
    if (directory === root) return { store, path: below };
    return { store: storeOf(directory), path: below };
  };
  const storeOf = (directory: string): ObjectStore => {
    if (directory.startsWith('/')) return openObjectStore(directory);
    if (parts.openStore === undefined) throw unsupported(root, directory);
    return parts.openStore(directory);
  };
  const readRange: ReadFileRange = async (path, range, signal) => {
    const file = locate(path);
    return await file.store.readRange(file.path, range, signal);
  };
  return { root, isLocal, within, readRange, locate };
}

function unsupported(root: string, path: string): ServiceError {
  return serviceError.unsupported('DELTA_PATH_UNSUPPORTED', `table at ${root}: "${path}" is in another store`, {
    hint: 'open the table through a Session, or copy the files it refers to into the table',
  });
}
