import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedServer, EmbeddedServerOptions } from '../../src/app/embedded/embedded-server.ts';
import { findJava } from '../../src/app/embedded/find-java.ts';
import { runManagedServer } from '../../src/app/embedded/managed-server.ts';
import { missingForJars, obtainJars } from './maven-jars.ts';
import { type PrivateServer, privateServer } from './servers.ts';

export interface TestRestCatalog extends EmbeddedServer {
  readonly uri: string;
  /** A local directory, or a place in a bucket. */
  readonly warehouse: string;
  /** The SQLite file of the server's own catalog, where it keeps one. */
  readonly database: string;
}

/** What the server keeps its tables in: Java's JdbcCatalog on SQLite, or its HadoopCatalog. */
export type RestBackend = 'jdbc' | 'hadoop';

/** Where the server keeps its tables in place of a directory, and how it gets there. It hands out the credentials that it uses itself. */
export interface RestBucket {
  readonly warehouse: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** What Java's server calls its own catalog. */
export const backendCatalog = 'rest_backend';

const readyTimeoutMs = 90_000;
const orphanGraceMs = 5_000;
const pom = fileURLToPath(new URL('rest-catalog-pom.xml', import.meta.url));

/**
 * Iceberg's own REST server that one test owns, over a local directory or a bucket: some five seconds and 130 MB. Its jars (110 MB) are fetched with
 * Maven once into the cache. `undefined` where Java or Maven are missing: the tests are then skipped, loudly; in continuous integration
 * that is an error.
 */
export async function privateRestCatalog(
  backend: RestBackend = 'jdbc',
  bucket?: RestBucket,
): Promise<PrivateServer<TestRestCatalog> | undefined> {
  const missing = await missingForJars();
  if (missing === undefined) return await privateServer('rest-catalog', (dir) => start(backend, bucket, { dir, orphanGraceMs }));
  if ((process.env['CI'] ?? '') !== '') throw new Error(`the REST catalog cannot be tested: ${missing}`);
  console.error(`SKIPPED: ${missing}, NO REST catalog server has been tested`);
  return undefined;
}

async function start(backend: RestBackend, bucket: RestBucket | undefined, options: EmbeddedServerOptions): Promise<TestRestCatalog> {
  const warehouse = bucket?.warehouse ?? join(options.dir, 'warehouse');
  const database = join(options.dir, 'catalog.db');
  mkdirSync(bucket === undefined ? warehouse : options.dir, { recursive: true });
  const server = await runManagedServer(
    {
      name: 'REST catalog',
      portCount: 1,
      readyTimeoutMs,
      ready: answers,
      prepare: async ([port = 0], mark) => {
        const java = await findJava();
        const jars = await obtainJars({ name: 'rest-catalog', pom, about: 'the REST catalog server (about 110 MB)' });
        const settings = {
          CATALOG_REST_PORT: String(port),
          CATALOG_WAREHOUSE: warehouse,
          ...settingsOf(backend, database),
          ...bucketSettings(bucket),
        };
        const jvm = [
          '-XX:+UseSerialGC',
          '-XX:TieredStopAtLevel=1',
          '-Xmx384m',
          '-Djava.net.preferIPv4Stack=true',
          `-Dtidewater.server=${mark}`,
        ];
        const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
        const program = [java, ...jvm, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', join(jars, '*')];
        return { command: '/usr/bin/env', args: [...variables, ...program, 'org.apache.iceberg.rest.RESTCatalogServer'] };
      },
    },
    options,
  );
  return { ...server, uri: `http://127.0.0.1:${server.port}`, warehouse, database };
}

/** Keys of the server's catalog as variables: `__` is a dash, `_` a dot. */
function settingsOf(backend: RestBackend, database: string): Readonly<Record<string, string>> {
  if (backend === 'hadoop') return { CATALOG_CATALOG__IMPL: 'org.apache.iceberg.hadoop.HadoopCatalog' };
  return {
    CATALOG_CATALOG__IMPL: 'org.apache.iceberg.jdbc.JdbcCatalog',
    CATALOG_URI: `jdbc:sqlite:file:${database}?busy_timeout=10000`,
    CATALOG_JDBC_SCHEMA__VERSION: 'V1',
    // Refuses tables in namespaces that are not there, as servers of others do.
    CATALOG_JDBC_STRICT__MODE: 'true',
  };
}

function bucketSettings(bucket: RestBucket | undefined): Readonly<Record<string, string>> {
  if (bucket === undefined) return {};
  const variable = (key: string): string => `CATALOG_${key.replaceAll('-', '__').replaceAll('.', '_').toUpperCase()}`;
  const all = {
    'io-impl': 'org.apache.iceberg.aws.s3.S3FileIO',
    's3.path-style-access': 'true',
    'client.region': 'us-east-1',
    'include-credentials': 'true',
    ...bucket.properties,
  };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [variable(key), value]));
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/v1/config`)).ok;
  } catch {
    return false;
  }
}
