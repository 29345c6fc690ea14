import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Admin, CompressionTypes, type Kafka, Partitioners, type Producer } from 'kafkajs';
import type { IcebergPlace } from './checks-iceberg.ts';
import { eventually } from './process.ts';
import { kafkaBrokers, redisUrl } from './servers.ts';
import { testKafka } from './test-kafka.ts';

export const partitionCount = 4;

/** A record of the workload is poison when its number is a multiple of this. */
const usualPoisonEvery = 97;
const poisons: readonly (string | null)[] = ['{"id": 1, "kind"', '{"kind":"a"}', '{"id":"many","kind":"b"}', null];

/** Settings tests vary; everything else is the same for all. */
export interface PipelineOptions {
  readonly maintenance?: string | undefined;
  readonly ingest?: readonly string[] | undefined;
  /** Further settings of the feed, in flow style. */
  readonly feed?: string | undefined;
  /** Further feeds of the table, by name, with their settings in flow style; the topic of one is `<case>.<name>`. */
  readonly otherFeeds?: Readonly<Record<string, string>> | undefined;
  readonly brokers?: readonly string[] | undefined;
  readonly redis?: string | undefined;
  readonly partitions?: number | undefined;
  /** Default 3s: a worker that stands still loses its partitions soon. */
  readonly sessionTimeout?: string | undefined;
  /** Directory of the table; default: below the case's directory. */
  readonly dataDir?: string | undefined;
  /** Where the table lies, when not in `dataDir`. */
  readonly location?: string | undefined;
  /** An Iceberg table in the catalog of the kind; default: a Delta table. */
  readonly iceberg?: IcebergKind | undefined;
  /** The Delta table has a twin in the catalog of the kind. */
  readonly twin?: IcebergKind | undefined;
  /** Rows are computed from other columns of the records; they are the same as without. */
  readonly transform?: boolean | undefined;
}

/** Kinds of Iceberg catalogs, with what a REST server of the test has. */
export type IcebergKind =
  | { readonly kind: 'files' }
  | { readonly kind: 'sql' }
  | { readonly kind: 'rest'; readonly uri: string; readonly warehouse: string; readonly database: string };

/** One pipeline with topic, table, feed and dead letters of its own names. */
export interface PipelineCase {
  readonly name: string;
  readonly config: string;
  readonly tableDir: string;
  /** Of an Iceberg table. */
  readonly place: IcebergPlace | undefined;
  readonly twin: { readonly tableDir: string; readonly place: IcebergPlace } | undefined;
  readonly topic: string;
  readonly feedTopic: string;
  readonly deadLetterTopic: string;
  readonly positionsTopic: string;
  readonly partitions: number;
}

/** Writes the configuration of a pipeline named after `label` below `dir`. */
export function pipelineCase(dir: string, label: string, options: PipelineOptions = {}): PipelineCase {
  const name = `${label}-${randomUUID().slice(0, 8)}`;
  const dataDir = options.dataDir ?? join(dir, name);
  mkdirSync(join(dir, name), { recursive: true });
  const found = {
    name,
    config: join(dir, name, 'pipeline.yaml'),
    ...whereabouts(name, dataDir, options.iceberg),
    twin: options.twin === undefined ? undefined : twinWhereabouts(name, dataDir, options.twin),
    partitions: options.partitions ?? 4,
  };
  const topics = { topic: `${name}.in`, feedTopic: `${name}.out`, deadLetterTopic: `${name}.dlq`, positionsTopic: `${name}.positions` };
  writeFileSync(found.config, configText({ ...found, ...topics, dataDir, options }));
  return { ...found, ...topics };
}

function whereabouts(name: string, dataDir: string, iceberg: IcebergKind | undefined): Pick<PipelineCase, 'tableDir' | 'place'> {
  switch (iceberg?.kind) {
    case 'sql':
      return { tableDir: join(dataDir, 'warehouse', name, 'events'), place: { kind: 'database', file: join(dataDir, 'catalog.db') } };
    case 'rest':
      return { tableDir: join(iceberg.warehouse, name, 'events'), place: { kind: 'database', file: iceberg.database } };
    default:
      return { tableDir: join(dataDir, 'events'), place: iceberg };
  }
}

function twinWhereabouts(name: string, dataDir: string, kind: IcebergKind): NonNullable<PipelineCase['twin']> {
  const { tableDir, place } = whereabouts(name, dataDir, kind);
  return { tableDir: kind.kind === 'files' ? join(dataDir, 'twin') : tableDir, place: place ?? { kind: 'files' } };
}

