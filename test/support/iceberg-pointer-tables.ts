import type { Clock } from '../../src/base/clock.ts';
import { inertFailpoint } from '../../src/base/failpoint.ts';
import type { IdSource } from '../../src/base/ids.ts';
import type { Random } from '../../src/base/random.ts';
import type { PointerTables } from '../../src/catalog/iceberg-catalog.ts';
import { createTable } from '../../src/iceberg/definition/create-table.ts';
import { IcebergTables } from '../../src/iceberg/iceberg-tables.ts';
import { tableFiles } from '../../src/iceberg/open-table-files.ts';
import type { OpenObjectStore } from '../../src/storage/object-store.ts';

/** Tables of catalogs, without an engine: to make and to look at. */
export function pointerTables(parts: {
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
}): PointerTables {
  const tables = new IcebergTables({ ...parts, version: '0' });
  return {
    openPointer: async (pointer, signal) => {
      const loaded = await pointer.load(undefined, signal);
      return loaded === undefined ? undefined : { table: tables.openLoaded({ pointer }, loaded), tableId: loaded.metadata.tableUuid };
    },
    createAt: async (pointer, request) => {
      const files = tableFiles({ name: pointer.name, openStore: parts.openStore, roots: () => [request.location] });
      const engine = (): Promise<never> => Promise.reject(new Error('there is no engine'));
      const context = { ...parts, files, engine, failpoint: inertFailpoint, engineName: 'test', engineVersion: '0' };
      const made = await createTable(context, pointer, request);
      const loaded = await pointer.load(undefined);
      if (loaded === undefined) throw new Error(`${pointer.name} is not there after it was made`);
      return { table: tables.openLoaded({ pointer }, loaded), created: made.created, written: made.written };
    },
  };
}
