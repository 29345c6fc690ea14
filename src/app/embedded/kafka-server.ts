import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SystemRandom } from '../../base/system-random.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from './embedded-server.ts';
import { findJava } from './find-java.ts';
import { runManagedServer, type ServerCommand } from './managed-server.ts';
import { obtainKafka } from './obtain-kafka.ts';
import { kafkaReady } from './probe.ts';
import { runCommand } from './run-command.ts';

/** What a broker has beyond the plain one: listeners, properties, accounts. For tests of secured clusters. */
export interface KafkaVariant {
  /** Listener names, such as `SASL_SSL`; each gets a loopback port. */
  readonly listeners: readonly string[];
  readonly properties: readonly string[];
  /** Further arguments of the storage format, such as `--add-scram`. */
  readonly formatArgs: readonly string[];
}

export interface EmbeddedKafkaOptions extends EmbeddedServerOptions {
  readonly variant?: KafkaVariant | undefined;
}

export interface EmbeddedKafka extends EmbeddedServer {
  /** `host:port` of the plain listener. */
  readonly brokers: readonly string[];
  /** `host:port` of the variant's listeners, in their order. */
  readonly variantBrokers: readonly string[];
}

const readyTimeoutMs = 90_000;
const plainVariant: KafkaVariant = { listeners: [], properties: [], formatArgs: [] };

/**
 * Runs a real single-node Apache Kafka (KRaft) on loopback ports, its data below `dir`. Topics are not made by being named; transactions,
 * groups and compaction work as on a cluster. Ready means: it lists itself in its metadata.
 *
 * @throws ServiceError `KAFKA_NOT_OBTAINED`, `JAVA_NOT_FOUND`, `JAVA_TOO_OLD`, `EMBEDDED_SERVER_FAILED`, `EMBEDDED_SERVER_LOCKED`, `ABORTED`.
 */
export async function startEmbeddedKafka(options: EmbeddedKafkaOptions): Promise<EmbeddedKafka> {
  const dir = resolve(options.dir);
  const variant = options.variant ?? plainVariant;
  let ports: readonly number[] = [];
  const server = await runManagedServer(
    {
      name: 'Kafka broker',
      portCount: 2 + variant.listeners.length,
      readyTimeoutMs,
      ready: kafkaReady,
      prepare: async (chosen, mark): Promise<ServerCommand> => {
        ports = chosen;
        return await prepare(dir, chosen, mark, options);
      },
    },
    options,
  );
  // An adopted broker was prepared by an earlier process: its ports are in its properties.
  const variantPorts = ports.length > 0 ? ports.slice(2) : listenerPorts(dir).slice(2);
  return {
    ...server,
    brokers: [`127.0.0.1:${server.port}`],
    variantBrokers: variantPorts.map((port) => `127.0.0.1:${port}`),
  };
}

async function prepare(dir: string, ports: readonly number[], mark: string, options: EmbeddedKafkaOptions): Promise<ServerCommand> {
  const java = await findJava(options.signal);
  const libs = await obtainKafka(options);
  const variant = options.variant ?? plainVariant;
  const file = propertiesFile(dir);
  writeFileSync(file, `${properties(ports, variant).join('\n')}\n`);
  const jvm = [...jvmArgs, `-Dtidewater.server=${mark}`, '-cp', join(libs, '*')];
  if (!existsSync(join(dir, 'data', 'meta.properties'))) {
    options.log?.('formatting the storage of the Kafka broker', { dir });
    const args = [...jvm, 'kafka.tools.StorageTool', 'format', '--ignore-formatted', '-t', clusterId(), '-c', file, ...variant.formatArgs];
    await runCommand(java, args, { cwd: dir, signal: options.signal });
  }
  return { command: java, args: [...jvm, 'kafka.Kafka', file] };
}

function properties(ports: readonly number[], variant: KafkaVariant): readonly string[] {
  const [client, controller, ...others] = ports;
  const extra = variant.listeners.map((name, index) => `${name}://127.0.0.1:${others[index] ?? 0}`);
  const protocols = ['PLAINTEXT', ...variant.listeners].map((name) => `${name}:${name}`);
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controller ?? 0}`,
    'controller.listener.names=CONTROLLER',
    `listeners=${[`PLAINTEXT://127.0.0.1:${client ?? 0}`, `CONTROLLER://127.0.0.1:${controller ?? 0}`, ...extra].join(',')}`,
    `listener.security.protocol.map=CONTROLLER:PLAINTEXT,${protocols.join(',')}`,
    'inter.broker.listener.name=PLAINTEXT',
    // Relative to the working directory, so that no character of the path needs an escape.
    'log.dirs=data',
    ...singleNode,
    ...variant.properties,
  ];
}

/** Client, controller and variant ports as the properties of the last start have them. */
function listenerPorts(dir: string): readonly number[] {
  const line = /^listeners=(.*)$/m.exec(readFileSync(propertiesFile(dir), 'utf8'))?.[1] ?? '';
  return line.split(',').map((listener) => Number(listener.slice(listener.lastIndexOf(':') + 1)));
}

function propertiesFile(dir: string): string {
  return join(dir, 'server.properties');
}

/** Sixteen random bytes in base64url; Kafka refuses a leading hyphen. */
function clusterId(): string {
  return Buffer.from(new SystemRandom().bytes(16)).toString('base64url').replace(/^-/, 'A');
}

const jvmArgs = [
  '-XX:+UseSerialGC',
  '-Xms64m',
  '-Xmx512m',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];

const singleNode = [
  'offsets.topic.replication.factor=1',
  'transaction.state.log.replication.factor=1',
  'transaction.state.log.min.isr=1',
  'share.coordinator.state.topic.replication.factor=1',
  'share.coordinator.state.topic.min.isr=1',
  // The defaults make 50 directories at the first group join and at the first transaction.
  'offsets.topic.num.partitions=4',
  'transaction.state.log.num.partitions=4',
  // A transaction whose producer was killed ends when its time is over, and not up to ten seconds later.
  'transaction.abort.timed.out.transaction.cleanup.interval.ms=1000',
  // A lone consumer need not wait three seconds for others.
  'group.initial.rebalance.delay.ms=0',
  // As short as a member asks: what was killed by hand is followed soon.
  'group.min.session.timeout.ms=1000',
  // After a kill the broker waits for its own old session to end.
  'broker.session.timeout.ms=3000',
  'broker.heartbeat.interval.ms=750',
  'auto.create.topics.enable=false',
  // The default reserves 128 MB of the heap for one cleaner thread.
  'log.cleaner.dedupe.buffer.size=16777216',
];