function twinText({ name, dataDir, options: { twin } }: ConfigParts): string {
  if (twin === undefined) return '';
  const place = twin.kind === 'files' ? `path: ${join(dataDir, 'twin')}` : `catalog: lake, identifier: ${name}.events`;
  return `  - { name: twin, format: iceberg, twinOf: events, ${place} }\n`;
}

/** Lines of the configuration that say what and where the table is. */
function tableText({ name, dataDir, options: { iceberg, location } }: ConfigParts): string {
  const path = `    path: ${location ?? join(dataDir, 'events')}\n`;
  if (iceberg === undefined) return `${path}    partitionBy: [kind]\n    properties: { delta.enableChangeDataFeed: "true" }`;
  const place = iceberg.kind === 'files' ? path : `    catalog: lake\n    identifier: ${name}.events\n`;
  return `    format: iceberg\n${place}    partitioning: [kind]`;
}

function catalogText({ dataDir, options: { iceberg, twin } }: ConfigParts): string {
  const kind = iceberg ?? twin;
  switch (kind?.kind) {
    case 'sql':
      return `catalogs:\n  - { name: lake, type: jdbc, uri: "jdbc:sqlite:${join(dataDir, 'catalog.db')}", warehouse: ${join(dataDir, 'warehouse')} }\n`;
    case 'rest':
      return `catalogs:\n  - { name: lake, type: rest, uri: "${kind.uri}" }\n`;
    default:
      return '';
  }
}

interface ConfigParts {
  readonly name: string;
  readonly topic: string;
  readonly feedTopic: string;
  readonly deadLetterTopic: string;
  readonly positionsTopic: string;
  readonly dataDir: string;
  readonly options: PipelineOptions;
}

function configText(parts: ConfigParts): string {
  const { name, topic, feedTopic, deadLetterTopic, positionsTopic, dataDir, options } = parts;
  return `pipeline: ${name}
dataDir: ${dataDir}
kafka: { brokers: [${(options.brokers ?? kafkaBrokers()).join(', ')}] }
redis: { url: "${options.redis ?? redisUrl()}" }
${catalogText(parts)}tables:
  - name: events
${tableText(parts)}
    columns:
      - { name: id, type: long, nullable: false }
      - { name: kind, type: string, nullable: false }
      - { name: name, type: string }
      - { name: amount, type: "decimal(12,2)" }
      - { name: price, type: double }
      - { name: at, type: timestamp }
      - { name: kafka_partition, type: integer, from: partition }
      - { name: kafka_offset, type: long, from: offset }
${twinText(parts)}ingest:
  maxBatchAge: 150ms
  maxBatchRows: 500
  maxFetchWait: 50ms
  sessionTimeout: ${options.sessionTimeout ?? '3s'}
${(options.ingest ?? []).map((line) => `  ${line}\n`).join('')}  routes: [{ topics: [${topic}], table: events${options.transform === true ? transformText : ''} }]
  deadLetters: { topic: ${deadLetterTopic} }
feeds:
  - { table: events, topic: ${feedTopic}, keyColumns: [id], start: earliest, partitions: 3, pollInterval: 100ms, maxTransactionRows: 700${options.feed === undefined ? '' : `, ${options.feed}`} }
${otherFeedsText(name, options.otherFeeds)}feedDefaults: { positionsTopic: ${positionsTopic}, sessionTimeout: 3s }
maintenance: ${options.maintenance ?? '{ enabled: false }'}
server: { port: 0 }
logging: { format: json, level: info }
`;
}

function otherFeedsText(name: string, feeds: PipelineOptions['otherFeeds'] = {}): string {
  const lines = Object.entries(feeds).map(
    ([feed, settings]) =>
      `  - { table: events, name: ${feed}, topic: ${name}.${feed}, keyColumns: [id], pollInterval: 100ms${settings === '' ? '' : `, ${settings}`} }\n`,
  );
  return lines.join('');
}

/** Whatever it takes apart it puts together again, and a record that lacks a member is missed by the transform in place of the decoder. */
const transformText = `,
    columns: [{ name: id, type: long }, { name: kind, type: string }, { name: name, type: string }, { name: cost, type: "decimal(12,2)", member: amount },
      { name: price, type: double }, { name: at, type: timestamp }, { name: p, type: integer, from: partition }, { name: o, type: long, from: offset }],
    select: ["CAST(CAST(id AS string) AS bigint) AS id", "reverse(reverse(kind)) AS kind", name, "(cost * 2) / 2 AS amount", "price + 0 AS price",
      "timestamp_micros(unix_micros(at)) AS at", "p AS kafka_partition", "CAST(o AS bigint) AS kafka_offset"],
    where: "o >= 0 OR kind IS NULL", expect: [{ name: placed, condition: kafka_offset >= 0, onFailure: suspend }]`;

