import type { StorageProperties, StorageSettings } from '../base/storage-settings.ts';
import type { PointerTables } from '../catalog/iceberg-catalog.ts';
import type { IcebergTables, PointedTable } from '../iceberg/iceberg-tables.ts';
import type { TablePointer } from '../iceberg/pointer/table-pointer.ts';
import { mergedSettings } from '../storage/merged-settings.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';

/** Tables of a catalog: their files are opened with what the catalog hands out for each, on top of the settings that the user gave for all. */
export function icebergPointerTables(
  tables: IcebergTables,
  openStoreWith: (settings: StorageSettings) => OpenObjectStore,
  stores: StorageProperties,
): PointerTables {
  const pointed = (pointer: TablePointer): PointedTable => {
    const storage = mergedSettings(stores, pointer.fileSettings ?? {});
    return { pointer, openStore: openStoreWith(storage), storage };
  };
  return {
    openPointer: async (pointer, signal) => {
      const loaded = await pointer.load(undefined, signal);
      if (loaded === undefined) return undefined;
      return { table: tables.openLoaded(pointed(pointer), loaded), tableId: loaded.metadata.tableUuid };
    },
    createAt: async (pointer, request) => {
      // A table that is replaced is there, and its settings come with it.
      await pointer.load(undefined, request.signal);
      return tables.createAt(pointed(pointer), request);
    },
  };
}
