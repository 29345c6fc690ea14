import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import { FileSystemCatalog, type TableOpener } from '../catalog/file-system-catalog.ts';
import type { Config } from '../config/settings.ts';
import { createdWith } from '../config/start-checks.ts';
import { DeltaTables } from '../delta/delta-tables.ts';
import type { OpenEngine } from '../engine/engine.ts';
import { IcebergTables } from '../iceberg/iceberg-tables.ts';
import type { OpenStoreWith } from '../storage/object-store.ts';
import type { FileRewriter } from '../table/operations.ts';
import type { TableCatalog } from '../table/table.ts';
import { PipelineCatalogs } from './pipeline-catalogs.ts';
import { productVersion } from './product-version.ts';

export interface OpenTablesParts {
  readonly config: Config;
  readonly openStore: OpenStoreWith;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly engine: OpenEngine;
  readonly rewriter: FileRewriter;
}

/** The tables of the configuration, of either format, at their locations or in their catalogs. */
export function openTables(parts: OpenTablesParts): { readonly catalog: TableCatalog; close(): Promise<void> } {
  const { config, openStore, clock, random, ids, failpoint, engine, rewriter } = parts;
  const delta = new DeltaTables({
    openStore,
    clock,
    random,
    ids,
    version: productVersion,
    rewriter,
    engine,
    failpoint,
    compression: config.commit.compression,
    staysWithTable: true,
  });
  const iceberg = new IcebergTables({
    openStore,
    clock,
    random,
    ids,
    version: productVersion,
    engine,
    failpoint,
    staysWithTable: true,
    allowedLocations: config.maintenance.allowedLocations,
    scratchDirectory: join(config.maintenance.engine.temporaryDirectory ?? tmpdir(), 'tidewater-changes'),
  });
  const catalogs = new PipelineCatalogs({
    catalogs: config.catalogs,
    tables: config.tables,
    iceberg,
    openStoreWith: (settings) => (location) => openStore(location, settings),
    clock,
    random,
    ids,
    failpoint,
    allowedLocations: config.maintenance.allowedLocations,
  });
  const catalog = new FileSystemCatalog(
    config.tables.map((table) => {
      const { name, format, location, definition } = table;
      return { name, format, location, definition: createdWith(format, definition, config), opener: catalogs.openerOf(table) };
    }),
    { delta, iceberg: icebergOpener(iceberg) },
  );
  return { catalog, close: () => catalogs.close() };
}

/** Tables of the file system, created where the configuration says. */
function icebergOpener(tables: IcebergTables): TableOpener {
  return {
    open: (name, location, signal) => tables.open(name, location, signal),
    create: async (name, location, definition, signal) =>
      (await tables.createTable({ name, location, definition, mode: 'create-if-absent', signal })).table,
  };
}
