import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeError, type ServiceError, serviceError } from '../../base/errors.ts';
import { defaultCacheDir, fillCacheEntry } from './cache-dir.ts';
import type { EmbeddedLog } from './embedded-server.ts';
import { findOnPath, runCommand } from './run-command.ts';

/** The broker that is fetched when none is installed. */
export const kafkaVersion: string = '4.3.1';

/**
 * The directory of the broker's jars. In this order: `KAFKA_HOME/libs`, the cache, an installation whose
 * `kafka-server-start.sh` is on the PATH, Maven (some 45 MB, once, into the cache).
 *
 * @throws ServiceError `KAFKA_NOT_OBTAINED` (unavailable) saying what was tried and what to install or set.
 */
export async function obtainKafka(options: {
  readonly cacheDir?: string | undefined;
  readonly log?: EmbeddedLog | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}): Promise<string> {
  const env = options.env ?? process.env;
  const cacheDir = options.cacheDir ?? defaultCacheDir(env);
  const entry = `kafka-${kafkaVersion}`;
  const home = env['KAFKA_HOME'];
  if (home !== undefined && home !== '') {
    const libs = join(home, 'libs');
    if (holdsBroker(libs)) return libs;
    throw notObtained(`KAFKA_HOME is ${home}, which holds no libs/kafka_2.13-*.jar`);
  }
  if (holdsBroker(join(cacheDir, entry))) return join(cacheDir, entry);
  const installed = installedLibs(env['PATH']);
  if (installed !== undefined) return installed;

  const maven = findOnPath('mvn', env['PATH']);
  if (maven === undefined) throw notObtained('no KAFKA_HOME, no kafka-server-start.sh and no mvn on the PATH');
  options.log?.(`fetching Apache Kafka ${kafkaVersion} with Maven (about 45 MB, once)`, { into: join(cacheDir, entry) });
  try {
    return await fillCacheEntry(cacheDir, entry, async (partial) => {
      await copyJars(maven, partial, options.signal);
      if (!holdsBroker(partial)) throw notObtained('Maven ended well but brought no broker');
    });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw notObtained(describeError(error), error);
  }
}

async function copyJars(maven: string, into: string, signal: AbortSignal | undefined): Promise<void> {
  const project = mkdtempSync(join(tmpdir(), 'tidewater-kafka-'));
  try {
    writeFileSync(join(project, 'pom.xml'), pom);
    // Maven takes a relative directory from the pom's, hence an absolute one.
    const target = realpathSync(into);
    const goals = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${target}`];
    await runCommand(maven, ['-q', '-B', '-f', join(project, 'pom.xml'), ...goals], { cwd: project, signal });
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function installedLibs(path: string | undefined): string | undefined {
  const script = findOnPath('kafka-server-start.sh', path) ?? findOnPath('kafka-server-start', path);
  if (script === undefined) return undefined;
  const bin = dirname(realpathSync(script));
  return [join(bin, '..', 'libs'), join(bin, '..', 'libexec', 'libs')].find(holdsBroker);
}

function holdsBroker(libs: string): boolean {
  try {
    return readdirSync(libs).some((file) => /^kafka_2\.1\d-.+\.jar$/.test(file));
  } catch {
    return false;
  }
}

function notObtained(why: string, cause?: unknown): ServiceError {
  return serviceError.unavailable('KAFKA_NOT_OBTAINED', `no Apache Kafka broker for this computer: ${why}`, {
    hint: 'any one of these helps: set KAFKA_BROKERS=host:port to use a running cluster; install Maven (apt-get install maven, brew install maven), which fetches the broker; unpack Apache Kafka 4.x and set KAFKA_HOME to its folder; or run docker compose up',
    cause,
  });
}

// The logger binding makes the broker's warnings appear in its log file; without one it is mute.
const pom = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tidewater</groupId>
  <artifactId>embedded-kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafkaVersion}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;
