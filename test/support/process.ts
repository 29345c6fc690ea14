import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const pollMs = 100;
const keptLines = 400;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  readonly config: string;
  /** Command and its arguments, without `--config`. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A `tidewater` process of the built product. */
export class ProductProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #exited: Promise<Exit>;
  #exit: Exit | undefined;
  #url: string | undefined;
  #partial = '';
  stdout = '';

  constructor(options: RunOptions) {
    const [command = '', ...rest] = options.args;
    this.#child = spawn(process.execPath, [mainScript(), command, ...rest, '--config', options.config], {
      env: { ...process.env, FAILPOINT: '', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#read(text);
    });
    this.#exited = new Promise((done, fail) => {
      this.#child.once('error', fail);
      this.#child.once('close', (code, signal) => {
        this.#exit = { code, signal };
        done(this.#exit);
      });
    });
    // Looked at by whoever waits for the end; until then a failed spawn must not end the test run.
    this.#exited.catch(() => undefined);
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** The last lines of its standard error, for messages of failed tests. */
  get log(): string {
    return this.#lines.join('\n');
  }

  exited(): Promise<Exit> {
    return this.#exited;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#exit === undefined) process.kill(this.pid, name);
  }

  /** SIGTERM, then its end. */
  async terminate(): Promise<Exit> {
    this.signal('SIGTERM');
    return await this.#exited;
  }

  /** SIGKILL if it still runs, then its end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  /** Address of its probes, as soon as it listens. */
  async url(): Promise<string> {
    return await eventually('the process listens', () => {
      if (this.#exit !== undefined) throw new Error(`ended with ${JSON.stringify(this.#exit)}:\n${this.log}`);
      return this.#url;
    });
  }

  async status(): Promise<StatusPage> {
    const response = await fetch(`${await this.url()}/status`);
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`/status says ${response.status}: ${JSON.stringify(body)}`);
    return body as StatusPage;
  }

  async probe(
    path: '/livez' | '/readyz' | '/startupz' | `/v1/freshness?${string}`,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(`${await this.url()}${path}`);
    return { status: response.status, body: await response.json() };
  }

  async metrics(): Promise<Metrics> {
    const response = await fetch(`${await this.url()}/metrics`);
    return new Metrics(await response.text());
  }

  /** Whether a line of the log (or of anything else on standard error) contains `text`. */
  said(text: string): boolean {
    return this.#lines.some((line) => line.includes(text));
  }

  #read(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) {
      this.#lines.push(line);
      if (this.#lines.length > keptLines) this.#lines.shift();
      if (this.#url === undefined && line.includes('"serving"')) this.#url = /"url":"([^"]+)"/.exec(line)?.[1];
    }
  }
}

/** The members of `/status` tests look at. Offsets stay far below 2^53 here. */
export interface StatusPage {
  readonly tables: readonly {
    readonly name: string;
    readonly version: number | null;
    readonly rowCount: number | null;
    readonly fileCount: number | null;
    readonly ingest: string | null;
    readonly detail: string | null;
    readonly partitions: readonly {
      readonly partition: number;
      readonly committedOffset: number | null;
      readonly endOffset: number | null;
      readonly lag: number | null;
      readonly problem: string | null;
    }[];
    readonly keyed?: unknown;
  }[];
  readonly feeds: readonly {
    readonly name: string;
    readonly snapshot?: { readonly rows: number; readonly totalRows: number | null };
    readonly state: string;
    readonly detail: string | null;
    readonly publishedVersion: number | null;
    readonly lagVersions: number | null;
  }[];
  readonly memory?: {
    readonly budgetBytes: number;
    readonly sizeBytes: number;
    readonly heldBytes: number;
    readonly peakBytes: number;
    readonly waiting: readonly string[];
  };
  readonly queues: readonly { readonly name: string; readonly connected: boolean; readonly jobs: Readonly<Record<string, number>> }[];
}

/** Samples of one scrape. */
export class Metrics {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Sum over all samples of a metric whose labels have the given values. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    let sum = 0;
    for (const line of this.#text.split('\n')) {
      const match = /^([a-zA-Z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (match?.[1] !== name) continue;
      const given = match[2] ?? '';
      if (Object.entries(labels).every(([key, value]) => given.includes(`${key}="${value}"`))) sum += Number(match[3]);
    }
    return sum;
  }
}

/** Runs a command to its end. */
export async function runProduct(options: RunOptions): Promise<Exit & { readonly stdout: string; readonly log: string }> {
  const running = new ProductProcess(options);
  const exit = await running.exited();
  return { ...exit, stdout: running.stdout, log: running.log };
}

/**
 * Looks again and again until `look` gives something other than `undefined` or `false`; what it throws counts as not yet. Rejects
 * after `deadlineMs` with what was seen last.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 90_000,
): Promise<T> {
  const begun = Date.now();
  let last: unknown = 'not yet';
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = 'not yet';
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - begun;
    if (waitedMs > deadlineMs) throw new Error(`waited ${waitedMs} ms until ${what}: ${String(last)}`, { cause: last });
    await sleep(Math.min(pollMs, 10 + waitedMs / 5));
  }
}

function mainScript(): string {
  const main = process.env['TIDEWATER_MAIN'] ?? join(root, 'dist', 'main.js');
  if (!existsSync(main)) throw new Error(`${main} does not exist: node scripts/bootstrap.mjs builds it`);
  return main;
}
