import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { EmbeddedServer, EmbeddedServerOptions } from './embedded-server.ts';
import { runManagedServer, type ServerCommand } from './managed-server.ts';
import { obtainRedis } from './obtain-redis.ts';
import { redisReady } from './probe.ts';

export interface EmbeddedRedis extends EmbeddedServer {
  /** `redis://host:port`. */
  readonly url: string;
}

const readyTimeoutMs = 30_000;

/**
 * Runs a real redis-server on a loopback port, its append-only file below `dir`, without eviction (queues must not lose keys).
 *
 * @throws ServiceError `REDIS_NOT_OBTAINED`, `EMBEDDED_SERVER_FAILED`, `EMBEDDED_SERVER_LOCKED`, `ABORTED`.
 */
export async function startEmbeddedRedis(options: EmbeddedServerOptions): Promise<EmbeddedRedis> {
  const dir = resolve(options.dir);
  const server = await runManagedServer(
    {
      name: 'Redis server',
      portCount: 1,
      readyTimeoutMs,
      ready: redisReady,
      prepare: async ([port], mark): Promise<ServerCommand> => {
        const command = await obtainRedis(options);
        // Redis replaces its command line by a title: the mark is in both.
        const file = join(dir, `${mark}.conf`);
        writeFileSync(file, `${settings(port ?? 0, mark).join('\n')}\n`);
        return { command, args: [file] };
      },
    },
    options,
  );
  return { ...server, url: `redis://127.0.0.1:${server.port}` };
}

function settings(port: number, mark: string): readonly string[] {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    'dir ./',
    `proc-title-template "redis-server ${mark} {listen-addr}"`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory 256mb',
    'maxmemory-policy noeviction',
    'daemonize no',
  ];
}
