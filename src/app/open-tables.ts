import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import { type CatalogEntry, FileSystemCatalog } from '../catalog/file-system-catalog.ts';
import { formatDrivers } from '../catalog/formats.ts';
import type { Config } from '../config/settings.ts';
import { createdWith } from '../config/start-checks.ts';
import type { TableSettings } from '../config/table-settings.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { OpenStoreWith } from '../storage/object-store.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { FileRewriter } from '../table/operations.ts';
import type { Components } from './components.ts';
import { PipelineTables } from './made-tables.ts';
import { productVersion } from './package.ts';
import { PipelineCatalogs } from './pipeline-catalogs.ts';

export interface OpenTablesParts {
  readonly config: Config;
  readonly openStore: OpenStoreWith;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly commitTried?: CommitTried;
  readonly engine: OpenEngine;
  readonly rewriter: FileRewriter;
}

export interface OpenedTables extends Pick<Components, 'catalog' | 'tables'> {
  close(): Promise<void>;
}

/** The tables of the configuration, of either format, at their locations or in their catalogs. */
export function openTables(parts: OpenTablesParts): OpenedTables {
  const { config, openStore, clock, random, ids, failpoint } = parts;
  const drivers = formatDrivers(
    {
      ...parts,
      version: productVersion,
      compression: config.commit.compression,
      staysWithTable: true,
      scratchDirectory: join(config.maintenance.engine.temporaryDirectory ?? tmpdir(), 'tidewater-changes'),
    },
    {
      iceberg: {
        allowedLocations: config.maintenance.allowedLocations,
        readableLocations: config.tables.flatMap(({ name, location }) =>
          config.tables.some(({ twinOf }) => twinOf === name) ? [location] : [],
        ),
        // Whoever writes metadata must not choose what is published: what is read is below the table's directory and the allowed ones.
        confinedTo: [],
      },
    },
  );
  const catalogs = new PipelineCatalogs({
    catalogs: config.catalogs,
    iceberg: drivers.iceberg,
    openStoreWith: (settings) => (location) => openStore(location, settings),
    clock,
    random,
    ids,
    failpoint,
    allowedLocations: config.maintenance.allowedLocations,
  });
  const entryOf = (table: TableSettings): CatalogEntry => {
    const { name, format, location } = table;
    // A twin is made by what follows its leader, of what that one has then.
    const definition = table.twinOf === undefined ? createdWith(table, config) : undefined;
    return { name, format, location, definition, opener: catalogs.openerOf(table) };
  };
  const catalog = new FileSystemCatalog(config.tables.map(entryOf), drivers);
  const tables = new PipelineTables({
    ...{ config, clock, random, ids, failpoint, catalog },
    add: (table) => {
      catalog.add(entryOf(table));
    },
  });
  return { catalog, tables, close: () => catalogs.close() };
}
