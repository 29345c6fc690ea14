import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { throwIfAborted } from '../../base/abort.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { RandomIdSource } from '../../base/ids.ts';
import { SystemClock } from '../../base/system-clock.ts';
import { SystemRandom } from '../../base/system-random.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from './embedded-server.ts';
import { freePort } from './free-port.ts';
import { guardAgainstOrphan } from './orphan-guard.ts';
import { processBirth, runsWith } from './process-identity.ts';
import { readServerRecord, removeOwnerToken, type ServerRecord, writeOwnerToken, writeServerRecord } from './server-record.ts';
import { withStartLock } from './start-lock.ts';

/** What differs between one kind of server and another. */
export interface ServerPlan {
  /** For messages. */
  readonly name: string;
  /** The client listener first. */
  readonly portCount: number;
  readonly readyTimeoutMs: number;
  /** Writes the settings for these ports, and returns the program. Its command line must hold `mark` from start to end. */
  prepare(ports: readonly number[], mark: string): Promise<ServerCommand>;
  ready(port: number): Promise<boolean>;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

const defaultOrphanGraceMs = 60_000;
const adoptTimeoutMs = 15_000;
const termTimeoutMs = 10_000;
const killTimeoutMs = 5_000;
const readyPollMs = 100;
const stopPollMs = 50;
const maxStarts = 3;
const maxLogBytes = 16 * 1024 * 1024;
const shownLogLines = 15;
const clock = new SystemClock();
const ids = new RandomIdSource(new SystemRandom());

/**
 * Starts the server of a directory, or takes over one that still runs there: what a killed process left behind is adopted, what a live
 * process owns is shared. Data and ports are those of the last run (another port when the old one is occupied).
 *
 * @throws ServiceError `EMBEDDED_SERVER_FAILED` (unavailable) with the end of the server's log; `EMBEDDED_SERVER_LOCKED`; `ABORTED`.
 */
export async function runManagedServer(plan: ServerPlan, options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true });
  const run = new ManagedServer(plan, { ...options, dir });
  return await withStartLock(dir, options.signal, async () => (await run.takeOver()) ?? (await run.start()));
}

/** Text in a server's command line that belongs to this directory's server only. */
export function serverMark(dir: string): string {
  return `tidewater-${createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 16)}`;
}

/** The client port of the directory's server, if a process of it runs. It is not asked whether it answers. */
export function runningServerPort(dir: string): number | undefined {
  const record = readServerRecord(resolve(dir));
  return record !== undefined && record.pid > 0 && runsWith(record.pid, serverMark(dir)) ? record.ports[0] : undefined;
}

class ManagedServer {
  readonly #plan: ServerPlan;
  readonly #options: EmbeddedServerOptions;
  readonly #mark: string;

  constructor(plan: ServerPlan, options: EmbeddedServerOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#mark = serverMark(options.dir);
  }

