import { printDuration } from '../../base/quantities.ts';
import { map, pair, type YamlEntry } from '../pipeline-yaml.ts';
import { type ConnectorOptions, type FateRule, listOf } from './connector-options.ts';

/** Where settings of the client to Kafka may stand, the first that has one counts. */
const prefixes = ['consumer.override.', 'iceberg.kafka.', 'kafka.consumer.', 'confluent.topic.', 'confluent.topic.consumer.'];

const mechanisms: Readonly<Record<string, string>> = {
  PLAIN: 'plain',
  'SCRAM-SHA-256': 'scram-sha-256',
  'SCRAM-SHA-512': 'scram-sha-512',
};

const rules: readonly FateRule[] = [
  { name: 'confluent.topic.*', fate: 'needless', text: 'of the licence topic' },
  { name: 'confluent.license*', fate: 'needless', text: 'of the licence' },
  { name: 'producer.override.*', fate: 'needless', text: 'dead letters and feeds are written in transactions' },
  { name: 'admin.override.*', fate: 'doubtful', text: 'the pipeline has one client; see kafka of the reference' },
  { name: 'iceberg.kafka.*', fate: 'needless', text: 'of the control topic, which there is none of' },
];

export interface KafkaClient {
  readonly kafka: readonly YamlEntry[];
  /** Of `ingest`. */
  readonly ingest: readonly YamlEntry[];
}

/** The settings of the client, of which a connector says what differs from its worker. */
export function kafkaClient(options: ConnectorOptions, brokers: readonly string[] | undefined): KafkaClient {
  const found = (name: string): readonly [option: string, text: string] | undefined => {
    const all = prefixes.flatMap((prefix) => {
      const text = options.take(prefix + name);
      return text === undefined ? [] : [[prefix + name, text] as const];
    });
    return all[0];
  };
  const servers = found('bootstrap.servers') ?? own(options, 'bootstrap.servers');
  const list =
    brokers !== undefined
      ? pair('brokers', brokers)
      : servers === undefined
        ? pair(
            'brokers',
            options.variable('KAFKA_BROKERS', 'bootstrap servers, host:port,…; workers have them, not connectors'),
            'bootstrap.servers of the worker',
          )
        : pair(
            'brokers',
            listOf(servers[1]).map((item) => options.shown(servers[0], item)),
            servers[0],
          );
  const client = found('client.id');
  const kafka = [
    list,
    ...(client === undefined ? [] : [pair('clientId', options.shown(...client), client[0])]),
    ...tls(options, found),
    ...sasl(options, found),
  ];
  const ingest = ingestSettings(options, found);
  for (const prefix of ['consumer.override.', 'kafka.consumer.'])
    for (const [name] of options.takeBelow(prefix))
      options.note(
        prefix + name,
        needless.has(name) ? 'needless' : 'unmatched',
        needless.get(name) ?? 'no setting of the client here does this',
      );
  options.settle(rules);
  return { kafka, ingest };
}

const needless = new Map([
  ['isolation.level', 'records of transactions are read when they are committed'],
  ['enable.auto.commit', 'offsets are in the table'],
  ['max.poll.records', 'records are fetched by bytes'],
  ['max.poll.interval.ms', 'the group is kept while a batch is written'],
  ['partition.assignment.strategy', 'partitions are shared among replicas'],
  ['group.id', 'a group of its own: ingest.groupId'],
  ['key.deserializer', 'records are read as bytes'],
  ['value.deserializer', 'records are read as bytes'],
]);

type Found = (name: string) => readonly [option: string, text: string] | undefined;

function own(options: ConnectorOptions, name: string): readonly [string, string] | undefined {
  const text = options.take(name);
  return text === undefined ? undefined : [name, text];
}

function tls(options: ConnectorOptions, found: Found): readonly YamlEntry[] {
  const protocol = found('security.protocol');
  const authorities = found('ssl.truststore.certificates');
  const chain = found('ssl.keystore.certificate.chain');
  const key = found('ssl.keystore.key');
  const passphrase = found('ssl.key.password');
  const stores = [
    'ssl.truststore.location',
    'ssl.keystore.location',
    'ssl.truststore.password',
    'ssl.keystore.password',
    'ssl.truststore.type',
    'ssl.keystore.type',
  ].flatMap((name) => found(name)?.[0] ?? []);
  for (const option of stores)
    options.note(option, 'refused', 'stores of Java are not read: write PEM files as kafka.ssl.ca, cert and key: ${file:/path.pem}');
  const check = found('ssl.endpoint.identification.algorithm');
  if (check !== undefined) options.note(check[0], 'doubtful', 'names in certificates are checked; kafka.ssl.serverName names another one');
  if (protocol === undefined || !/SSL$/.test(protocol[1].toUpperCase())) return [];
  const parts = [
    ...(authorities === undefined ? [] : [pair('ca', options.variable('KAFKA_CA_PEM', authorities[0]), authorities[0])]),
    ...(chain === undefined || key === undefined
      ? []
      : [pair('cert', options.variable('KAFKA_CERTIFICATE_PEM', chain[0]), chain[0]), pair('key', options.secret(...key), key[0])]),
    ...(passphrase === undefined || key === undefined ? [] : [pair('passphrase', options.secret(...passphrase), passphrase[0])]),
  ];
  const note = `${protocol[0]} ${protocol[1]}`;
  return parts.length === 0
    ? [pair('ssl', true, stores.length === 0 ? note : `${note}; CHECK: the stores of Java as PEM files`)]
    : [map('ssl', parts, note)];
}

