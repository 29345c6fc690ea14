import { AnalysisException } from '../base/analysis-exception.ts';
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import { Secret } from '../base/secret.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { TableIdent } from '../table/table-ident.ts';
import { catalogKind, requiredSetting, settingsBelow, switchSetting } from './catalog-settings.ts';
import { HadoopNames } from './hadoop/hadoop-names.ts';
import { IcebergCatalog, type PointerTables } from './iceberg-catalog.ts';
import type { IcebergNames } from './iceberg-names.ts';
import { RestClient } from './rest/rest-client.ts';
import { RestNames } from './rest/rest-names.ts';
import { restSettings } from './rest/rest-settings.ts';
import { openSqlConnection, type SqlConnectionSettings } from './sql/open-sql-connection.ts';
import { SqlNames } from './sql/sql-names.ts';

export interface IcebergCatalogDependencies {
  readonly tables: PointerTables;
  /** With the catalog's own settings of object stores (`s3.…`) in it. */
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** A directory as users write it, as stores and metadata take it. */
  readonly absolutePath: (path: string) => string;
  /** Directories whose files tables may have, and lose, beside their own. Default: none. */
  readonly allowedLocations?: readonly string[] | undefined;
  /** Directories that statements may move metadata to (`jdbc`; others move none). Default: any. */
  readonly confinedTo?: readonly string[] | undefined;
}

/**
 * The Iceberg catalog that the settings below `spark.sql.catalog.<name>.` describe: `type` `hadoop`, `jdbc` (`sql`) or `rest`, or Java's
 * class in `catalog-impl`. Nothing is connected before the first name is looked up. Close it when done.
 *
 * @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` naming the key, and what is the nearest to an unknown one.
 */
export function openIcebergCatalog(
  name: string,
  properties: ReadonlyMap<string, string>,
  dependencies: IcebergCatalogDependencies,
): IcebergCatalog {
  const nameOf = (ident: TableIdent): string => [name, ...ident.namespace, ident.name].join('.');
  return new IcebergCatalog({
    name,
    names: openNames(name, properties, { ...dependencies, nameOf }),
    tables: dependencies.tables,
    clock: dependencies.clock,
    ids: dependencies.ids,
    tableDefaults: settingsBelow(properties, 'table-default.'),
    tableOverrides: settingsBelow(properties, 'table-override.'),
  });
}

/**
 * Refuses settings that `openIcebergCatalog` refuses, and URIs of databases that it does not connect to. Opens nothing.
 *
 * @throws AnalysisException `CATALOG_CONFIGURATION_INVALID`.
 */
export function checkCatalogSettings(name: string, properties: ReadonlyMap<string, string>): void {
  switch (catalogKind(name, properties)) {
    case 'hadoop':
      requiredSetting(name, properties, 'warehouse');
      return;
    case 'sql':
      openSqlConnection(sqlSettings(name, properties).connection, { clock: new SystemClock(), random: new SystemRandom() });
      return;
    case 'rest':
      restSettings(name, properties);
  }
}

interface NamesDependencies extends IcebergCatalogDependencies {
  readonly nameOf: (ident: TableIdent) => string;
}

function openNames(name: string, properties: ReadonlyMap<string, string>, dependencies: NamesDependencies): IcebergNames {
  switch (catalogKind(name, properties)) {
    case 'hadoop': {
      const { absolutePath, ...parts } = dependencies;
      return new HadoopNames({ ...parts, warehouse: absolutePath(requiredSetting(name, properties, 'warehouse')) });
    }
    case 'sql':
      return sqlNames(name, properties, dependencies);
    case 'rest': {
      const { clock, ids, nameOf } = dependencies;
      return new RestNames({ client: new RestClient({ settings: restSettings(name, properties), clock, ids }), nameOf });
    }
  }
}

function sqlNames(name: string, properties: ReadonlyMap<string, string>, dependencies: NamesDependencies): IcebergNames {
  const { absolutePath, nameOf, openStore, clock, random, ids, allowedLocations, confinedTo } = dependencies;
  const { connection, warehouse, ...rest } = sqlSettings(name, properties);
  return new SqlNames({
    ...rest,
    connection: openSqlConnection(connection, { clock, random }),
    warehouse: absolutePath(warehouse),
    nameOf,
    openStore,
    clock,
    ids,
    allowedLocations,
    confinedTo,
  });
}

interface SqlSettings {
  readonly catalog: string;
  readonly connection: SqlConnectionSettings;
  readonly layout: { readonly createTables: boolean; readonly upgrade: boolean };
  readonly warehouse: string;
  readonly strict: boolean;
}

function sqlSettings(name: string, properties: ReadonlyMap<string, string>): SqlSettings {
  const password = properties.get('jdbc.password');
  const version = properties.get('jdbc.schema-version')?.toUpperCase();
  if (version !== undefined && version !== 'V0' && version !== 'V1') {
    throw new AnalysisException({
      errorClass: 'CATALOG_CONFIGURATION_INVALID',
      message: `catalog "${name}" has jdbc.schema-version "${version}"`,
      hint: 'versions: V0, V1',
    });
  }
  return {
    catalog: properties.get('jdbc.catalog-name') ?? name,
    connection: {
      uri: requiredSetting(name, properties, 'uri'),
      user: properties.get('jdbc.user'),
      password: password === undefined ? undefined : new Secret(password),
    },
    layout: { createTables: switchSetting(name, properties, 'jdbc.init-catalog-tables', true), upgrade: version === 'V1' },
    warehouse: requiredSetting(name, properties, 'warehouse'),
    strict: switchSetting(name, properties, 'jdbc.strict-mode', false),
  };
}
