import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedServer, EmbeddedServerOptions } from '../../src/app/embedded/embedded-server.ts';
import { findJava } from '../../src/app/embedded/find-java.ts';
import { runManagedServer } from '../../src/app/embedded/managed-server.ts';
import { type MavenJars, missingForJars, obtainJars } from './maven-jars.ts';
import { eventually } from './process.ts';
import { type PrivateServer, privateServer } from './servers.ts';

export interface TestConnect extends EmbeddedServer {
  readonly url: string;
}

const readyTimeoutMs = 180_000;
const runningTimeoutMs = 120_000;
const orphanGraceMs = 5_000;
const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Debezium's connector for PostgreSQL. */
export const debeziumSource: MavenJars = {
  name: 'connect',
  pom: beside('connect-pom.xml'),
  about: 'Kafka Connect with Debezium (about 39 MB)',
};
/** Debezium's sink into databases, with the driver of PostgreSQL. */
export const jdbcSink: MavenJars = {
  name: 'connect-jdbc',
  pom: beside('connect-jdbc-pom.xml'),
  about: "Kafka Connect with Debezium's JDBC sink (about 70 MB)",
};

/**
 * A worker of Kafka Connect with a connector that one test owns: some six seconds and 330 MB. Its jars are fetched with Maven once into the cache.
 * `undefined` where Java or Maven are missing: the tests are then skipped, loudly; in continuous integration that is an error.
 */
export async function privateConnect(
  brokers: readonly string[],
  connector: MavenJars = debeziumSource,
): Promise<PrivateServer<TestConnect> | undefined> {
  const missing = await missingForJars();
  if (missing === undefined) return await privateServer('connect', (dir) => start(brokers, connector, { dir, orphanGraceMs }));
  if ((process.env['CI'] ?? '') !== '') throw new Error(`Debezium cannot be tested: ${missing}`);
  console.error(`SKIPPED: ${missing}, NO Debezium has been tested`);
  return undefined;
}

async function start(brokers: readonly string[], connector: MavenJars, options: EmbeddedServerOptions): Promise<TestConnect> {
  const server = await runManagedServer(
    {
      name: 'Kafka Connect',
      portCount: 1,
      readyTimeoutMs,
      ready: answers,
      prepare: async ([port = 0], mark) => {
        const java = await findJava();
        const jars = await obtainJars(connector);
        mkdirSync(options.dir, { recursive: true });
        const file = join(options.dir, 'worker.properties');
        const properties = {
          'bootstrap.servers': brokers.join(','),
          listeners: `http://127.0.0.1:${port}`,
          // Looks for service files alone: to look through all classes takes ten times as long.
          'plugin.discovery': 'service_load',
          'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
          'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
          'offset.flush.interval.ms': '500',
          'offset.storage.file.filename': 'offsets',
        };
        const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
        writeFileSync(file, lines.join(''));
        const jvm = [
          '-XX:+UseSerialGC',
          '-XX:TieredStopAtLevel=1',
          '-Xmx384m',
          '-Djava.net.preferIPv4Stack=true',
          `-Dtidewater.server=${mark}`,
        ];
        const log = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dorg.slf4j.simpleLogger.showDateTime=true'];
        return { command: java, args: [...jvm, ...log, '-cp', join(jars, '*'), 'org.apache.kafka.connect.cli.ConnectStandalone', file] };
      },
    },
    options,
  );
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** Creates a connector, and waits until it and its task run. */
export async function startConnector({ url }: TestConnect, name: string, config: Readonly<Record<string, string>>): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const made = await fetch(`${url}/connectors/${name}/config`, { method: 'PUT', headers, body: JSON.stringify(config) });
  if (!made.ok) throw new Error(`connector ${name}: ${made.status} ${await made.text()}`);
  await eventually(
    `connector ${name} runs`,
    async () => {
      const text = await (await fetch(`${url}/connectors/${name}/status`)).text();
      const { tasks } = JSON.parse(text) as { readonly tasks?: readonly { readonly state: string }[] };
      if (tasks?.some(({ state }) => state === 'RUNNING') === true) return true;
      throw new Error(text);
    },
    runningTimeoutMs,
  );
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/connectors`)).ok;
  } catch {
    return false;
  }
}