  /** The server that runs already, if it answers; one that does not answer is ended. */
  async takeOver(): Promise<EmbeddedServer | undefined> {
    const record = readServerRecord(this.#options.dir);
    const port = record?.ports[0];
    if (record === undefined || port === undefined || record.pid <= 0 || !runsWith(record.pid, this.#mark)) return undefined;
    const ready = await this.#untilReady(port, adoptTimeoutMs, () => runsWith(record.pid, this.#mark));
    if (!ready) {
      this.#log(`stopping a ${this.#plan.name} that does not answer`, { pid: record.pid });
      await endProcess(record.pid, this.#mark);
      return undefined;
    }
    if (processBirth(record.ownerPid) === record.ownerBirth) {
      this.#log(`sharing the ${this.#plan.name} of process ${record.ownerPid}`, { pid: record.pid, port });
      return { pid: record.pid, port, origin: 'shared', stop: () => Promise.resolve() };
    }
    this.#log(`adopting the ${this.#plan.name} that still runs`, { pid: record.pid, port });
    return this.#own(record.pid, record.ports, port, 'adopted');
  }

  async start(): Promise<EmbeddedServer> {
    const known = readServerRecord(this.#options.dir)?.ports ?? [];
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(this.#options.signal);
      const ports: number[] = [];
      for (let index = 0; index < this.#plan.portCount; index += 1) {
        ports.push(await freePort(attempt === 1 ? known[index] : undefined, ports));
      }
      const command = await this.#plan.prepare(ports, this.#mark);
      const server = await this.#tryStart(command, ports);
      if (server !== undefined) return server;
      if (attempt === maxStarts || !addressInUse(this.#logTail())) throw this.#failed(`it did not become ready`);
      this.#log(`a port of the ${this.#plan.name} was taken meanwhile, trying others`);
    }
  }

  async #tryStart({ command, args }: ServerCommand, ports: readonly number[]): Promise<EmbeddedServer | undefined> {
    const { dir } = this.#options;
    const log = openSync(this.#logPath(), logIsLarge(this.#logPath()) ? 'w' : 'a');
    // A group of its own: Ctrl-C reaches the owner only, which drains first and stops the server last.
    const child = spawn(command, [...args], { cwd: dir, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    const exited = exitOf(child);
    const { pid } = child;
    if (pid === undefined) throw this.#failed(`${command} could not be run: ${await exited}`);
    child.unref();
    const port = ports[0] ?? 0;
    const server = this.#own(pid, ports, port, 'started');
    let gone = false;
    void exited.then(() => {
      gone = true;
    });
    try {
      this.#log(`starting ${this.#plan.name}`, { pid, port });
      const startedAt = clock.monotonicMs();
      if (await this.#untilReady(port, this.#plan.readyTimeoutMs, () => !gone)) {
        this.#log(`${this.#plan.name} is ready`, { pid, port, ms: Math.round(clock.monotonicMs() - startedAt) });
        return server;
      }
    } catch (error) {
      await server.stop();
      throw error;
    }
    await server.stop();
    return undefined;
  }

  /** Writes down that this process answers for the server, and sees to its end in every case. */
  #own(pid: number, ports: readonly number[], port: number, origin: 'started' | 'adopted'): EmbeddedServer {
    const { dir } = this.#options;
    const token = ids.uuid();
    const record: ServerRecord = { pid, ports, ownerPid: process.pid, ownerBirth: processBirth(process.pid) ?? '' };
    writeOwnerToken(dir, token);
    writeServerRecord(dir, record);
    guardAgainstOrphan({ dir, token, pid, mark: this.#mark, graceMs: this.#options.orphanGraceMs ?? defaultOrphanGraceMs });
    const onExit = (): void => {
      if (runsWith(pid, this.#mark)) process.kill(pid, 'SIGTERM');
    };
    process.once('exit', onExit);
    let stopping: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await endProcess(pid, this.#mark);
      process.off('exit', onExit);
      removeOwnerToken(dir);
      writeServerRecord(dir, { ...record, pid: 0 });
      this.#log(`${this.#plan.name} stopped`, { pid });
    };
    return {
      pid,
      port,
      origin,
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  }

  /** False when the time is up or the process is gone. */
  async #untilReady(port: number, timeoutMs: number, alive: () => boolean): Promise<boolean> {
    const deadline = clock.monotonicMs() + timeoutMs;
    while (clock.monotonicMs() < deadline && alive()) {
      if (await this.#plan.ready(port)) return alive();
      await clock.sleep(readyPollMs, this.#options.signal);
    }
    return false;
  }

  #failed(what: string): ServiceError {
    return serviceError.unavailable(
      'EMBEDDED_SERVER_FAILED',
      `the embedded ${this.#plan.name} did not start: ${what}; its log ends with:\n${this.#logTail()}`,
      { hint: `see ${this.#logPath()}; deleting ${this.#options.dir} starts with an empty server` },
    );
  }

  #logPath(): string {
    return join(this.#options.dir, 'server.log');
  }

  #logTail(): string {
    try {
      return readFileSync(this.#logPath(), 'utf8').trimEnd().split('\n').slice(-shownLogLines).join('\n');
    } catch {
      return '(nothing)';
    }
  }

  #log(message: string, fields?: Readonly<Record<string, string | number>>): void {
    this.#options.log?.(message, fields);
  }
}

/** SIGTERM, then SIGKILL. Resolves when the process is gone. */
async function endProcess(pid: number, mark: string): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGTERM', termTimeoutMs],
    ['SIGKILL', killTimeoutMs],
  ] as const) {
    if (!runsWith(pid, mark)) return;
    const birth = processBirth(pid);
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = clock.monotonicMs() + timeoutMs;
    // A dying process loses its command line first and its files later.
    while (clock.monotonicMs() < deadline && birth !== undefined && processBirth(pid) === birth) await clock.sleep(stopPollMs);
  }
}

async function exitOf(child: ChildProcess): Promise<string> {
  return await new Promise((resolvePromise) => {
    child.once('error', (error) => {
      resolvePromise(error.message);
    });
    child.once('exit', (code, signal) => {
      resolvePromise(`exit ${code ?? signal ?? 'unknown'}`);
    });
  });
}

function logIsLarge(path: string): boolean {
  try {
    return statSync(path).size > maxLogBytes;
  } catch {
    return false;
  }
}

function addressInUse(log: string): boolean {
  return /address already in use/i.test(log);
}
