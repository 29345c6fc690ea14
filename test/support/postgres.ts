import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { EmbeddedServer, EmbeddedServerOptions } from '../../src/app/embedded/embedded-server.ts';
import { runManagedServer } from '../../src/app/embedded/managed-server.ts';
import { findOnPath, runCommand } from '../../src/app/embedded/run-command.ts';
import { type PrivateServer, privateServer } from './servers.ts';

export interface TestPostgres extends EmbeddedServer {
  readonly user: string;
  readonly password: string;
  /** `host:port` */
  readonly address: string;
}

const readyTimeoutMs = 60_000;
const orphanGraceMs = 5_000;
/** `nobody`: the server refuses to run as root. */
const unprivilegedId = 65_534;
const account = { user: 'catalog', password: 'p@ss:word/%' };

/**
 * A real PostgreSQL that one test owns, on a loopback port, its data in a temporary directory. `undefined` where none is installed: the
 * tests are then skipped, loudly. `settings`: its own, as `wal_level=logical`. In continuous integration there is always one (Debian: the package postgresql).
 */
export async function privatePostgres(settings: readonly string[] = []): Promise<PrivateServer<TestPostgres> | undefined> {
  const programs = await findPrograms();
  if (programs !== undefined) return await privateServer('postgres', (dir) => start(programs, settings, { dir, orphanGraceMs }));
  if ((process.env['CI'] ?? '') !== '') throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  console.error('SKIPPED: PostgreSQL is not installed, NO catalog in it has been tested');
  return undefined;
}

async function start(programs: string, more: readonly string[], options: EmbeddedServerOptions): Promise<TestPostgres> {
  const data = join(options.dir, 'data');
  const server = await runManagedServer(
    {
      name: 'PostgreSQL',
      portCount: 1,
      readyTimeoutMs,
      ready: answers,
      prepare: async ([port = 0], mark) => {
        const as = unprivileged();
        if (!existsSync(join(data, 'PG_VERSION'))) await initialise(programs, options.dir, data);
        const settings = [
          `port=${port}`,
          `cluster_name=${mark}`,
          'listen_addresses=127.0.0.1',
          'unix_socket_directories=',
          'fsync=off',
          ...more,
        ];
        const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
        return {
          command: as.command ?? join(programs, 'postgres'),
          args: as.command === undefined ? args : [...as.args, join(programs, 'postgres'), ...args],
        };
      },
    },
    options,
  );
  return { ...server, ...account, address: `127.0.0.1:${server.port}` };
}

async function initialise(programs: string, dir: string, data: string): Promise<void> {
  const as = unprivileged();
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, account.password);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (as.command !== undefined) {
    // The server's account must get to its directory, and nobody else into it.
    chmodSync(dir, 0o755);
    for (const path of [data, passwordFile]) chownSync(path, unprivilegedId, unprivilegedId);
  }
  const args = [
    '-D',
    data,
    '-U',
    account.user,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ];
  await runCommand(
    as.command ?? join(programs, 'initdb'),
    as.command === undefined ? args : [...as.args, join(programs, 'initdb'), ...args],
    {
      cwd: dir,
    },
  );
}

/** The program that gives root's rights away, when there are any. */
function unprivileged(): { readonly command: string | undefined; readonly args: readonly string[] } {
  if (process.getuid?.() !== 0) return { command: undefined, args: [] };
  return { command: 'setpriv', args: [`--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, '--clear-groups', '--'] };
}

/** The directory of `initdb` and `postgres`. */
async function findPrograms(): Promise<string | undefined> {
  const found = installedPrograms();
  const apt = findOnPath('apt-get');
  if (found !== undefined || (process.env['CI'] ?? '') === '' || process.getuid?.() !== 0 || apt === undefined) return found;
  await runCommand(apt, ['update', '-q']);
  await runCommand(apt, ['install', '-y', '-q', '--no-install-recommends', 'postgresql']);
  return installedPrograms();
}

function installedPrograms(): string | undefined {
  const onPath = findOnPath('initdb');
  if (onPath !== undefined) return join(realpathSync(onPath), '..');
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/** The server answers a request for TLS with a letter as soon as it takes connections. */
async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(1_000, () => {
      end(false);
    });
    socket.once('error', () => {
      end(false);
    });
    socket.once('connect', () => {
      socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    });
    socket.once('data', () => {
      end(true);
    });
    socket.once('close', () => {
      end(false);
    });
  });
}
