import type { Clock } from '../../base/clock.ts';
import { unsupportedFeature } from '../../base/unsupported-feature.ts';
import { plainLocation } from '../../iceberg/location.ts';
import { locationOfDirectory, tableFiles } from '../../iceberg/open-table-files.ts';
import { deleteTableFiles, refuseForeignFiles } from '../../iceberg/pointer/delete-table-files.ts';
import { FileSystemPointer } from '../../iceberg/pointer/file-system-pointer.ts';
import { isMetadataFile } from '../../iceberg/pointer/metadata-names.ts';
import { findNewest } from '../../iceberg/pointer/newest-version.ts';
import type { TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import type { TableFiles } from '../../iceberg/table-files.ts';
import type { ObjectStore, OpenObjectStore } from '../../storage/object-store.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { quotedName } from '../../table/table-names.ts';
import { invalidName } from '../catalog-errors.ts';
import type { IcebergNames } from '../iceberg-names.ts';
import { registeredMetadata } from '../registered-metadata.ts';
import type { Folders } from './folders.ts';
import { LocalFolders } from './local-folders.ts';
import { StoreFolders } from './store-folders.ts';

const maxNameBytes = 255;

export interface HadoopNamesParts {
  /** Directory of the catalog, as tables name it in their metadata. */
  readonly warehouse: string;
  readonly nameOf: (ident: TableIdent) => string;
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  /** Directories whose files tables may delete beside their own. */
  readonly allowedLocations?: readonly string[] | undefined;
}

/** Namespaces are folders of the warehouse, tables folders in them, as in Java's HadoopCatalog. Tables keep their names and places. */
export class HadoopNames implements IcebergNames {
  readonly #parts: HadoopNamesParts;
  readonly #warehouse: string;
  readonly #store: ObjectStore;
  readonly #folders: Folders;
  readonly #files: TableFiles;

  constructor(parts: HadoopNamesParts) {
    this.#parts = parts;
    this.#warehouse = parts.warehouse.replace(/(?<!^)\/+$/, '');
    const directory = plainLocation(locationOfDirectory(this.#warehouse));
    this.#store = parts.openStore(directory);
    this.#folders = directory.startsWith('/') ? new LocalFolders(directory) : new StoreFolders(this.#store);
    this.#files = tableFiles({ name: 'catalog', openStore: parts.openStore, roots: () => [this.#warehouse] });
  }

  async namespaces(within: readonly string[], signal?: AbortSignal): Promise<readonly (readonly string[])[] | undefined> {
    if (within.length > 0 && (await this.#isTable(checkedPath(within), signal))) return undefined;
    const names = await this.#folders.children(checkedPath(within), signal);
    if (names === undefined) return undefined;
    const found: (readonly string[])[] = [];
    for (const name of names) {
      const namespace = [...within, name];
      if (isName(name) && !(await this.#isTable(namespace.join('/'), signal))) found.push(namespace);
    }
    return found;
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const path = checkedPath(namespace);
    return (await this.#folders.children(path, signal)) !== undefined && !(await this.#isTable(path, signal));
  }

  async createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    return await this.#folders.create(checkedPath(namespace), signal);
  }

  async dropNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<'dropped' | 'absent' | 'not-empty'> {
    const removed = await this.#folders.removeEmpty(checkedPath(namespace), signal);
    return removed === 'removed' ? 'dropped' : removed;
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    const path = checkedPath(namespace);
    const names = (await this.hasNamespace(namespace, signal)) ? await this.#folders.children(path, signal) : undefined;
    if (names === undefined) return undefined;
    const found: string[] = [];
    for (const name of names) if (isName(name) && (await this.#isTable(`${path}/${name}`, signal))) found.push(name);
    return found;
  }

  pointer(ident: TableIdent): TablePointer {
    return this.#pointerOf(ident);
  }

  /** The metadata is copied, as the first version of a directory of its own: from then on it and the original go their ways. */
  async register(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<NameChange> {
    const { nameOf, openStore } = this.#parts;
    const pointer = this.#pointerOf(ident);
    if ((await pointer.load(undefined, signal)) !== undefined) return 'exists';
    const found = await registeredMetadata(metadataLocation, { name: nameOf(ident), openStore }, signal);
    if (found === undefined) return 'absent';
    return (await pointer.begin(found.metadata, signal)) ? 'done' : 'exists';
  }

  #pointerOf(ident: TableIdent): FileSystemPointer {
    const { nameOf, openStore, clock } = this.#parts;
    const location = this.#locationOf(ident);
    const name = nameOf(ident);
    const { allowedLocations = [] } = this.#parts;
    const deletable = (): readonly string[] => [location, ...allowedLocations];
    const files = tableFiles({ name, openStore, roots: () => [this.#warehouse], deletable });
    return new FileSystemPointer({ name, location, files, clock });
  }

  /** Tables need no namespace: it comes with the first of them. */
  locationOf(ident: TableIdent, wanted: string | undefined): Promise<string> {
    const location = this.#locationOf(ident);
    if (wanted === undefined || plainLocation(wanted) === plainLocation(location)) return Promise.resolve(location);
    return Promise.reject(
      unsupportedFeature(`Cannot set a custom location for a path-based table. Expected ${location} but got ${wanted}`, {
        hint: 'leave LOCATION out, or use a SQL or REST catalog',
        parameters: { tableName: quotedName([...ident.namespace, ident.name]) },
      }),
    );
  }

  /** The directory goes with all that is in it; `purge` deletes what the table has elsewhere too. */
  async drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean> {
    const { nameOf, openStore, allowedLocations = [] } = this.#parts;
    const path = checkedPath([...ident.namespace, ident.name]);
    if (!(await this.#isTable(path, signal))) return false;
    const pointer = this.pointer(ident);
    const loaded = options.purge ? await pointer.load(undefined, signal) : undefined;
    if (loaded !== undefined) {
      const table = { name: nameOf(ident), loaded, openStore, places: [...pointer.ownPlaces(loaded), ...allowedLocations] };
      await refuseForeignFiles(table, signal);
      await deleteTableFiles(table, signal);
    }
    const paths: string[] = [];
    for await (const object of this.#store.list({ prefix: `${path}/` }, signal)) paths.push(object.path);
    // What makes it a table first: a half deleted one is none.
    const first = paths.filter(isMetadataFile);
    for (const each of [...first, ...paths.filter((other) => !isMetadataFile(other))]) await this.#store.delete(each);
    await removeTree(this.#folders, path);
    return true;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #isTable(path: string, signal: AbortSignal | undefined): Promise<boolean> {
    return (await findNewest(this.#files, `${this.#warehouse}/${path}`, signal)) !== undefined;
  }

  #locationOf(ident: TableIdent): string {
    return `${this.#warehouse}/${checkedPath([...ident.namespace, ident.name])}`;
  }
}

async function removeTree(folders: Folders, path: string): Promise<void> {
  for (const child of (await folders.children(path)) ?? []) await removeTree(folders, `${path}/${child}`);
  await folders.removeEmpty(path);
}

function checkedPath(levels: readonly string[]): string {
  const bad = levels.find((level) => !isName(level));
  if (bad !== undefined) throw invalidName(bad, 'names of file-system catalogs are directories: no slashes, and no dot at the start');
  return levels.join('/');
}

function isName(level: string): boolean {
  return /^[^./\\\u0000-\u001f][^/\\\u0000-\u001f]*$/.test(level) && Buffer.byteLength(level) <= maxNameBytes;
}
