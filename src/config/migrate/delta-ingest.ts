import { map, pair, type YamlEntry } from '../pipeline-yaml.ts';
import { type ConnectorOptions, type FateRule, listOf } from './connector-options.ts';
import { durationText, type KafkaClient } from './kafka-client.ts';
import { invalid } from './read-connector.ts';
import { metadataTypes, type RecordDraft } from './record-draft.ts';
import type { PlannedTable, SinkPlan } from './sink-plan.ts';
import { tableNames } from './topics.ts';

const rules: readonly FateRule[] = [
  { name: 'consumer_group', fate: 'needless', text: 'a group of its own: ingest.groupId' },
  {
    name: 'app_id',
    fate: 'needless',
    text: 'progress is kept under the name of the pipeline; the pipeline does not go on from offsets under this id',
  },
  {
    name: 'seek_offsets',
    fate: 'doubtful',
    text: 'no offsets to begin at are set; leave records out by where over columns from offset and partition',
  },
  { name: 'max_messages_per_batch', fate: 'needless', text: 'ingest.maxBatchRows bounds a batch' },
  {
    name: 'min_bytes_per_file',
    fate: 'unmatched',
    text: 'ingest.maxBatchBytes counts bytes as fetched; small files are compacted by maintenance',
  },
  { name: 'checkpoints', fate: 'needless', text: 'checkpoints are written' },
  { name: 'statsd_endpoint', fate: 'unmatched', text: 'metrics are served for Prometheus: server.port' },
  { name: 'ends_at_latest_offsets', fate: 'unmatched', text: 'the pipeline goes on until it is stopped' },
  { name: 'dlq_transform.*', fate: 'unmatched', text: 'the table of dead letters has columns of its own' },
];

/** kafka-delta-ingest, by its command line. */
export function deltaIngest(options: ConnectorOptions, draft: RecordDraft): SinkPlan {
  const topic = options.take('topic');
  const location = options.take('table_location');
  if (topic === undefined || location === undefined)
    throw invalid('the command names no topic and no table', 'give it whole: kafka-delta-ingest ingest <topic> <table> …');
  const [name = topic] = tableNames([location.replace(/\/+$/, '').split('/').at(-1)?.replaceAll('.', '_') ?? topic]);
  for (const [option, text] of options.takeBelow('transform.')) transform(draft, `transform.${option}`, text);
  const letters = options.take('dlq_table_location');
  const latency = options.take('allowed_latency');
  const age = latency === undefined ? undefined : durationText(`${latency}000`, 10, 3_600_000);
  const reset = options.take('auto_offset_reset');
  const table: PlannedTable = {
    name,
    format: 'delta',
    place: [pair('path', placed(options, 'table_location', location), 'the table; a relative path is below dataDir here')],
    topics: [topic],
    identifierColumns: [],
    partitionedBy: [],
    properties: [],
    evolves: false,
    added: [],
    doubts: [],
    remarks: ['The table is there already; what is declared here is compared with it.'],
  };
  options.settle(rules);
  return {
    title: 'kafka-delta-ingest',
    catalogs: [],
    tables: [table],
    ingest: [
      ...(age === undefined ? [] : [pair('maxBatchAge', age, '--allowed_latency')]),
      ...(reset === undefined ? [] : [pair('startFrom', reset === 'latest' ? 'latest' : 'earliest', '--auto_offset_reset')]),
    ],
    deadLetters: letters === undefined ? [] : [pair('table', 'dead_letters', '--dlq_table_location')],
    otherTables:
      letters === undefined
        ? []
        : [
            [
              pair('name', 'dead_letters'),
              pair('format', 'delta'),
              pair(
                'path',
                placed(options, 'dlq_table_location', letters),
                'CHECK: with columns of its own; choose another place than the old table’s',
              ),
            ],
          ],
    group: '',
  };
}

