import { join } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { EmbeddedLog } from './embedded/embedded-server.ts';
import { startEmbeddedKafka } from './embedded/kafka-server.ts';
import { runningServerPort } from './embedded/managed-server.ts';
import { startEmbeddedRedis } from './embedded/redis-server.ts';

/** Where the servers are that this process works with. */
export interface Servers {
  readonly brokers: readonly string[];
  /** `undefined` when it is not needed. */
  readonly redisUrl: string | undefined;
  /** Which of them are private ones of this data directory. */
  readonly embedded: readonly ('kafka' | 'redis')[];
  /** Stops what was started here. */
  stop(): Promise<void>;
}

/** The configured brokers, or the private one if it runs; none is started. */
export function brokersAtHand({ kafka, dataDir }: Config): readonly string[] {
  if (kafka.brokers.length > 0) return kafka.brokers;
  const port = runningServerPort(join(dataDir, 'kafka'));
  return port === undefined ? [] : [`127.0.0.1:${port}`];
}

export interface ServersOptions {
  readonly config: Config;
  readonly needsKafka: boolean;
  readonly needsRedis: boolean;
  readonly log: EmbeddedLog;
  readonly signal: AbortSignal;
}

/** The configured servers, or private ones below the data directory for those that are not configured. */
export async function openServers(options: ServersOptions): Promise<Servers> {
  const { config, log, signal } = options;
  const configured = config.kafka.brokers;
  const [kafkaStart, redisStart] = await Promise.allSettled([
    options.needsKafka && configured.length === 0 ? startEmbeddedKafka({ dir: join(config.dataDir, 'kafka'), log, signal }) : undefined,
    options.needsRedis && config.redis.url === undefined
      ? startEmbeddedRedis({ dir: join(config.dataDir, 'redis'), log, signal })
      : undefined,
  ]);
  // One that started must not stay behind when the other did not.
  if (kafkaStart.status === 'rejected' || redisStart.status === 'rejected') {
    for (const start of [kafkaStart, redisStart]) if (start.status === 'fulfilled') await start.value?.stop();
    throw kafkaStart.status === 'rejected' ? kafkaStart.reason : (redisStart as PromiseRejectedResult).reason;
  }
  const [kafka, redis] = [kafkaStart.value, redisStart.value];
  return {
    brokers: kafka?.brokers ?? configured,
    redisUrl: redis?.url ?? config.redis.url?.reveal(),
    embedded: [...(kafka === undefined ? [] : (['kafka'] as const)), ...(redis === undefined ? [] : (['redis'] as const))],
    stop: async () => {
      await Promise.all([kafka?.stop(), redis?.stop()]);
    },
  };
}
