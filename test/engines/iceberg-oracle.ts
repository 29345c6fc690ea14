import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPython } from './engines.ts';
import { type CanonicalRow, OracleError } from './oracle.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const maxOutputBytes = 64 * 1024 * 1024;

export type IcebergEngine = 'pyiceberg' | 'duckdb';

interface Answer {
  readonly id: number;
  readonly ok: boolean;
  readonly rows?: readonly CanonicalRow[];
  readonly error?: ConstructorParameters<typeof OracleError>[0];
}

/** Other engines that read Iceberg tables, in a process of their own. */
export class IcebergOracle {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.resume();
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const answer = JSON.parse(line) as Answer;
        this.#waiting.get(answer.id)?.(answer);
        this.#waiting.delete(answer.id);
      });
    }
    child.on('exit', () => {
      for (const [id, answered] of this.#waiting) answered({ id, ok: false, error: { message: 'the engines ended' } });
      this.#waiting.clear();
    });
  }

  /**
   * Installs pyiceberg and DuckDB below `$TIDEWATER_CACHE` (default `~/.cache/tidewater`), once for a set of versions, and starts them.
   * `undefined` where no Python 3.10 or later is there.
   */
  static async start(): Promise<IcebergOracle | undefined> {
    const python = await findPython();
    if (python === undefined) return undefined;
    const requirements = join(here, 'iceberg-requirements.txt');
    const key = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
    const directory = join(process.env['TIDEWATER_CACHE'] ?? join(homedir(), '.cache', 'tidewater'), 'engines', `iceberg-${key}`);
    const bin = join(directory, 'venv', 'bin');
    if (!existsSync(join(directory, 'ready'))) {
      console.error('installing pyiceberg and DuckDB for the tests with other engines (minutes, once) …');
      mkdirSync(directory, { recursive: true });
      await run(python, ['-m', 'venv', '--clear', join(directory, 'venv')]);
      await run(join(bin, 'pip'), ['install', '-q', '-r', requirements], { maxBuffer: maxOutputBytes });
      writeFileSync(join(directory, 'ready'), '');
    }
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    return new IcebergOracle(spawn(join(bin, 'python'), [join(here, 'iceberg_oracle.py')], { env, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  rows(engine: IcebergEngine, path: string, snapshot?: bigint): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'rows', engine, path, ...(snapshot === undefined ? {} : { snapshot: String(snapshot) }) });
  }

  /** What is wrong with the table's metadata, manifests, files and statistics: empty when nothing is. */
  check(path: string, options: { readonly allowOrphans?: boolean } = {}): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'check', path, ...options });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }

  #ask(question: Readonly<Record<string, unknown>>): Promise<readonly CanonicalRow[]> {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (answer) => {
        if (answer.ok) resolve(answer.rows ?? []);
        else reject(new OracleError(answer.error ?? {}));
      });
      this.#child.stdin?.write(`${JSON.stringify({ id, ...question })}\n`);
    });
  }
}