function sasl(options: ConnectorOptions, found: Found): readonly YamlEntry[] {
  const protocol = found('security.protocol')?.[1].toUpperCase();
  const jaas = found('sasl.jaas.config');
  const mechanism = found('sasl.mechanism');
  const [apiKey, apiSecret] = [own(options, 'kafka.api.key'), own(options, 'kafka.api.secret')];
  options.take('kafka.auth.mode');
  options.take('kafka.service.account.id');
  if (apiKey !== undefined || apiSecret !== undefined) {
    const user = options.variable('KAFKA_USER', 'kafka.api.key');
    const password = options.variable('KAFKA_PASSWORD', 'kafka.api.secret');
    return [
      pair('ssl', true, 'Confluent Cloud'),
      map('sasl', [pair('mechanism', 'plain'), pair('username', user, 'kafka.api.key'), pair('password', password, 'kafka.api.secret')]),
    ];
  }
  if (protocol?.startsWith('SASL') !== true && jaas === undefined && mechanism === undefined) return [];
  const known = mechanisms[mechanism?.[1].toUpperCase() ?? ''];
  const check = 'CHECK: the mechanisms are plain, scram-sha-256 and scram-sha-512';
  if (mechanism !== undefined && known === undefined)
    options.note(mechanism[0], 'refused', `${mechanism[1]} is no mechanism of this client; plain, scram-sha-256 and scram-sha-512 are`);
  return [
    map('sasl', [
      pair('mechanism', known ?? 'plain', known === undefined ? check : mechanism?.[0]),
      pair('username', options.variable('KAFKA_USER', jaas?.[0] ?? 'sasl'), jaas?.[0]),
      pair('password', options.variable('KAFKA_PASSWORD', jaas?.[0] ?? 'sasl'), jaas?.[0]),
    ]),
  ];
}

/** Bounds are those of the settings. */
const durations: readonly (readonly [name: string, setting: string, minMs: number, maxMs: number])[] = [
  ['fetch.max.wait.ms', 'maxFetchWait', 1, 30_000],
  ['session.timeout.ms', 'sessionTimeout', 6_000, 1_800_000],
];

function ingestSettings(options: ConnectorOptions, found: Found): readonly YamlEntry[] {
  const reset = found('auto.offset.reset');
  const start = reset?.[1] === 'latest' ? 'latest' : 'earliest';
  return [
    ...(reset === undefined ? [] : [pair('startFrom', start, `${reset[0]}, for topics that a table has no offsets of`)]),
    ...durations.flatMap(([name, setting, min, max]) => {
      const given = found(name);
      if (given === undefined) return [];
      const text = durationText(given[1], min, max);
      if (text === undefined) options.note(given[0], 'doubtful', 'is no number of milliseconds');
      return text === undefined ? [] : [pair(setting, text, given[0])];
    }),
  ];
}

/** Milliseconds as a setting has them, within its bounds; `undefined`: the text is no number. */
export function durationText(text: string, minMs: number, maxMs: number): string | undefined {
  return /^\d{1,15}$/.test(text.trim()) ? printDuration(Math.min(maxMs, Math.max(minMs, Number(text)))) : undefined;
}

/** What a connector says of records that fail, as `ingest.deadLetters`. */
export function failureEntries(options: ConnectorOptions): readonly YamlEntry[] {
  const tolerance = options.take('errors.tolerance');
  const topicOption = 'errors.deadletterqueue.topic.name';
  const topic = options.take(topicOption);
  options.settle([
    {
      name: 'errors.deadletterqueue.topic.replication.factor',
      fate: 'unmatched',
      text: 'the broker’s default counts when the topic is created',
    },
    { name: 'errors.deadletterqueue.context.headers.enable', fate: 'needless', text: 'every letter says where it came from and why' },
    { name: 'errors.deadletterqueue.*', fate: 'unmatched', text: 'nothing does this' },
    { name: 'errors.log.*', fate: 'needless', text: 'rejected records are counted, and told by tidewater dlq' },
    { name: 'errors.retry.*', fate: 'needless', text: 'what fails in passing is tried again' },
  ]);
  if (tolerance !== 'all') {
    return [
      pair(
        'onReject',
        'suspend',
        `errors.tolerance ${tolerance ?? 'none, as it is by default'}: stands still; dead-letter goes on, and loses nothing`,
      ),
    ];
  }
  if (topic === undefined)
    return [pair('onReject', 'skip', 'errors.tolerance all, without a topic: counted and dropped; dead-letter keeps them')];
  return [
    pair('onReject', 'dead-letter', 'errors.tolerance all'),
    pair('topic', options.shown(topicOption, topic), `${topicOption}; letters are other records than Connect’s`),
  ];
}
