import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir, fillCacheEntry } from '../../src/app/embedded/cache-dir.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from '../../src/app/embedded/embedded-server.ts';
import { findJava } from '../../src/app/embedded/find-java.ts';
import { runManagedServer } from '../../src/app/embedded/managed-server.ts';
import { findOnPath, runCommand } from '../../src/app/embedded/run-command.ts';
import { missingForJars } from './maven-jars.ts';
import { type PrivateServer, privateServer } from './servers.ts';

export interface TestRegistry extends EmbeddedServer {
  /** Where Confluent's API begins. */
  readonly url: string;
}

/** The last that runs on Java 17. */
const version = '3.0.9';
const readyTimeoutMs = 180_000;
const orphanGraceMs = 5_000;

/**
 * Apicurio Registry in memory that one test owns: some seconds and 300 MB. It (109 MB) is fetched with Maven once into the cache. `undefined` where Java
 * or Maven are missing: the tests are then skipped, loudly; in continuous integration that is an error.
 */
export async function privateRegistry(): Promise<PrivateServer<TestRegistry> | undefined> {
  const missing = await missingForJars();
  if (missing === undefined) return await privateServer('registry', (dir) => start({ dir, orphanGraceMs }));
  if ((process.env['CI'] ?? '') !== '') throw new Error(`the schema registry cannot be tested: ${missing}`);
  console.error(`SKIPPED: ${missing}, NO schema registry has been tested`);
  return undefined;
}

async function start(options: EmbeddedServerOptions): Promise<TestRegistry> {
  const server = await runManagedServer(
    {
      name: 'schema registry',
      portCount: 1,
      readyTimeoutMs,
      ready: answers,
      prepare: async ([port = 0], mark) => {
        const java = await findJava();
        const home = await obtainRegistry();
        mkdirSync(options.dir, { recursive: true });
        const settings = {
          'quarkus.http.host': '127.0.0.1',
          'quarkus.http.port': String(port),
          'quarkus.management.enabled': 'false',
          'quarkus.log.level': 'WARN',
        };
        const jvm = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx384m', `-Dtidewater.server=${mark}`];
        return {
          command: java,
          args: [...jvm, ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`), '-jar', runnerOf(home)],
        };
      },
    },
    options,
  );
  return { ...server, url: `http://127.0.0.1:${server.port}/apis/ccompat/v7` };
}

async function obtainRegistry(): Promise<string> {
  const [cacheDir, entry] = [defaultCacheDir(), `apicurio-registry-${version}`];
  const target = join(cacheDir, entry);
  if (existsSync(target)) return target;
  console.error('fetching Apicurio Registry (109 MB) with Maven, once …');
  return await fillCacheEntry(cacheDir, entry, async (partial) => {
    const artifact = `io.apicurio:apicurio-registry-app:${version}:tar.gz:all`;
    await runCommand(findOnPath('mvn') ?? 'mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${partial}`]);
    const [archive = ''] = readdirSync(partial).filter((name) => name.endsWith('.tar.gz'));
    await runCommand('tar', ['-xzf', join(partial, archive), '-C', partial]);
  });
}

/** The program, wherever the archive has it. */
function runnerOf(home: string): string {
  const found = readdirSync(home, { recursive: true, encoding: 'utf8' }).find(
    (name) => name.endsWith('-runner.jar') || name.endsWith('quarkus-run.jar'),
  );
  if (found === undefined) throw new Error(`no registry to run below ${home}`);
  return join(home, found);
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/apis/ccompat/v7/subjects`)).ok;
  } catch {
    return false;
  }
}