/** Stores that are not reached are a person's to replace. */
function placed(options: ConnectorOptions, option: string, location: string): ReturnType<ConnectorOptions['shown']> {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(location) || /^(?:s3[an]?|file):/i.test(location))
    return options.shown(option, location.replace(/^\.\//, ''));
  options.note(option, 'refused', `${location}: files are read and written in directories and at s3:// alone`);
  return options.variable(option.toUpperCase(), `in place of ${option}`);
}

/** `PROPERTY: SOURCE`, of which the source is a place of the record, a path, or an expression of JMESPath. */
function transform(draft: RecordDraft, option: string, text: string): void {
  const at = text.indexOf(':');
  const [property, source] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  const place = /^kafka\.(topic|partition|offset|timestamp)$/.exec(source)?.[1] as keyof typeof metadataTypes | undefined;
  const tell = (became: string): void => {
    draft.steps.push(`--transform ${text}: ${became}`);
  };
  if (place !== undefined && !property.includes('.')) {
    draft.added.push({ name: property, type: metadataTypes[place], from: place, note: `--transform ${source}` });
    tell(`the column ${property} from the ${place}`);
    return;
  }
  const [, path, from, count] = /^substr\(\s*([\w.]+)\s*,\s*`(\d+)`\s*,\s*`(\d+)`\s*\)$/.exec(source) ?? [];
  const field = draft.row.field(path ?? source);
  if (property.includes('.') || field === undefined || (path === undefined && !/^[\w.]+$/.test(source))) {
    tell('CHECK: not translated, write it in select of the route');
    draft.doubts.push(option);
    return;
  }
  const sql = path === undefined ? field.sql : `substring(${field.sql}, ${Number(from) + 1}, ${count ?? ''})`;
  draft.row.set(property, { sql, type: path === undefined ? field.type : { kind: 'string' } });
  tell('select');
}

/** Settings of librdkafka, and brokers. */
export function ingestClient(options: ConnectorOptions, brokers: readonly string[] | undefined): KafkaClient {
  const settings = new Map(
    options.takeBelow('kafka_setting.').map(([, text]) => {
      const at = text.indexOf('=');
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
    }),
  );
  const servers = brokers ?? listOf(options.take('kafka') ?? 'localhost:9092');
  const protocol = settings.get('security.protocol')?.toUpperCase() ?? '';
  const file = (name: string): { readonly reference: string } => ({ reference: `\${file:${settings.get(name) ?? ''}}` });
  const parts = [
    ...(settings.has('ssl.ca.location') ? [pair('ca', file('ssl.ca.location'), 'ssl.ca.location')] : []),
    ...(settings.has('ssl.certificate.location') && settings.has('ssl.key.location')
      ? [pair('cert', file('ssl.certificate.location')), pair('key', file('ssl.key.location'))]
      : []),
  ];
  const tls: readonly YamlEntry[] = !protocol.endsWith('SSL')
    ? []
    : [parts.length === 0 ? pair('ssl', true, 'security.protocol') : map('ssl', parts, 'security.protocol')];
  const mechanism = settings.get('sasl.mechanism') ?? settings.get('sasl.mechanisms') ?? 'PLAIN';
  const login: readonly YamlEntry[] = !protocol.startsWith('SASL')
    ? []
    : [
        map('sasl', [
          pair(
            'mechanism',
            mechanism.toLowerCase(),
            mechanism === 'PLAIN' || mechanism.startsWith('SCRAM') ? 'sasl.mechanism' : 'CHECK: plain, scram-sha-256 or scram-sha-512',
          ),
          pair('username', options.variable('KAFKA_USER', 'sasl.username')),
          pair('password', options.variable('KAFKA_PASSWORD', 'sasl.password')),
        ]),
      ];
  for (const name of settings.keys())
    if (!/^(?:security\.protocol|sasl\..*|ssl\.(?:ca|certificate|key)\.location)$/.test(name))
      options.note(`--kafka_setting ${name}`, 'unmatched', 'no setting of the client here does this');
  return { kafka: [pair('brokers', servers, '--kafka'), ...tls, ...login], ingest: [] };
}

/** How values are encoded, and the registry. */
export function ingestEncoding({ options, value }: RecordDraft): readonly YamlEntry[] {
  const [json, avro, fixed] = [options.take('json'), options.take('avro'), options.take('soe-avro')];
  value.set('format', {
    setting: avro !== undefined || fixed !== undefined ? 'avro' : 'json',
    note: fixed !== undefined ? '--soe-avro' : avro !== undefined ? '--avro' : '--json, its default',
  });
  if (fixed !== undefined) {
    value.set('schemaId', { setting: 'single-object', note: '--soe-avro' });
    value.set('schema', { setting: { reference: `\${file:${fixed}}` }, note: 'CHECK: one file, not a directory of them' });
  }
  const url = avro ?? json;
  if (url === undefined) return [];
  if (!/^https?:/.test(url)) {
    options.note(
      avro === undefined ? 'json' : 'avro',
      'doubtful',
      `${url}: a schema in a file is value.schema: \${file:…} with schemaId: none`,
    );
    return avro === undefined ? [] : [pair('url', options.variable('SCHEMA_REGISTRY_URL', 'the registry, in place of a file'))];
  }
  if (avro === undefined) value.set('schemaId', { setting: 'prefix', note: '--json with a registry' });
  return [pair('url', options.shown('registry', url), avro === undefined ? '--json' : '--avro')];
}
