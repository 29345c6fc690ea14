import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { StorageProperties, StorageSettings } from '../base/storage-settings.ts';
import { requiredSetting } from '../catalog/catalog-settings.ts';
import { IcebergCatalog } from '../catalog/iceberg-catalog.ts';
import { openIcebergCatalog } from '../catalog/open-iceberg-catalog.ts';
import { WarehouseCatalog } from '../catalog/warehouse-catalog.ts';
import type { IcebergTables } from '../iceberg/iceberg-tables.ts';
import type { SessionConf } from '../session/conf/session-conf.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { SessionCatalog, TableFormatDriver } from '../table/table-formats.ts';
import { icebergPointerTables } from './iceberg-pointer-tables.ts';

/** The catalog of names without one. */
export const sessionCatalog = 'spark_catalog';
const defaultWarehouse = 'spark-warehouse';
/** A catalog of this class has the tables of a pipeline with what their topics hold behind them. */
export const liveCatalogClass = 'tidewater.LiveCatalog';
/** A catalog of this class keeps Delta tables below a directory; of any other, Iceberg tables. */
const deltaCatalogClass = 'org.apache.spark.sql.delta.catalog.DeltaCatalog';

export interface CatalogParts {
  readonly drivers: readonly TableFormatDriver[];
  readonly iceberg: IcebergTables;
  readonly openStore: OpenObjectStore;
  /** Stores with settings on top of the session's: those of a catalog, or of one of its tables. */
  readonly openStoreWith: (settings: StorageSettings) => OpenObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Directories that Iceberg tables may refer to beside their own places. */
  readonly allowedLocations: readonly string[];
  /** What the session is confined to. */
  readonly confinedTo: readonly string[] | undefined;
}

/**
 * The catalogs that the configuration names (`spark.sql.catalog.<name>…`), and the session's own.
 *
 * @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` naming the key.
 */
export function openCatalogs(conf: SessionConf, parts: CatalogParts): ReadonlyMap<string, SessionCatalog> {
  const { drivers, openStore } = parts;
  const warehouse = absolutePath(conf.find('spark.sql.warehouse.dir') ?? defaultWarehouse);
  const catalogs = new Map<string, SessionCatalog>([
    [sessionCatalog, new WarehouseCatalog({ name: sessionCatalog, directory: warehouse, drivers, openStore })],
  ]);
  const settings = conf.below('spark.sql.catalog.');
  for (const name of new Set([...settings.keys()].map((key) => key.split('.')[0] ?? ''))) {
    if (name !== sessionCatalog && settings.get(name) !== liveCatalogClass) catalogs.set(name, openCatalog(name, conf, parts));
  }
  return catalogs;
}

export async function closeCatalogs(catalogs: ReadonlyMap<string, SessionCatalog>): Promise<void> {
  for (const catalog of catalogs.values()) if (catalog instanceof IcebergCatalog) await catalog.close();
}

function openCatalog(name: string, conf: SessionConf, parts: CatalogParts): SessionCatalog {
  const properties = conf.below(`spark.sql.catalog.${name}.`);
  if (conf.find(`spark.sql.catalog.${name}`) === deltaCatalogClass) {
    const { drivers, openStore } = parts;
    return new WarehouseCatalog({ name, directory: absolutePath(requiredSetting(name, properties, 'warehouse')), drivers, openStore });
  }
  const { clock, random, ids, allowedLocations, confinedTo } = parts;
  const stores = storageSettings(properties);
  return openIcebergCatalog(name, properties, {
    tables: icebergPointerTables(parts.iceberg, parts.openStoreWith, stores),
    openStore: parts.openStoreWith(stores),
    clock,
    random,
    ids,
    absolutePath,
    allowedLocations,
    confinedTo,
  });
}

/** Those of a catalog's properties that say how object stores are reached. */
export function storageSettings(properties: ReadonlyMap<string, string>): StorageProperties {
  return Object.fromEntries([...properties].filter(([key]) => /^(s3|client)[.]/.test(key)));
}

/** Settings of object stores: `s3.…`, also below `tidewater.`, and Hadoop's `fs.s3a.…`, also below `spark.hadoop.`. Ours win. */
export function storageProperties(conf: SessionConf): Readonly<Record<string, string>> {
  const found = ['spark.hadoop.fs.s3a.', 'fs.s3a.', 's3.', 'client.', 'tidewater.s3.'].flatMap((prefix) => {
    const name = prefix.replace(/^(?:spark\.hadoop|tidewater)\./, '');
    return [...conf.below(prefix)].map(([key, value]) => [`${name}${key}`, value] as const);
  });
  return Object.fromEntries(found);
}

/** A location as stores take it: `file:` URIs and relative paths become absolute ones, other schemes stay. */
export function absolutePath(path: string): string {
  if (/^file:/i.test(path)) return trimmed(fileURLToPath(path.replace(/^file:\/*/i, 'file:///')));
  // Hadoop's names for an object store mean the same tables.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return trimmed(path.replace(/^s3[an]:/i, 's3:'));
  return trimmed(isAbsolute(path) ? resolve(path) : resolve(process.cwd(), path));
}

function trimmed(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}
