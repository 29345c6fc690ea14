import { fileURLToPath } from 'node:url';
import { isServiceError } from '../base/errors.ts';
import { refuseElsewhere } from '../storage/allowed-locations.ts';
import type { ObjectInfo, ObjectStore, OpenObjectStore, PutIfAbsentResult } from '../storage/object-store.ts';
import {
  checkLocation,
  childLocation,
  isBelow,
  isRelative,
  notDeletable,
  outsideTable,
  parentLocation,
  plainLocation,
} from './location.ts';
import type { TableFiles } from './table-files.ts';

export interface TableFilesOptions {
  /** Name of the table, for messages. */
  readonly name: string;
  readonly openStore: OpenObjectStore;
  /**
   * Directories whose files the table may refer to: its location, the places its properties name, those the session allows. Asked for each
   * file, because they change with the table's metadata.
   */
  readonly roots: () => readonly string[];
  /** Directories whose files may be deleted: what the metadata says does not count. Default: `roots`. */
  readonly deletable?: (() => readonly string[]) | undefined;
  /** Prefixes of recorded locations and what stands in their place; the first that fits counts. */
  readonly pathMap?: readonly { readonly from: string; readonly to: string }[] | undefined;
  /** Directory that relative locations are in. Without it they are refused. */
  readonly pathBase?: string | undefined;
}

/** A file in a store. */
interface Place {
  readonly store: ObjectStore;
  readonly path: string;
}

/** The files of a table in stores that are opened at the nearest directory the table may refer to. */
export function tableFiles(options: TableFilesOptions): TableFiles {
  return new LocatedFiles(options);
}

class LocatedFiles implements TableFiles {
  readonly #options: TableFilesOptions;
  readonly #stores = new Map<string, ObjectStore>();
  readonly #pathMap: readonly { readonly from: string; readonly to: string }[];

  constructor(options: TableFilesOptions) {
    this.#options = options;
    this.#pathMap = options.pathMap ?? [];
  }

  async read(location: string, signal?: AbortSignal): Promise<Uint8Array> {
    const { store, path } = this.#place(location);
    return store.read(path, signal);
  }

  async readRange(location: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    const { store, path } = this.#place(location);
    return store.readRange(path, range, signal);
  }

  async head(location: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    const { store, path } = this.#place(location);
    return store.head(path, signal);
  }

  async put(location: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { store, path } = this.#place(location);
    await store.put(path, bytes, signal);
  }

  async putIfAbsent(location: string, bytes: Uint8Array, signal?: AbortSignal): Promise<PutIfAbsentResult> {
    const { store, path } = this.#place(location);
    return store.putIfAbsent(path, bytes, signal);
  }

  async delete(location: string, signal?: AbortSignal): Promise<void> {
    const { root, path } = this.#deletable(location);
    await this.#store(root).delete(path, signal);
  }

  async discard(location: string, signal?: AbortSignal): Promise<void> {
    const { store, path } = this.#place(location);
    await store.delete(path, signal);
  }

  notDeletable(locations: Iterable<string>): readonly string[] {
    return [...locations].filter((location) => {
      try {
        this.#deletable(location);
        return false;
      } catch (error) {
        if (isServiceError(error, 'invalid')) return true;
        throw error;
      }
    });
  }

  async *list(location: string, signal?: AbortSignal): AsyncIterable<ObjectInfo & { readonly location: string }> {
    const { root, path } = this.#resolved(location);
    const prefix = path === '' ? '' : `${path}/`;
    for await (const info of this.#store(root).list({ prefix }, signal)) {
      yield { ...info, location: childLocation(location, info.path.slice(prefix.length)) };
    }
  }

  storeAt(directory: string): ObjectStore {
    const place = this.openable(directory);
    // What is written through this store is not looked at again: the directory must not be a link out of the place it lies in.
    refuseElsewhere(place, {
      directories: [this.#resolved(directory).root],
      of: `table "${this.#options.name}"`,
      setting: 'tidewater.iceberg.allowedLocations (of a session) or maintenance.allowedLocations (of the pipeline)',
    });
    return this.#store(place);
  }

  openable(location: string): string {
    const { root, path } = this.#resolved(location);
    return path === '' ? root : childLocation(root, path);
  }

  /** The store is opened at the directory that may be deleted from: no link in it leads out of it. */
  #deletable(location: string): { readonly root: string; readonly path: string } {
    const { name } = this.#options;
    const actual = this.#actual(location);
    const root = this.#nearest(actual, this.#options.deletable ?? this.#options.roots);
    if (root === undefined || root === actual) throw notDeletable(name, [location]);
    return { root, path: pathBelow(actual, root) };
  }

  #place(location: string): Place {
    const { root, path } = this.#resolved(location);
    if (path === '') throw outsideTable(location, this.#options.name, 'is a directory');
    return { store: this.#store(root), path };
  }

  /** Where a location is: the directory its store is opened at, and the path in it. */
  #resolved(location: string): { readonly root: string; readonly path: string } {
    const { name, roots } = this.#options;
    const actual = this.#actual(location);
    const given = plainLocation(location);
    const root =
      this.#nearest(actual, roots) ??
      (roots().some((directory) => isBelow(given, plainLocation(directory))) ? parentLocation(actual) : undefined);
    if (root === undefined) throw outsideTable(location, name, 'is not in a place the table may refer to');
    return { root, path: pathBelow(actual, root) };
  }

  #actual(location: string): string {
    checkLocation(location, this.#options.name);
    const mapped = plainLocation(this.#mapped(location));
    return isRelative(mapped) ? this.#absolute(mapped) : mapped;
  }

  #nearest(actual: string, roots: () => readonly string[]): string | undefined {
    const { pathBase } = this.#options;
    // What the caller maps, and what lies in the directory given for relative locations, is in a place the caller has named.
    const named = [...this.#pathMap.map(({ to }) => to), ...(pathBase === undefined ? [] : [pathBase])];
    return longest([...roots(), ...named].map(plainLocation).filter((directory) => isBelow(actual, directory)));
  }

  #mapped(location: string): string {
    for (const { from, to } of this.#pathMap) {
      if (from.endsWith('/') ? location.startsWith(from) : isBelow(location, from)) return `${to}${location.slice(from.length)}`;
      const [given, prefix] = [plainLocation(location), plainLocation(from)];
      if (isBelow(given, prefix)) return `${to.replace(/\/+$/, '')}${given.slice(prefix.length)}`;
    }
    return location;
  }

  #absolute(location: string): string {
    const { name, pathBase } = this.#options;
    if (pathBase === undefined) throw outsideTable(location, name, 'is relative, and no base was given for relative locations');
    return childLocation(plainLocation(pathBase), location);
  }

  #store(root: string): ObjectStore {
    const present = this.#stores.get(root);
    if (present !== undefined) return present;
    const store = this.#options.openStore(root);
    this.#stores.set(root, store);
    return store;
  }
}

function pathBelow(location: string, root: string): string {
  return location.slice(root.length).replace(/^\/+/, '');
}

function longest(directories: readonly string[]): string | undefined {
  return directories.toSorted((a, b) => b.length - a.length)[0];
}

/** A directory given as a path or `file:` URI (percent-encoded), as a location. */
export function locationOfDirectory(directory: string): string {
  return /^file:\/\//i.test(directory) ? fileURLToPath(directory) : directory;
}
