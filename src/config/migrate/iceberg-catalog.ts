import { isServiceError } from '../../base/errors.ts';
import { isSecretName } from '../../base/redaction.ts';
import { catalogKind } from '../../catalog/catalog-settings.ts';
import { checkLocation } from '../../storage/open-object-store.ts';
import { comment, map, pair, type YamlEntry } from '../pipeline-yaml.ts';
import type { ConnectorOptions } from './connector-options.ts';

const prefix = 'iceberg.catalog.';
type CatalogType = 'hadoop' | 'jdbc' | 'rest';

const types: Readonly<Record<string, CatalogType | undefined>> = { rest: 'rest', hadoop: 'hadoop', jdbc: 'jdbc' };
const classes: Readonly<Record<string, CatalogType | undefined>> = {
  'org.apache.iceberg.rest.RESTCatalog': 'rest',
  'org.apache.iceberg.hadoop.HadoopCatalog': 'hadoop',
  'org.apache.iceberg.jdbc.JdbcCatalog': 'jdbc',
};

/** Catalogs that are not spoken to, by words of their types and classes, and what gets at their tables. */
const cures: readonly (readonly [word: RegExp, cure: string])[] = [
  [/nessie/i, 'Nessie answers as a REST catalog too, at <server>/iceberg'],
  [
    /glue/i,
    'Glue’s own REST endpoint needs requests signed by AWS, which are not made here; put another REST catalog before the tables, or register them in one',
  ],
  [/hive/i, 'put a REST catalog before the metastore, or register the tables in one'],
];
const elsewhere = 'register the tables in a REST catalog, or one of type jdbc';

/** Hadoop's settings of object stores that catalogs have too. */
const hadoopNames: Readonly<Record<string, string>> = {
  'fs.s3a.endpoint': 's3.endpoint',
  'fs.s3a.endpoint.region': 's3.region',
  'fs.s3a.path.style.access': 's3.path-style-access',
  'fs.s3a.access.key': 's3.access-key-id',
  'fs.s3a.secret.key': 's3.secret-access-key',
  'fs.s3a.session.token': 's3.session-token',
};
const secretNames: ReadonlySet<string> = new Set(['jdbc.user', 's3.access-key-id', 'rest.auth.basic.username']);
/** Of programs on a JVM. */
const ofJava: ReadonlySet<string> = new Set(['io-impl', 'clients', 'cache-enabled', 'metrics-reporter-impl']);

/** The catalog of the sink, as an item of `catalogs`. */
export function catalogEntries(options: ConnectorOptions, name: string): readonly YamlEntry[] {
  const given = options.take(`${prefix}type`);
  const className = options.take(`${prefix}catalog-impl`);
  const type = className === undefined ? types[(given ?? '').toLowerCase()] : classes[className];
  const option = className === undefined ? `${prefix}type` : `${prefix}catalog-impl`;
  const said = className ?? given;
  const cure = cures.find(([word]) => word.test(said ?? ''))?.[1] ?? elsewhere;
  if (type === undefined)
    options.note(option, said === undefined ? 'doubtful' : 'refused', said === undefined ? 'is not set' : `${said}: ${cure}`);
  const made = type ?? 'rest';
  const settings = settingsOf(options, name, made);
  const entry = ([key, text, from]: Setting): YamlEntry => pair(key, options.shown(from, text), from);
  return [
    pair('name', name, 'iceberg.catalog'),
    pair('type', made, type === undefined ? `CHECK: ${said ?? 'nothing'} is no type of catalog here; ${cure}` : option),
    ...uriEntries(options, made, type !== undefined),
    ...warehouseEntries(options, made),
    ...(settings.properties.length === 0 ? [] : [map('properties', settings.properties.map(entry))]),
    ...(settings.credentials.length === 0
      ? []
      : [
          map(
            'credentials',
            settings.credentials.map(([key, text, from]) => pair(key, options.secret(from, text), from)),
          ),
        ]),
    ...(made === 'hadoop' ? [comment('Let only one kind of program write such a table at a time: stop the sink first.')] : []),
  ];
}

type Setting = readonly [key: string, text: string, from: string];

function uriEntries(options: ConnectorOptions, type: CatalogType, isKnown: boolean): readonly YamlEntry[] {
  const uri = options.take(`${prefix}uri`);
  if (type === 'hadoop') {
    if (uri !== undefined) options.note(`${prefix}uri`, 'needless', 'the warehouse says where tables are');
    return [];
  }
  if (!isKnown && uri !== undefined) options.note(`${prefix}uri`, 'refused', 'of a catalog that is not spoken to');
  if (!isKnown || uri === undefined)
    return [
      pair(
        'uri',
        options.variable('ICEBERG_REST_URI', 'address of a REST catalog that has the tables'),
        isKnown ? undefined : 'CHECK: of the catalog that is put in its place',
      ),
    ];
  return [pair('uri', options.shown(`${prefix}uri`, uri), `${prefix}uri`)];
}

function warehouseEntries(options: ConnectorOptions, type: CatalogType): readonly YamlEntry[] {
  const option = `${prefix}warehouse`;
  const warehouse = options.take(option);
  if (warehouse === undefined)
    return type === 'rest'
      ? []
      : [pair('warehouse', options.variable('ICEBERG_WAREHOUSE', 'directory of tables that are made'), 'CHECK: the sink has none')];
  if (!isReachable(warehouse))
    options.note(
      option,
      type === 'rest' ? 'doubtful' : 'refused',
      `${warehouse}: files are read and written in directories and at s3:// alone`,
    );
  if (type === 'rest' || isReachable(warehouse)) return [pair('warehouse', options.shown(option, warehouse), option)];
  return [pair('warehouse', options.variable('ICEBERG_WAREHOUSE', `in place of ${option}`), `CHECK: was in a store that is not reached`)];
}

function isReachable(location: string): boolean {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(location)) return true;
  try {
    checkLocation(location);
    return true;
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}

function settingsOf(
  options: ConnectorOptions,
  name: string,
  type: CatalogType,
): { readonly properties: readonly Setting[]; readonly credentials: readonly Setting[] } {
  options.take(`${prefix}uri`);
  options.take(`${prefix}warehouse`);
  const ofCatalog = options.takeBelow(prefix).flatMap(([key, text]): readonly Setting[] => {
    const from = prefix + key;
    if (ofJava.has(key)) options.note(from, 'needless', 'of programs on a JVM');
    else if (isKnown(name, type, key, text)) return [[key, text, from]];
    else options.note(from, 'unmatched', `a catalog of type ${type} has no such setting here`);
    return [];
  });
  const ofHadoop = options.takeBelow('iceberg.hadoop.').flatMap(([key, text]): readonly Setting[] => {
    const known = hadoopNames[key];
    if (known !== undefined && !ofCatalog.some(([other]) => other === known)) return [[known, text, `iceberg.hadoop.${key}`]];
    options.note(
      `iceberg.hadoop.${key}`,
      'unmatched',
      'no settings of Hadoop are read, but those of s3a: see docs/guides/object-stores.md',
    );
    return [];
  });
  const all = [...ofCatalog, ...ofHadoop];
  const isSecret = ([key]: Setting): boolean => isSecretName(key) || secretNames.has(key);
  return { properties: all.filter((setting) => !isSecret(setting)), credentials: all.filter(isSecret) };
}

/** By the rule of catalogs themselves. */
function isKnown(name: string, type: CatalogType, key: string, text: string): boolean {
  try {
    catalogKind(
      name,
      new Map([
        ['type', type],
        [key, text],
      ]),
    );
    return true;
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}
