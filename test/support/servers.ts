import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedServer } from '../../src/app/embedded/embedded-server.ts';
import { type EmbeddedKafka, startEmbeddedKafka } from '../../src/app/embedded/kafka-server.ts';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/app/embedded/redis-server.ts';

/**
 * The broker of this test run (`global-servers.ts` started it, or the environment names it). Shared by all files: use topic, group and
 * transactional names of your own.
 */
export function kafkaBrokers(): readonly string[] {
  return fromEnvironment('KAFKA_BROKERS').split(',');
}

/** The Redis of this test run, shared by all files: use a key prefix of your own. */
export function redisUrl(): string {
  return fromEnvironment('REDIS_URL');
}

/** A server that one test owns, to stop, kill and start again on the same data. */
export interface PrivateServer<S extends EmbeddedServer> {
  /** The present incarnation; another one (with other addresses, perhaps) after `start`. */
  readonly server: S;
  stop(): Promise<void>;
  /** SIGKILL, at once. */
  kill(): Promise<void>;
  /** Starts it again after `stop` or `kill`. */
  start(): Promise<void>;
  /** Stops it and deletes its data. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A private broker: about five seconds and 300 MB. */
export async function privateKafka(): Promise<PrivateServer<EmbeddedKafka>> {
  return await privateServer('kafka', (dir) => startEmbeddedKafka({ dir, orphanGraceMs }));
}

export async function privateRedis(): Promise<PrivateServer<EmbeddedRedis>> {
  return await privateServer('redis', (dir) => startEmbeddedRedis({ dir, orphanGraceMs }));
}

/** Runs `use` with a directory that is deleted afterwards. */
export async function withTemporaryDirectory<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = temporaryDirectory('work');
  try {
    return await use(dir);
  } finally {
    removeDirectory(dir);
  }
}

export function temporaryDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `tidewater-test-${name}-`));
}

export function removeDirectory(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

const orphanGraceMs = 5_000;

export async function privateServer<S extends EmbeddedServer>(name: string, open: (dir: string) => Promise<S>): Promise<PrivateServer<S>> {
  const dir = temporaryDirectory(name);
  let server = await open(dir);
  return {
    get server() {
      return server;
    },
    stop: () => server.stop(),
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    },
    start: async () => {
      server = await open(dir);
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      removeDirectory(dir);
    },
  };
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run this through the integration or e2e project, whose set-up starts the servers`);
  }
  return value;
}
