import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Engines } from './engines.ts';

export type OracleEngine = 'delta-rs' | 'duckdb' | 'spark';

/** A row in the canonical form of oracle/canon.py: 64-bit numbers beyond the safe range, decimals and times are text. */
export type CanonicalRow = Readonly<Record<string, unknown>>;

/** What an engine answered to a statement it refused. */
export class OracleError extends Error {
  readonly condition: string | undefined;

  constructor(error: { readonly condition?: string; readonly message?: string; readonly python?: string }) {
    super(`${error.condition ?? error.python ?? ''}: ${error.message ?? ''}`);
    this.name = 'OracleError';
    this.condition = error.condition;
  }
}

export interface ReadRange {
  readonly version?: number | undefined;
  readonly filter?: string | undefined;
}

interface Answer {
  readonly id: number;
  readonly ok: boolean;
  readonly rows?: readonly CanonicalRow[];
  readonly error?: ConstructorParameters<typeof OracleError>[0];
}

/**
 * Other engines in one long-lived process, asked one thing at a time. Spark starts with its first question (some ten seconds).
 */
export class Oracle {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #complaints: string[] = [];
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null || child.stderr === null) throw new Error('the oracle has no pipes');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#complaints.push(line);
      if (this.#complaints.length > 40) this.#complaints.shift();
    });
    child.on('exit', () => {
      for (const [id, answered] of this.#waiting) answered({ id, ok: false, error: { message: `ended: ${this.#complaints.join('\n')}` } });
      this.#waiting.clear();
    });
  }

  static start(engines: Engines): Oracle {
    return new Oracle(engines.spawn('oracle_server.py'));
  }

  rows(engine: OracleEngine, path: string, range: ReadRange = {}): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'rows', engine, path, ...range });
  }

  schema(engine: OracleEngine, path: string, range: ReadRange = {}): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'schema', engine, path, ...range });
  }

  history(engine: 'delta-rs' | 'spark', path: string): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'history', engine, path });
  }

  /** Row changes of the versions, both ends included, without `_commit_timestamp`, which engines define differently. */
  async changes(
    engine: 'delta-rs' | 'spark',
    path: string,
    range: { readonly from: number; readonly to?: number },
  ): Promise<CanonicalRow[]> {
    const rows = await this.#ask({
      cmd: 'changes',
      engine,
      path,
      from: String(range.from),
      to: range.to === undefined ? undefined : String(range.to),
    });
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== '_commit_timestamp')));
  }

  /** What is wrong with the table's log, files, statistics and checkpoints: empty when nothing is. Warnings are left out. */
  async check(path: string, options: { readonly allowOrphans?: boolean } = {}): Promise<readonly CanonicalRow[]> {
    const findings = await this.#ask({ cmd: 'check', path, ...options });
    return findings.filter((finding) => finding['level'] === 'error');
  }

  /** Runs statements in Spark; the rows of the last one. */
  sql(...statements: readonly string[]): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'sql', engine: 'spark', sql: statements });
  }

  /** Writes rows with delta-rs. */
  async writeWithDeltaRs(path: string, rows: readonly CanonicalRow[], mode: 'append' | 'overwrite' = 'append'): Promise<void> {
    await this.#ask({ cmd: 'write_deltalake', path, rows, mode });
  }

  async deleteWithDeltaRs(path: string, predicate: string): Promise<void> {
    await this.#ask({ cmd: 'delete_deltalake', path, predicate });
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

/** Canonical rows as sorted text, to compare sets of rows with duplicates. */
export function sortedLines(rows: readonly CanonicalRow[]): readonly string[] {
  return rows.map((row) => JSON.stringify(sorted(row))).sort();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
