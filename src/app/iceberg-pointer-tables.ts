import type { PointerTables } from '../catalog/iceberg-catalog.ts';
import type { IcebergTables } from '../iceberg/iceberg-tables.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';

/** Tables of a catalog: their files are opened with what the catalog hands out for each, such as credentials. */
export function icebergPointerTables(
  tables: IcebergTables,
  openStoreWith: (properties: Readonly<Record<string, string>>) => OpenObjectStore,
  storageWith: (own: Readonly<Record<string, string>>) => Readonly<Record<string, string>> = (own) => own,
): PointerTables {
  return {
    openPointer: async (pointer, signal) => {
      const loaded = await pointer.load(undefined, signal);
      if (loaded === undefined) return undefined;
      const own = loaded.properties ?? {};
      const table = tables.openLoaded({ pointer, openStore: openStoreWith(own), storage: storageWith(own) }, loaded);
      return { table, tableId: loaded.metadata.tableUuid };
    },
    createAt: async (pointer, request) => {
      const loaded = await pointer.load(undefined, request.signal);
      const own = loaded?.properties ?? pointer.fileSettings ?? {};
      return tables.createAt({ pointer, openStore: openStoreWith(own), storage: storageWith(own) }, request);
    },
  };
}
