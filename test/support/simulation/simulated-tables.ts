import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { IdSource } from '../../../src/base/ids.ts';
import type { Random } from '../../../src/base/random.ts';
import type { TableOpener } from '../../../src/catalog/file-system-catalog.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import type { ObjectInfo, ObjectStore, OpenObjectStore } from '../../../src/storage/object-store.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { TableFormat } from '../../../src/table/formats.ts';
import { tableLocation, tombstonesLocation } from './simulated-world.ts';

export interface SimulatedTableParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly version: string;
  /** For rows by key. */
  readonly engine?: OpenEngine | undefined;
  /** Of the table that remembers deleted keys. */
  readonly tombstones?: ObjectStore | undefined;
}

/** Opens the one table of a simulation, of either format. */
export function simulatedTables(format: TableFormat, { store, tombstones, ...parts }: SimulatedTableParts): TableOpener {
  const openStore = storesBelow(store, tombstones);
  if (format === 'delta') return new DeltaTables({ ...parts, openStore, rewriter: new ParquetFileRewriter({ openStore }) });
  const tables = new IcebergTables({ ...parts, openStore, scratchDirectory: join(tmpdir(), `tidewater-simulated-${process.pid}`) });
  return {
    open: (name, location, signal) => tables.open(name, location, signal),
    create: async (name, location, definition, signal) =>
      (await tables.createTable({ name, location, definition, mode: 'create-if-absent', signal })).table,
  };
}

/** Stores of the tables' locations and of directories in them; those of this machine where the location is one. */
export function storesBelow(store: ObjectStore, tombstones?: ObjectStore): OpenObjectStore {
  const below = new Map<string, ObjectStore>();
  return (location) => {
    if (!location.startsWith(tableLocation)) return openObjectStore(location);
    const isOther = tombstones !== undefined && location.startsWith(tombstonesLocation);
    const [of, root] = isOther ? [tombstones, tombstonesLocation] : [store, tableLocation];
    const directory = location.slice(root.length).replace(/^\/+/, '');
    if (directory === '') return of;
    const present = below.get(location) ?? new StoreBelow(of, `${directory}/`);
    below.set(location, present);
    return present;
  };
}

class StoreBelow implements ObjectStore {
  readonly root: string;
  readonly #store: ObjectStore;
  readonly #prefix: string;

  constructor(store: ObjectStore, prefix: string) {
    this.root = `${store.root}/${prefix.slice(0, -1)}`;
    this.#store = store;
    this.#prefix = prefix;
  }

  read(path: string, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#store.read(this.#prefix + path, signal);
  }

  readRange(path: string, range: { readonly from: number; readonly until: number }, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#store.readRange(this.#prefix + path, range, signal);
  }

  head(path: string, signal?: AbortSignal): Promise<ObjectInfo | undefined> {
    return this.#store.head(this.#prefix + path, signal);
  }

  async *list(
    options: { readonly prefix: string; readonly startAfter?: string | undefined; readonly links?: boolean | undefined },
    signal?: AbortSignal,
  ): AsyncIterable<ObjectInfo> {
    const startAfter = options.startAfter === undefined ? undefined : this.#prefix + options.startAfter;
    for await (const info of this.#store.list({ prefix: this.#prefix + options.prefix, startAfter }, signal)) {
      yield { ...info, path: info.path.slice(this.#prefix.length) };
    }
  }

  put(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    return this.#store.put(this.#prefix + path, bytes, signal);
  }

  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): ReturnType<ObjectStore['putIfAbsent']> {
    return this.#store.putIfAbsent(this.#prefix + path, bytes, signal);
  }

  delete(path: string, signal?: AbortSignal): Promise<void> {
    return this.#store.delete(this.#prefix + path, signal);
  }
}
