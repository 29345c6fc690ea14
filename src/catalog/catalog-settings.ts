import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';

export type CatalogKind = 'hadoop' | 'sql' | 'rest';

/** Settings every Iceberg catalog may have (https://iceberg.apache.org/docs/latest/configuration/#catalog-properties). */
const commonKeys = [
  'type',
  'catalog-impl',
  'warehouse',
  'uri',
  'clients',
  'cache-enabled',
  'cache.case-sensitive',
  'cache.expiration-interval-ms',
  'default-namespace',
  'io-impl',
];
const keysOfKinds: Readonly<Record<CatalogKind, readonly string[]>> = {
  hadoop: [],
  sql: ['jdbc.user', 'jdbc.password', 'jdbc.schema-version', 'jdbc.init-catalog-tables', 'jdbc.strict-mode', 'jdbc.catalog-name'],
  rest: [
    'prefix',
    'token',
    'credential',
    'scope',
    'audience',
    'resource',
    'oauth2-server-uri',
    'rest-page-size',
    'rest.auth.type',
    'rest.auth.basic.username',
    'rest.auth.basic.password',
    'token-refresh-enabled',
    'token-expires-in-ms',
    'token-exchange-enabled',
    'rest-metrics-reporting-enabled',
    'snapshot-loading-mode',
    'view-endpoints-supported',
  ],
};
/** Families of keys whose members are not ours to know. */
const families = ['table-default.', 'table-override.', 's3.', 'client.', 'hadoop.', 'lock.', 'io.'];
const familiesOfKinds: Readonly<Record<CatalogKind, readonly string[]>> = { hadoop: [], sql: [], rest: ['header.'] };
const classes: Readonly<Record<string, CatalogKind | undefined>> = {
  'org.apache.iceberg.hadoop.HadoopCatalog': 'hadoop',
  'org.apache.iceberg.jdbc.JdbcCatalog': 'sql',
  'org.apache.iceberg.rest.RESTCatalog': 'rest',
};
const types: Readonly<Record<string, CatalogKind | undefined>> = { hadoop: 'hadoop', jdbc: 'sql', sql: 'sql', rest: 'rest' };

/**
 * Which kind of catalog the settings below `spark.sql.catalog.<name>.` describe: by `catalog-impl`, else `type`; without both it is one of
 * directories.
 *
 * @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` for kinds this version does not have, and for a key that would be ignored.
 */
export function catalogKind(name: string, properties: ReadonlyMap<string, string>): CatalogKind {
  const [type, className] = [properties.get('type'), properties.get('catalog-impl')];
  if (type !== undefined && className !== undefined) throw invalidCatalog(name, 'has both type and catalog-impl', 'remove one of them');
  const kind = className === undefined ? types[(type ?? 'hadoop').toLowerCase()] : classes[className];
  if (kind === undefined) {
    const [what, known] = className === undefined ? [`type "${type ?? ''}"`, types] : [`class "${className}"`, classes];
    throw invalidCatalog(name, `has ${what}, which this version does not have`, `known: ${Object.keys(known).join(', ')}`);
  }
  refuseUnknownKeys(name, kind, properties);
  return kind;
}

/** The settings whose keys begin with a prefix, without it. */
export function settingsBelow(properties: ReadonlyMap<string, string>, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...properties].flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [])),
  );
}

/** @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` when it is not set. */
export function requiredSetting(name: string, properties: ReadonlyMap<string, string>, key: string): string {
  const value = properties.get(key);
  if (value !== undefined && value !== '') return value;
  throw invalidCatalog(name, `has no ${key}`, `set spark.sql.catalog.${name}.${key}`);
}

/** @throws AnalysisException `CATALOG_CONFIGURATION_INVALID` for text other than true and false. */
export function switchSetting(name: string, properties: ReadonlyMap<string, string>, key: string, fallback: boolean): boolean {
  const value = properties.get(key)?.toLowerCase();
  if (value === undefined) return fallback;
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalidCatalog(name, `has ${key} "${value}"`, 'write true or false');
}

export function invalidCatalog(name: string, problem: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'CATALOG_CONFIGURATION_INVALID',
    message: `catalog "${name}" ${problem}`,
    hint,
    parameters: { catalogName: name },
  });
}

function refuseUnknownKeys(name: string, kind: CatalogKind, properties: ReadonlyMap<string, string>): void {
  const known = [...commonKeys, ...keysOfKinds[kind]];
  const prefixes = [...families, ...familiesOfKinds[kind]];
  for (const key of properties.keys()) {
    if (known.includes(key) || prefixes.some((prefix) => key.startsWith(prefix) && key.length > prefix.length)) continue;
    const nearest = nearestName(key, known);
    const hint =
      nearest === undefined
        ? `known keys: ${[...known, ...prefixes.map((prefix) => `${prefix}*`)].join(', ')}`
        : `did you mean "${nearest}"?`;
    throw invalidCatalog(name, `has the key "${key}", which a catalog of this kind does not have`, hint);
  }
}
