import type { Clock } from '../base/clock.ts';
import { isServiceError, serviceError } from '../base/errors.ts';
import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { StorageProperties, StorageSettings } from '../base/storage-settings.ts';
import type { TableOpener } from '../catalog/file-system-catalog.ts';
import type { IcebergCatalog, PointerTables } from '../catalog/iceberg-catalog.ts';
import { openIcebergCatalog } from '../catalog/open-iceberg-catalog.ts';
import { type CatalogSettings, catalogProperties } from '../config/catalog-settings.ts';
import type { TableSettings } from '../config/table-settings.ts';
import type { IcebergTables } from '../iceberg/iceberg-tables.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../iceberg/pointer/table-pointer.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import { icebergPointerTables } from './iceberg-pointer-tables.ts';
import { absolutePath, storageSettings } from './session-catalogs.ts';

export interface PipelineCatalogParts {
  readonly catalogs: readonly CatalogSettings[];
  readonly iceberg: IcebergTables;
  /** Stores with settings of a catalog, or of one of its tables. */
  readonly openStoreWith: (settings: StorageSettings) => OpenObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  /** Directories whose files Iceberg tables may have, and lose, beside their own. */
  readonly allowedLocations: readonly string[];
}

/** The catalogs of the configuration, opened when the first of their tables is. */
export class PipelineCatalogs {
  readonly #parts: PipelineCatalogParts;
  readonly #open = new Map<string, IcebergCatalog>();
  /** What the pipeline calls the tables of catalogs, by their full names there. */
  readonly #names = new Map<string, string>();

  constructor(parts: PipelineCatalogParts) {
    this.#parts = parts;
  }

  /** Opens and creates a table where its catalog says; `undefined`: the table is in none. */
  openerOf({ inCatalog, name: own, location }: TableSettings): TableOpener | undefined {
    if (inCatalog === undefined) return undefined;
    this.#names.set(location, own);
    const { catalog: name, namespace, table } = inCatalog;
    const ident = { namespace, name: table };
    return {
      open: (_name, _location, signal) => this.#catalog(name).load(ident, signal),
      create: async (_name, _location, definition, signal) => {
        const catalog = this.#catalog(name);
        if (namespace.length > 0 && !(await catalog.hasNamespace(namespace, signal))) {
          // Somebody else may be creating it too: what counts is that it is there.
          await catalog.createNamespace(namespace, signal).catch(async (error: unknown) => {
            if (!(await catalog.hasNamespace(namespace, signal))) throw error;
          });
        }
        const created = await catalog.create(ident, { format: catalog.defaultFormat, definition, mode: 'create-if-absent', signal });
        return created.table;
      },
    };
  }

  async close(): Promise<void> {
    for (const catalog of this.#open.values()) await catalog.close();
  }

  #catalog(name: string): IcebergCatalog {
    const present = this.#open.get(name);
    if (present !== undefined) return present;
    const settings = this.#parts.catalogs.find((candidate) => candidate.name === name);
    if (settings === undefined) {
      throw serviceError.invalid('CONFIG_INVALID', `no catalog is called "${name}"`);
    }
    const { clock, random, ids, openStoreWith, allowedLocations } = this.#parts;
    const properties = catalogProperties(settings);
    const stores = storageSettings(properties);
    const catalog = openIcebergCatalog(name, properties, {
      tables: this.#tablesOf(stores),
      openStore: openStoreWith(stores),
      clock,
      random,
      ids,
      absolutePath,
      allowedLocations,
    });
    this.#open.set(name, catalog);
    return catalog;
  }

  /** Tables go by the names of the configuration. */
  #tablesOf(stores: StorageProperties): PointerTables {
    const { iceberg, failpoint, openStoreWith } = this.#parts;
    const inner = icebergPointerTables(iceberg, openStoreWith, stores);
    const pointed = (pointer: TablePointer): TablePointer => {
      const named = namedPointer(pointer, this.#names.get(pointer.name) ?? pointer.name);
      return failpoint === inertFailpoint ? named : failpointPointer(named, failpoint);
    };
    return {
      openPointer: (pointer, signal) => inner.openPointer(pointed(pointer), signal),
      createAt: (pointer, request) => inner.createAt(pointed(pointer), request),
    };
  }
}

/** A catalog's table under the name it has in the configuration: by it the pipeline's parts speak of it. */
function namedPointer(pointer: TablePointer, name: string): TablePointer {
  return {
    name,
    singleWriterOnly: pointer.singleWriterOnly,
    fileSettings: pointer.fileSettings,
    ownPlaces: (loaded: LoadedMetadata) => pointer.ownPlaces(loaded),
    load: (known: LoadedMetadata | undefined, signal?: AbortSignal) => pointer.load(known, signal),
    swap: (base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> =>
      pointer.swap(base, change, signal),
  };
}

/**
 * Passes `before-swap` before every swap of a catalog's table and `commit-applied` after each that was committed: a kill there is a commit
 * whose response never arrived, an error there an unknown outcome.
 */
function failpointPointer(pointer: TablePointer, failpoint: Failpoint): TablePointer {
  return {
    name: pointer.name,
    singleWriterOnly: pointer.singleWriterOnly,
    fileSettings: pointer.fileSettings,
    ownPlaces: (loaded) => pointer.ownPlaces(loaded),
    load: (known, signal) => pointer.load(known, signal),
    swap: async (base, change, signal) => {
      await failpoint('before-swap');
      const outcome = await pointer.swap(base, change, signal);
      if (outcome.kind !== 'committed') return outcome;
      try {
        await failpoint('commit-applied');
        return outcome;
      } catch (cause) {
        if (!isServiceError(cause)) throw cause;
        return { kind: 'unknown', cause };
      }
    },
  };
}
