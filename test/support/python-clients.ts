import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir, fillCacheEntry } from '../../src/app/embedded/cache-dir.ts';
import { runCommand } from '../../src/app/embedded/run-command.ts';
import { findPython } from '../engines/engines.ts';

const run = promisify(execFile);
const maxOutputBytes = 64 * 1024 * 1024;

/** Runs a script; answers what it printed, rejects with it when it fails. */
export type RunPython = (script: string, args: readonly string[]) => Promise<string>;

/**
 * Python with the packages of a requirements file, installed once into the cache. `undefined` where there is no Python: the tests are then skipped,
 * loudly; in continuous integration that is an error.
 */
export async function pythonWith(requirements: string): Promise<RunPython | undefined> {
  const python = await findPython();
  if (python === undefined) {
    if ((process.env['CI'] ?? '') !== '') throw new Error('clients in Python cannot be tested: there is no Python');
    console.error('SKIPPED: there is no Python, NO client in Python has been tested');
    return undefined;
  }
  const [cacheDir, entry] = [
    defaultCacheDir(),
    `python-clients-${createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)}`,
  ];
  const target = join(cacheDir, entry);
  if (!existsSync(target)) {
    console.error('installing clients in Python, once …');
    await fillCacheEntry(cacheDir, entry, async (partial) => {
      await runCommand(python, ['-m', 'venv', '--copies', partial]);
      await runCommand(join(partial, 'bin', 'python'), ['-m', 'pip', 'install', '-q', '-r', requirements]);
    });
  }
  return async (script, args) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = await run(join(target, 'bin', 'python'), [script, ...args], { maxBuffer: maxOutputBytes, env });
    return stdout;
  };
}
