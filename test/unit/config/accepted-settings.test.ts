import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/bigint-json.ts';
import { alternativesOf, configJsonSchema } from '../../../src/config/json-schema.ts';
import { load, loadError } from './config-support.ts';

const encodings = ', value: { format: avro, schemaId: none, schema: long }, key: { format: avro, schemaId: none, schema: long }';
/** A configuration that has an entry of every kind; the cases below change one setting of it. */
const base = `
pipeline: demo
kafka: { brokers: [k1:9092], ssl: { ca: "-----BEGIN CERTIFICATE-----", cert: "-----BEGIN CERTIFICATE-----", key: k }, sasl: { mechanism: plain, username: u, password: p } }
redis: { url: "redis://r:6379" }
schemaRegistry: { url: "http://registry:8081", username: u, password: p }
catalogs:
  - { name: lake, type: jdbc, uri: "jdbc:sqlite:/lake/catalog.db", warehouse: /lake, properties: { jdbc.schema-version: V1 }, credentials: { jdbc.user: u } }
tables:
  - name: orders
    path: tables/orders
    columns: [{ name: id, type: long, nullable: false, member: order }, { name: at, type: timestamp, from: timestamp }]
  - name: stock
    format: iceberg
    catalog: lake
    identifier: shop.stock
    columns: [{ name: id, type: long, nullable: false }, { name: at, type: timestamp }]
    partitioning: ["bucket(4, id)", day(at)]
    identifierColumns: [id]
    sortBy: [id desc]
  - { name: letters, columns: [{ name: reason, type: string }, { name: key, type: binary, from: key }] }
  - { name: accounts, mode: upsert, keyColumns: [id], columns: [{ name: id, type: long, nullable: false }, { name: more, type: date, nullable: false }] }
  - { name: shown, format: iceberg, twinOf: letters }
  - { name: stays, mode: upsert, keyColumns: [id], orderBy: [id], deleteWhen: id < 0, tombstoneRetention: 1d, columns: [{ name: id, type: long, nullable: false }] }
ingest: { routes: [{ topics: [orders], table: orders${encodings} }, { topics: [stock], table: stock }, { topics: [accounts], table: accounts }, { topics: [stays], table: stays }] }
feeds:
  - { table: orders, keyColumns: [id] }
`;

function changed(path: readonly (string | number)[], value: unknown, from = base): string {
  const document = parseDocument(from);
  document.setIn(path, value);
  return document.toString();
}

const place = (path: string): readonly (string | number)[] =>
  path.split(/[.[\]]+/).flatMap((part) => (part === '' ? [] : [/^\d+$/.test(part) ? Number(part) : part]));

