import { pair, type YamlEntry } from '../pipeline-yaml.ts';
import { type ConnectorOptions, type FateRule, listOf } from './connector-options.ts';
import type { RecordDraft } from './record-draft.ts';
import { RecordRow } from './record-row.ts';

interface Converter {
  readonly settings: readonly (readonly [setting: string, value: string])[];
  /** Where its schemas are: the option that names the registry. */
  readonly registry?: string | undefined;
  readonly column?: 'string' | 'binary' | undefined;
  readonly check?: string | undefined;
}

const confluent = 'schema.registry.url';
const apicurio = 'apicurio.registry.url';
const mayBeHeader =
  'CHECK: schemaId: header where Apicurio’s serializers write the id to headers; the address ends in /apis/ccompat/v7 here';

/** By the class of the converter, and what a managed connector calls its format. */
const converters: Readonly<Record<string, Converter>> = {
  'org.apache.kafka.connect.json.JsonConverter': { settings: [['format', 'connect-json']] },
  'io.confluent.connect.avro.AvroConverter': { settings: [['format', 'avro']], registry: confluent },
  'io.confluent.connect.protobuf.ProtobufConverter': { settings: [['format', 'protobuf']], registry: confluent },
  'io.confluent.connect.json.JsonSchemaConverter': {
    settings: [
      ['format', 'json'],
      ['schemaId', 'prefix'],
    ],
    registry: confluent,
  },
  'io.apicurio.registry.utils.converter.AvroConverter': { settings: [['format', 'avro']], registry: apicurio, check: mayBeHeader },
  'io.apicurio.registry.utils.converter.ExtJsonConverter': {
    settings: [['format', 'connect-json']],
    check: 'CHECK: schemas are in the registry of Apicurio; without them in the value write format: json',
  },
  'org.apache.kafka.connect.storage.StringConverter': { settings: [['format', 'string']], column: 'string' },
  'org.apache.kafka.connect.converters.ByteArrayConverter': { settings: [['format', 'bytes']], column: 'binary' },
  AVRO: { settings: [['format', 'avro']], registry: confluent },
  PROTOBUF: { settings: [['format', 'protobuf']], registry: confluent },
  JSON_SR: {
    settings: [
      ['format', 'json'],
      ['schemaId', 'prefix'],
    ],
    registry: confluent,
  },
  JSON: { settings: [['format', 'json']] },
  STRING: { settings: [['format', 'string']], column: 'string' },
  BYTES: { settings: [['format', 'bytes']], column: 'binary' },
};

const registryClient = 'of the registry’s client: records are read by the schema that wrote them';

const rules: readonly FateRule[] = [
  { name: 'key.converter*', fate: 'needless', text: 'the sink writes no keys; a column of them is from: key, with the route’s key.format' },
  { name: 'header.converter*', fate: 'needless', text: 'the sink writes no headers' },
  { name: 'input.key.format', fate: 'needless', text: 'the sink writes no keys' },
  {
    name: 'value.converter.schema.registry.ssl.*',
    fate: 'doubtful',
    text: 'certificates are checked against the system’s authorities and NODE_EXTRA_CA_CERTS',
  },
  { name: 'value.converter.*', fate: 'needless', text: registryClient },
  { name: 'schema.context.name', fate: 'doubtful', text: 'a context is part of the registry’s address: …/contexts/<name>' },
  { name: 'value.subject.name.strategy', fate: 'needless', text: registryClient },
];

/** Reads how values are encoded into the draft, and the registry's settings. */
export function applyConverters(draft: RecordDraft): readonly YamlEntry[] {
  const { options, value } = draft;
  const [option, named] = ['value.converter', 'input.data.format', 'confluent.value.converter']
    .map((candidate) => [candidate, options.take(candidate)] as const)
    .find(([, text]) => text !== undefined) ?? ['value.converter', undefined];
  const converter = converters[named ?? ''];
  const withSchemas = options.takeSwitch('value.converter.schemas.enable') ?? true;
  if (named === undefined) {
    value.set('format', {
      setting: 'json',
      note: 'CHECK: the connector has no value.converter, its worker says which; connect-json with schemas.enable',
    });
  } else if (converter === undefined) {
    value.set('format', { setting: 'json', note: `CHECK: ${option} ${named} is not known; which encoding do values have?` });
    draft.doubts.push(`${option} ${named}`);
  }
  for (const [setting, written] of converter?.settings ?? [])
    value.set(setting, {
      setting: written === 'connect-json' && !withSchemas ? 'json' : written,
      note: [
        named,
        ...(written === 'connect-json' ? [`schemas.enable=${String(withSchemas)}`] : []),
        ...(converter?.check === undefined ? [] : [converter.check]),
      ].join(', '),
    });
  if (converter?.column !== undefined) draft.row = new RecordRow([{ name: 'value', type: { kind: converter.column } }]);
  const registry = converter?.registry === undefined ? [] : registryEntries(options, `value.converter.${converter.registry}`);
  options.settle(rules);
  return registry;
}

function registryEntries(options: ConnectorOptions, option: string): readonly YamlEntry[] {
  const [first, ...others] = listOf(options.take(option) ?? '');
  const beside = others.length === 0 ? '' : `; the first of ${others.length + 1} addresses`;
  const bare = first?.replace(/^(https?:\/\/)[^@/]*@/, '$1');
  const hasUser = first !== undefined && first !== bare;
  const url =
    bare === undefined
      ? pair('url', options.variable('SCHEMA_REGISTRY_URL', 'the registry, which the connector does not name'))
      : pair('url', options.shown(option, bare), `${option}${beside}`);
  const info = 'value.converter.basic.auth.user.info';
  const older = 'value.converter.schema.registry.basic.auth.user.info';
  const user = options.take(info) ?? options.take(older);
  options.take('value.converter.basic.auth.credentials.source');
  const token = options.take('value.converter.bearer.auth.token');
  options.take('value.converter.bearer.auth.credentials.source');
  if (token !== undefined) return [url, pair('token', options.secret('value.converter.bearer.auth.token', token), 'bearer.auth.token')];
  if (user === undefined && !hasUser) return [url];
  const note = hasUser ? 'was in schema.registry.url' : 'was basic.auth.user.info';
  return [
    url,
    pair('username', options.variable('SCHEMA_REGISTRY_USER', note), note),
    pair('password', options.variable('SCHEMA_REGISTRY_PASSWORD', note), note),
  ];
}
