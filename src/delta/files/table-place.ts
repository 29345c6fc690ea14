import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../base/errors.ts';
import type { ObjectStore, OpenObjectStore } from '../../storage/object-store.ts';
import type { ReadFileRange } from '../../table/scan.ts';

/** Where the files of a table lie, as scans name them. */
export interface TablePlace {
  /** An absolute directory, or the URI of another store; nothing in it is percent-encoded. */
  readonly root: string;
  readonly isLocal: boolean;
  /** Reads files by their paths in scans. */
  readonly readRange: ReadFileRange;
}

/** The place of a store. `openStore` opens what a clone refers to elsewhere; without it, that is refused. */
export function tablePlace(store: ObjectStore, openStore: OpenObjectStore | undefined): TablePlace {
  const isLocal = store.root.startsWith('file://');
  const root = isLocal ? fileURLToPath(store.root) : decodeURIComponent(store.root).replace(/\/+$/, '');
  const readRange: ReadFileRange = (path, range, signal) => {
    if (path.startsWith(`${root}/`)) return store.readRange(path.slice(root.length + 1), range, signal);
    const at = path.lastIndexOf('/');
    if (openStore === undefined) return Promise.reject(unsupported(root, path));
    return openStore(path.slice(0, at)).readRange(path.slice(at + 1), range, signal);
  };
  return { root, isLocal, readRange };
}

function unsupported(root: string, path: string): ServiceError {
  return new ServiceError({
    code: 'DELTA_PATH_UNSUPPORTED',
    kind: 'unsupported',
    message: `table at ${root}: file "${path}" lies in another store`,
    hint: 'open the table through a Session, or copy the files it refers to into the table',
  });
}