describe('what cannot act is refused by its name, with the cure', () => {
  it.each([
    ['tables[1].evolve', { addColumn: true }, 'did you mean "addColumns"'],
    ['ingest.routes[0].topicPattern', 'orders-(', 'is no regular expression'],
    ['ingest.routes[0].topicPattern', '(a+)+', 'repeats what repeats'],
    ['ingest.routes[0].topicPattern', 'x-((?:a|b)c)*', 'repeats what repeats'],
    ['ingest.routes[0].topics', ['orders.*'], 'a pattern is given as topicPattern'],
    ['ingest.routes[0].topics', ['/orders-\\d+/'], 'a pattern is given as topicPattern'],
    ['ingest.routes[0].topics', 'orders, payments*', 'a pattern is given as topicPattern'],
    ['tables[0].path', 'gs://bucket/orders', 's3://bucket/prefix'],
    ['tables[0].path', 'abfss://container@account.dfs.core.windows.net/orders', 's3://bucket/prefix'],
    ['tables[0].path', 'hdfs://name/orders', 's3://bucket/prefix'],
    ['tables[0].path', 'dbfs:/orders', 's3://bucket/prefix'],
    ['tables[0].path', 's3:/bucket/orders', 's3://bucket/prefix'],
    ['tables[0].path', 'memory://orders', 's3://bucket/prefix'],
    ['tables[0].path', 's3://', 's3://bucket/prefix'],
    ['catalogs[0].warehouse', 'gs://bucket/lake', 's3://bucket/prefix'],
    ['catalogs[0].uri', 'jdbc:mysql://host/db', 'jdbc:postgresql://host/database'],
    ['catalogs[0].properties', { 'jdbc.sheema-version': 'V1' }, 'did you mean "jdbc.schema-version"'],
    ['dataDir', 's3://bucket/data', 'dataDir is a directory of this machine'],
    ['kafka.brokers', 'foo', 'kafka-1:9092'],
    ['kafka.brokers', ['k1:9092', 'k2'], 'kafka-1:9092'],
    ['kafka.brokers', 'kafka://k1:9092', 'kafka-1:9092'],
    ['kafka.brokers', 'k1:99999', 'kafka-1:9092'],
    ['kafka.brokers', 'k1:0', 'kafka-1:9092'],
    ['kafka.brokers', '::1:9092', 'kafka-1:9092'],
    ['kafka.ssl', 'maybe', 'expected true or false'],
    ['kafka.ssl', { cert: '-----BEGIN CERTIFICATE-----' }, 'needs key'],
    ['kafka.ssl', { key: 'k' }, 'needs cert'],
    ['kafka.ssl', { passphrase: 'p' }, 'needs key'],
    ['tables[0].columns[0].member', 'after.id', 'take "after" as a struct column'],
    ['tables[0].columns[0].member', '$.after.id', 'take "after" as a struct column'],
    ['tables[0].columns[0].member', '/after/id', 'take "after" as a struct column'],
    ['tables[0].columns[0].member', 'items[0]', 'take "items" as a struct column'],
    ['tables[0].columns[0].type', 'map<long,string>', 'string'],
    ['tables[0].columns[0].type', 'time', 'TIME'],
    ['tables[0].columns[1]', { name: 'twice', type: 'long', member: 'order' }, 'two columns take the member "order"'],
    ['tables[0].properties', { 'delta.appendOnyl': 'true' }, 'did you mean "delta.appendOnly"'],
    ['tables[0].properties', { 'delta.appendOnly': 'maybe' }, 'true or false'],
    ['tables[1].properties', { 'format-version': '9' }, 'v3'],
    ['tables[1].properties', { uuid: 'u' }, 'reserved'],
    ['ingest.maxNestingDepth', 513, '1 to 512'],
    ['feedDefaults.topicPrefix', 'p'.repeat(249), '1 to 249'],
  ])('%s: %j', (path, value, cure) => {
    // Of records in JSON, which is what most of these are about.
    const error = loadError({ yaml: changed(place(path), value, base.replace(encodings, '')) });
    expect(error.kind).toBe('invalid');
    expect(error.message).toContain(path.split(/[.[]/)[0]);
    expect(`${error.message} ${error.hint ?? ''}`).toContain(cure);
  });

  it.each([
    ['tables[0].path', 's3a://bucket/orders'],
    ['tables[0].path', 'file:///lake/orders'],
    ['kafka.brokers', ['[::1]:9092', 'my_host:9092', '10.0.0.1:65535']],
    ['tables[0].columns[0].member', '`http.method`'],
    ['kafka.ssl', false],
  ])('%s: %j is taken', (path, value) => {
    expect(load({ yaml: changed(place(path), value) }).config.pipeline).toBe('demo');
  });

  it('backticks name the member whose name has a dot', () => {
    const { config } = load({ yaml: changed(place('tables[0].columns[0].member'), '`http.method`') });
    expect(config.tables[0]?.sources.get('id')).toEqual({ kind: 'value', name: 'http.method' });
  });
});

/** A value that differs from the one in effect, where the schema does not tell one. */
const samples: Readonly<Record<string, unknown>> = {
  pipeline: 'other',
  'kafka.brokers': 'k8:9092,k9:9092',
  'kafka.ssl': true,
  'kafka.ssl.ca': '-----BEGIN OTHER-----',
  'kafka.ssl.cert': '-----BEGIN OTHER-----',
  'redis.url': 'rediss://other:6379',
  'catalogs[].name': 'lake',
  'catalogs[].type': 'jdbc',
  'catalogs[].uri': 'jdbc:postgresql://host/db',
  'catalogs[].properties': 'V0',
  'maintenance.allowedLocations': '/srv/shared',
  'tables[].format': 'delta',
  'tables[].catalog': 'lake',
  'tables[].identifier': 'shop.goods',
  'tables[].name': 'orders',
  'tables[].partitioning': 'bucket(4, id), day(at)',
  'tables[].identifierColumns': 'id',
  'tables[].keyColumns': 'more',
  'tables[].orderBy': 'more',
  'tables[].deleteWhen': 'id < 0',
  // The others need change events.
  'tables[].onTruncate': 'reject',
  'tables[].sortBy': 'day(at) desc nulls first, id',
  'tables[].twinOf': 'letters',
  'tables[].columns[].type': 'integer',
  'tables[].columns[].from': 'value',
  'tables[].columns[].name': 'id',
  'tables[].partitionBy': 'at',
  'tables[].properties': 'true',
  'ingest.maxBufferBytes': '256MiB',
  'ingest.deadLetters.table': 'letters',
  'commit.backoff.max': '6s',
  'ingest.routes[].table': 'orders',
  'ingest.routes[].value.format': 'avro',
  'ingest.routes[].value.schema': 'int',
  'ingest.routes[].value.fields': 'order, more',
  'ingest.routes[].key.fields': 'order, more',
  'ingest.routes[].value.delimiter': ';',
  'ingest.routes[].key.delimiter': ';',
  'ingest.routes[].key.format': 'avro',
  'ingest.routes[].key.schema': 'int',
  'ingest.routes[].columns[].type': 'integer',
  'ingest.routes[].columns[].from': 'offset',
  'ingest.routes[].select': 'abs(-2) AS id, at',
  'ingest.routes[].where': 'at IS NOT NULL',
  'ingest.routes[].expect[].condition': 'id > 1',
  'ingest.routes[].divide.tables[].table': 'orders',
  'ingest.routes[].divide.tables[].columns[].type': 'integer',
  'ingest.routes[].divide.tables[].columns[].from': 'offset',
  'ingest.routes[].divide.tables[].select': 'abs(-2) AS id, at',
  'ingest.routes[].divide.tables[].where': 'at IS NOT NULL',
  'ingest.routes[].divide.tables[].expect[].condition': 'id > 1',
  'ingest.routes[].divide.template.table': 'made-{key}',
  'ingest.routes[].divide.template.like': 'orders',
  'ingest.routes[].divide.template.columns[].type': 'integer',
  'ingest.routes[].divide.template.columns[].from': 'offset',
  'ingest.routes[].divide.template.select': 'abs(-2) AS id, at',
  'ingest.routes[].divide.template.where': 'at IS NOT NULL',
  'ingest.routes[].divide.template.expect[].condition': 'id > 1',
  'schemaRegistry.url': 'https://registry.example.com/apis/ccompat/v7',
  'feeds[].table': 'orders',
  'feeds[].keyColumns': 'at',
  'feeds[].select': 'id',
  'feeds[].where': 'id > 1',
  'feeds[].topicConfig': 'compact',
  'feedDefaults.topicConfig': 'compact',
  'server.host': '127.0.0.2',
};
/** Settings of the first route's records, and a route that has them. */
const ofTransforms = /^ingest\.routes\[\]\.(columns|select|where|expect)/;
const transform =
  ', columns: [{ name: order, type: long }, { name: at, type: timestamp, from: timestamp }], select: ["1 AS id", at], where: "true", expect: [{ name: e, condition: id > 0 }]';
/** Settings of the second table of `base`. */
const onlyIceberg = /^tables\[\]\.(catalog|identifier|partitioning|identifierColumns|sortBy)$/;
/** Settings of its fourth table. */
const onlyKeyed = /^tables\[\]\.(mode|keyColumns|orderBy|deleteWhen|onRepeatedKeys|onTruncate|changeImages)$/;
/** Settings of its last table. */
const onlyRemembered = /^tables\[\]\.tombstone/;
/** Settings of routes that only one format has, and a route of it. */
const ofFormats: readonly (readonly [of: RegExp, encoding: string])[] = [
  [/^ingest\.routes\[\]\.(value|key)\.(fields|delimiter)$/, '{ format: csv, fields: [order] }'],
  [/^ingest\.routes\[\]\.(value|key)\.message$/, '{ format: protobuf, message: M }'],
];
/** Settings of a route that is divided, and such a route. */
const ofDivision = /^ingest\.routes\[\]\.divide\.(\w+)/;
function divided(path: string): string {
  const setting = ofDivision.exec(path)?.[1];
  if (setting === undefined) return base;
  const key = setting === 'header' ? 'header: h' : setting === 'by' ? 'by: record-type' : 'member: t';
  const ofPart = /\.(tables\[\]|template)\.(columns|select|where|expect)/.test(path) ? transform : '';
  const value = setting === 'by' ? ', value: { format: avro }' : '';
  const parts =
    setting === 'template'
      ? `template: { table: "made_{key}", like: orders${ofPart} }`
      : `tables: [{ table: orders, values: [x]${ofPart} }]`;
  return base.replace(`table: orders${encodings}`, `divide: { ${key}, ${parts} }${value}`);
}
/** The key of an entry, where any may be given. */
const keys: Readonly<Record<string, string>> = {
  'catalogs[].properties': 'jdbc.schema-version',
  'catalogs[].credentials': 'jdbc.password',
  'tables[].properties': 'delta.appendOnly',
};

/** Every plain setting of the schema with a value it can have: lists have their first entry, maps one. */
function* settings(schema: JsonObject, path: string): Generator<readonly [path: string, value: unknown]> {
  const choices = alternativesOf(schema);
  const groups = choices.flatMap(({ properties }) => (isJsonObject(properties) ? [properties] : []));
  for (const [key, member] of groups.flatMap((group) => Object.entries(group))) {
    if (isJsonObject(member)) yield* settings(member, path === '' ? key : `${path}.${key}`);
  }
  const { items, additionalProperties } = schema;
  if (isJsonObject(items) && isJsonObject(items['properties'])) yield* settings(items, `${path}[]`);
  else if (isJsonObject(additionalProperties)) yield [path, Object.hasOwn(samples, path) ? samples[path] : 'some text'];
  else if (schema['type'] !== 'object' && (groups.length === 0 || path.endsWith('ssl') || path.endsWith('start')))
    yield [path, Object.hasOwn(samples, path) ? samples[path] : sampleOf(schema)];
}

function asList<T>(value: JsonValue | undefined, otherwise: readonly T[]): readonly (JsonValue | T)[] {
  const list: readonly JsonValue[] | readonly T[] = Array.isArray(value) ? value : otherwise;
  return list;
}

function sampleOf(schema: JsonObject): unknown {
  const { type, minimum } = schema;
  const unit = schema['x-unit'];
  const texts: readonly JsonValue[] = alternativesOf(schema).flatMap((one) => asList(one['enum'], []));
  const types: readonly unknown[] = alternativesOf(schema).flatMap((one) => asList(one['type'], [one['type']]));
  if (texts.length > 0 && !types.includes('boolean')) return texts.at(-1);
  if (types.includes('boolean')) return schema['default'] !== true;
  if (unit === 'duration' || unit === 'bytes') return schema['x-min'];
  if (types.includes('integer')) return Number(minimum) + 1;
  return type === undefined || typeof type === 'string' || Array.isArray(type) ? 'some-text' : undefined;
}

describe('every setting can be set by an override, an environment variable and a reference', () => {
  const all = [...settings(configJsonSchema(), '')].filter(([, value]) => value !== undefined);

  it('there are as many as the reference page has', () => {
    expect(all.length).toBeGreaterThan(90);
    expect(all.map(([path]) => path)).toEqual(expect.arrayContaining(['kafka.ssl', 'feeds[].start', 'feeds[].start.version']));
  });

  it.each(all)('%s', (path, value) => {
    const table =
      path === 'tables[].twinOf' ? 4 : onlyRemembered.test(path) ? 5 : onlyIceberg.test(path) ? 1 : onlyKeyed.test(path) ? 3 : 0;
    const where = path.replace('tables[]', `tables[${table}]`).replaceAll('[]', '[0]');
    const parts = [...place(where), ...(path in keys || path.endsWith('topicConfig') ? [keys[path] ?? 'cleanup.policy'] : [])];
    // One of the two ways to give a password, or to log in.
    const without = path.endsWith('passwordFile') ? ', password: p' : path === 'schemaRegistry.token' ? ', username: u, password: p' : '';
    const encoding = ofFormats.find(([of]) => of.test(path))?.[1];
    const transformed = ofTransforms.test(path) ? base.replace(encodings, encodings + transform) : divided(path);
    const encoded = encoding === undefined ? transformed : base.replace(encodings, `, value: ${encoding}, key: ${encoding}`);
    const from = without === '' ? encoded : encoded.replace(new RegExp(`(?<=${path.split('.')[0] ?? ''}: .*)${without}`), '');
    const written = load({ yaml: changed(parts, value, from) }).config;
    expect(load({ yaml: changed(parts, '${X}', from), env: { X: String(value) } }).config).toEqual(written);
    const named = parts.map(String);
    if (named.some((part) => part.includes('.'))) return;
    expect(load({ yaml: from, overrides: [`${named.join('.')}=${String(value)}`] }).config).toEqual(written);
    expect(load({ yaml: from, env: { [`TIDEWATER__${named.join('__')}`]: String(value) } }).config).toEqual(written);
  });
});
