import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const maxOutputBytes = 64 * 1024 * 1024;
const pythons = ['python3.11', 'python3.12', 'python3.10', 'python3'];

/** Other engines, ready to run. */
export interface Engines {
  /** Runs one of the scripts beside this file. Rejects with what it printed when it fails. */
  script(name: 'read_table.py' | 'check_table.py' | 'append_in_bucket.py', args: readonly string[]): Promise<string>;
  /** Starts one of the scripts with pipes. */
  spawn(name: 'oracle_server.py', args?: readonly string[]): ChildProcess;
}

/**
 * Installs delta-rs, DuckDB and Spark with Delta below `$TIDEWATER_CACHE` (default `~/.cache/tidewater`), once for a set of versions.
 * Needs Python 3.10 or later, Java 17 or later and Maven.
 */
export async function obtainEngines(): Promise<Engines> {
  const dir = join(process.env['TIDEWATER_CACHE'] ?? join(homedir(), '.cache', 'tidewater'), 'engines', versionsKey());
  const ready = join(dir, 'ready');
  if (!existsSync(ready)) {
    await install(dir);
    writeFileSync(ready, '');
  }
  const env = { ...process.env, TIDEWATER_ENGINE_JARS: join(dir, 'jars'), PYTHONDONTWRITEBYTECODE: '1' };
  return {
    spawn: (name, args = []) =>
      spawn(join(dir, 'venv', 'bin', 'python'), [join(here, name), ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] }),
    script: async (name, args) => {
      const { stdout } = await run(join(dir, 'venv', 'bin', 'python'), [join(here, name), ...args], { env, maxBuffer: maxOutputBytes });
      return stdout;
    },
  };
}

/** What is missing to install the engines here; `undefined`: nothing. */
export async function missingTool(): Promise<string | undefined> {
  if ((await findPython()) === undefined) return 'Python 3.10 or later';
  for (const [tool, args] of [
    ['java', ['-version']],
    ['mvn', ['-version']],
  ] as const) {
    if (!(await works(tool, args))) return tool;
  }
  return undefined;
}

async function install(dir: string): Promise<void> {
  const python = await findPython();
  if (python === undefined) throw new Error('no Python 3.10 or later');
  console.error('installing delta-rs, DuckDB and Spark for the tests with other engines (minutes, once) …');
  mkdirSync(dir, { recursive: true });
  const [venv, jars] = [join(dir, 'venv'), join(dir, 'jars')];
  await run(python, ['-m', 'venv', '--clear', venv]);
  await run(join(venv, 'bin', 'pip'), ['install', '-q', '-r', join(here, 'requirements.txt')], { maxBuffer: maxOutputBytes });
  rmSync(jars, { recursive: true, force: true });
  const copy = [`-DoutputDirectory=${jars}.part`, '-DincludeScope=runtime'];
  await run('mvn', ['-q', '-B', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', ...copy], { maxBuffer: maxOutputBytes });
  renameSync(`${jars}.part`, jars);
}

/** Python 3.10 or later, when it is there. */
export async function findPython(): Promise<string | undefined> {
  for (const python of pythons) {
    if (await works(python, ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))'])) return python;
  }
  return undefined;
}

async function works(command: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(command, [...args]);
    return true;
  } catch {
    return false;
  }
}

function versionsKey(): string {
  const hash = createHash('sha256');
  for (const name of ['requirements.txt', 'pom.xml']) hash.update(readFileSync(join(here, name)));
  return hash.digest('hex').slice(0, 16);
}
