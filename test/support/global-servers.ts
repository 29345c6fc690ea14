import { join } from 'node:path';
import type { EmbeddedServer } from '../../src/app/embedded/embedded-server.ts';
import { startEmbeddedKafka } from '../../src/app/embedded/kafka-server.ts';
import { startEmbeddedRedis } from '../../src/app/embedded/redis-server.ts';
import { removeDirectory, temporaryDirectory } from './servers.ts';

const orphanGraceMs = 5_000;
const log = (message: string): void => {
  console.error(message);
};

/** Vitest's global set-up for the projects that need servers: what the environment does not name is started once for the run. */
export async function setup(): Promise<() => Promise<void>> {
  const dir = temporaryDirectory('servers');
  const started: EmbeddedServer[] = [];
  const set: string[] = [];
  const offer = (name: string, value: string): void => {
    process.env[name] = value;
    set.push(name);
  };
  const teardown = async (): Promise<void> => {
    for (const name of set) Reflect.deleteProperty(process.env, name);
    await Promise.all(started.map((server) => server.stop()));
    removeDirectory(dir);
  };
  try {
    if ((process.env['KAFKA_BROKERS'] ?? '') === '') {
      const kafka = await startEmbeddedKafka({ dir: join(dir, 'kafka'), orphanGraceMs, log });
      started.push(kafka);
      offer('KAFKA_BROKERS', kafka.brokers.join(','));
    }
    if ((process.env['REDIS_URL'] ?? '') === '') {
      const redis = await startEmbeddedRedis({ dir: join(dir, 'redis'), orphanGraceMs, log });
      started.push(redis);
      offer('REDIS_URL', redis.url);
    }
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}
