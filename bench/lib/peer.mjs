// The strongest loop a user can write: librdkafka, Arrow's JSON reader and delta-rs from Python (bench/peers).
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultCacheDir } from './dist.mjs';
import { MeasuredProcess } from './process-tree.mjs';

const packages = ['confluent-kafka==2.16.1', 'deltalake==1.6.6', 'pyarrow==26.0.1', 'orjson==3.11.4'];
const installTimeoutMs = 600_000;

/** The interpreter that has the peer's packages: made once in the cache; `undefined`, with the reason logged, when that fails. */
export function findPeer(log) {
  const venv = join(defaultCacheDir(), 'bench-peer');
  const python = join(venv, 'bin', 'python');
  const complete = join(venv, 'complete');
  if (existsSync(complete)) return python;
  try {
    log(`installing the peer once: ${packages.join(' ')}`);
    rmSync(venv, { recursive: true, force: true });
    mkdirSync(defaultCacheDir(), { recursive: true });
    const quiet = { stdio: ['ignore', 'ignore', 'pipe'], timeout: installTimeoutMs };
    execFileSync('python3', ['-m', 'venv', venv], quiet);
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], quiet);
    execFileSync('touch', [complete]);
    return python;
  } catch (error) {
    log(`no peer beside us: ${String(error.stderr ?? error.message).trim().split('\n').at(-1)}`);
    return undefined;
  }
}

/** Starts one of the peer's scripts with its arguments. */
export function startPeer({ python, script, args, dir, brokerPid }) {
  mkdirSync(dir, { recursive: true });
  const path = fileURLToPath(new URL(`../peers/${script}`, import.meta.url));
  return new MeasuredProcess({ command: python, args: [path, ...args], logFile: join(dir, 'peer.log'), brokerPid });
}

/** Makes the empty table that the loop appends to; not part of any measurement. */
export function createPeerTable(python, table) {
  const path = fileURLToPath(new URL('../peers/loop.py', import.meta.url));
  execFileSync(python, [path, 'create', table], { stdio: ['ignore', 'ignore', 'inherit'] });
}