/** Produces the records of cases and remembers what must become of each. */
export class Workload {
  readonly #brokers: readonly string[];
  readonly #producer: Producer;
  readonly admin: Admin;
  readonly kafka: Kafka;

  constructor(brokers: readonly string[] = kafkaBrokers()) {
    this.#brokers = brokers;
    this.kafka = testKafka({ brokers, clientId: 'workload' });
    this.#producer = this.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, idempotent: true, maxInFlightRequests: 1 });
    this.admin = this.kafka.admin();
  }

  async connect(): Promise<void> {
    await Promise.all([this.#producer.connect(), this.admin.connect()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#producer.disconnect(), this.admin.disconnect()]);
  }

  get brokers(): readonly string[] {
    return this.#brokers;
  }

  /** Creates the topic and waits until its partitions are led; kafkajs's own wait gives up at a broker that has not heard of it yet. */
  async createTopic({ topic, partitions }: Pick<PipelineCase, 'topic' | 'partitions'>): Promise<void> {
    await this.admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: partitions }] });
    await eventually(`topic ${topic} is led`, async () => {
      const { topics } = await this.admin.fetchTopicMetadata({ topics: [topic] });
      const led = topics.find(({ name }) => name === topic)?.partitions.filter(({ leader }) => leader >= 0) ?? [];
      return led.length === partitions;
    });
  }

  /** Appends `count` records, number `produced.count` onwards, spread over the partitions. */
  async produce(to: PipelineCase, produced: Produced, count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, index) => produced.next(index, to.partitions));
    const written = await this.#producer.send({ topic: to.topic, compression: CompressionTypes.GZIP, messages });
    for (const { partition, baseOffset } of written) produced.landed(messages, partition, BigInt(baseOffset ?? '-1'));
    for (const [partition, end] of produced.ends) produced.acknowledged.push({ atMs: Date.now(), partition, end });
  }
}

interface Message {
  readonly key: string;
  readonly value: string | null;
  readonly partition: number;
}

/** What was produced to one topic, and which of it is poison. */
export class Produced {
  readonly #poisonEvery: number;
  count = 0;
  readonly poison: Set<string> = new Set();
  /** Next offset by partition. */
  readonly ends: Map<number, bigint> = new Map();
  /** When everything before an offset was known to be produced. */
  readonly acknowledged: { readonly atMs: number; readonly partition: number; readonly end: bigint }[] = [];

  /** `poisonEvery`: 1 makes every record poison. */
  constructor(poisonEvery: number = usualPoisonEvery) {
    this.#poisonEvery = poisonEvery;
  }

  next(index: number, partitions: number): Message {
    const number = this.count + index;
    return { key: String(number), value: this.#isPoison(number) ? poisonOf(number) : valueOf(number), partition: number % partitions };
  }

  landed(messages: readonly Message[], partition: number, baseOffset: bigint): void {
    const own = messages.filter((message) => message.partition === partition);
    own.forEach((message, index) => {
      if (this.#isPoison(Number(message.key))) this.poison.add(`${partition}:${baseOffset + BigInt(index)}`);
    });
    this.count += own.length;
    this.ends.set(partition, baseOffset + BigInt(own.length));
  }

  get rowCount(): number {
    return this.count - this.poison.size;
  }

  #isPoison(number: number): boolean {
    return number % this.#poisonEvery === 0;
  }
}

/** The value of a record that is no row. */
export function poisonOf(number: number): string | null {
  return poisons[number % poisons.length] ?? null;
}

/** The value of a record that is a row. */
export function valueOf(number: number): string {
  const at = new Date(Date.UTC(2024, 0, 1) + number * 1_234).toISOString();
  return JSON.stringify({
    id: number,
    kind: number % 3 === 0 ? 'blue' : 'green',
    name: number % 11 === 0 ? null : `name ${(number * 7919) % 1000} ${'x'.repeat(number % 60)}`,
    amount: `${number % 5000}.${String(number % 100).padStart(2, '0')}`,
    price: number / 8,
    at: at.replace('Z', '567Z'),
  });
}
