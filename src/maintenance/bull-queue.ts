import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { throwIfAborted } from '../base/abort.ts';
import { type EpochMs, toEpochMs } from '../base/clock.ts';
import { serviceError } from '../base/errors.ts';
import type { MaintenanceKind } from '../table/table.ts';
import type { EnqueueResult, JobHandler, JobQueue, QueueCounts } from './job-queue.ts';
import { type JobIdentity, type JobSpec, jobIdentity, parseJobSpec, printJobSpec } from './job-spec.ts';
import { maintenanceKinds } from './maintenance-kinds.ts';

export interface BullQueueOptions {
  readonly url: string;
  /** In front of every key and queue name. */
  readonly prefix: string;
  readonly maxAttempts: number;
  /** Told when the server goes away and comes back. */
  readonly onConnection: (connected: boolean, detail: string | undefined) => void;
  /** Told of a payload that is no job. */
  readonly onRefused: (kind: MaintenanceKind, error: unknown) => void;
}

/** A worker that dies is noticed after its lock ran out and the next look: within these two together. */
const lockMs = 6_000;
const stalledCheckMs = 4_000;
/** A long compaction may lose several workers; each loss is one stall and no attempt. */
const maxStalls = 5;
const keptJobs = 50;
const retryWaitMs = 2_000;
const maxReconnectWaitMs = 2_000;
const commandTimeoutMs = 5_000;

/** Jobs in Redis, by BullMQ. The only place that knows either. */
export class BullJobQueue implements JobQueue {
  readonly #options: BullQueueOptions;
  readonly #connections: Redis[] = [];
  readonly #connection: Redis;
  readonly #queues: ReadonlyMap<MaintenanceKind, Queue<string, unknown>>;
  readonly #workers: Worker<unknown, unknown>[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #connected = false;

  constructor(options: BullQueueOptions) {
    this.#options = options;
    // A command while the server is away fails at once instead of waiting in memory: the next sweep asks again.
    const connection = this.#connect({ enableOfflineQueue: false, commandTimeout: commandTimeoutMs, maxRetriesPerRequest: 1 });
    connection.on('ready', () => {
      this.#report(true, undefined);
    });
    connection.on('close', () => {
      this.#report(false, 'the connection to redis is closed');
    });
    this.#connection = connection;
    const { prefix } = options;
    this.#queues = new Map(
      maintenanceKinds.map((kind) => {
        const queue = new Queue<string, unknown>(kind, { connection, prefix, skipVersionCheck: true, skipWaitingForReady: true });
        queue.on('error', ignoreConnectionTrouble);
        return [kind, queue];
      }),
    );
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** @throws ServiceError `QUEUE_UNAVAILABLE` (kind unavailable) while Redis does not answer. */
  async enqueue(spec: JobSpec): Promise<EnqueueResult> {
    const queue = this.#queue(spec.kind);
    const id = jobIdentity(spec);
    return this.#asking(async () => {
      const known = await queue.getDeduplicationJobId(id);
      if (known !== null) return 'already-queued';
      await queue.add(spec.kind, printJobSpec(spec), {
        deduplication: { id },
        attempts: this.#options.maxAttempts,
        backoff: { type: 'exponential', delay: retryWaitMs },
        removeOnComplete: { count: keptJobs },
        removeOnFail: { count: keptJobs },
      });
      return 'queued';
    });
  }

  work(handler: JobHandler, concurrency: number): void {
    // Each kind has a worker of its own; the limit is for all of them together.
    const slots = new Slots(concurrency);
    for (const kind of maintenanceKinds) {
      const run = (job: Job<unknown>): Promise<void> => slots.run(() => this.#handle(handler, this.#specOf(kind, job.data)));
      const worker = new Worker<unknown, unknown>(kind, run, {
        connection: this.#connect({ maxRetriesPerRequest: null }),
        prefix: this.#options.prefix,
        concurrency,
        lockDuration: lockMs,
        stalledInterval: stalledCheckMs,
        maxStalledCount: maxStalls,
        skipVersionCheck: true,
      });
      worker.on('error', ignoreConnectionTrouble);
      this.#workers.push(worker);
    }
  }

  async counts(kind: MaintenanceKind): Promise<QueueCounts> {
    const counts = await this.#asking(() => this.#queue(kind).getJobCounts('waiting', 'active', 'delayed', 'completed', 'failed'));
    const of = (state: string): number => counts[state] ?? 0;
    return { waiting: of('waiting'), active: of('active'), delayed: of('delayed'), completed: of('completed'), failed: of('failed') };
  }

  async noteDone(identity: JobIdentity, atMs: EpochMs): Promise<void> {
    await this.#asking(() => this.#connection.hset(this.#doneKey, jobIdentity(identity), String(atMs)));
  }

  async lastDoneMs(identity: JobIdentity): Promise<EpochMs | undefined> {
    const text = await this.#asking(() => this.#connection.hget(this.#doneKey, jobIdentity(identity)));
    return text !== null && /^\d{1,15}$/.test(text) ? toEpochMs(Number(text)) : undefined;
  }

  /** Without a server there is nobody to say goodbye to: only the jobs under way are waited for, their locks run out. */
  async close(): Promise<void> {
    this.#stop.abort();
    const force = !this.#connected;
    const closing = Promise.allSettled([
      ...this.#workers.map((worker) => worker.close(force)),
      ...[...this.#queues.values()].map((queue) => queue.close()),
    ]);
    await (force ? Promise.allSettled(this.#running) : closing);
    for (const connection of this.#connections) connection.disconnect();
  }

  /** Anybody who reaches the server can put anything there; what is no job now is none the next time. */
  #specOf(kind: MaintenanceKind, payload: unknown): JobSpec {
    try {
      return parseJobSpec(typeof payload === 'string' ? payload : '');
    } catch (error) {
      this.#options.onRefused(kind, error);
      throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
    }
  }

  async #handle(handler: JobHandler, spec: JobSpec): Promise<void> {
    throwIfAborted(this.#stop.signal);
    const running = handler(spec, this.#stop.signal);
    this.#running.add(running);
    try {
      await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** A hash of identities and times; no queue has this name. */
  get #doneKey(): string {
    return `${this.#options.prefix}:last-done`;
  }

  #queue(kind: MaintenanceKind): Queue<string, unknown> {
    const queue = this.#queues.get(kind);
    if (queue === undefined) throw serviceError.internal('ASSERTION_FAILED', `no queue for ${kind}`);
    return queue;
  }

  #connect(options: {
    readonly maxRetriesPerRequest: number | null;
    readonly enableOfflineQueue?: boolean;
    readonly commandTimeout?: number;
  }): Redis {
    const connection = new Redis(this.#options.url, {
      ...options,
      retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 10), maxReconnectWaitMs),
    });
    connection.on('error', ignoreConnectionTrouble);
    this.#connections.push(connection);
    return connection;
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      throw serviceError.unavailable(
        'QUEUE_UNAVAILABLE',
        `redis does not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
        { hint: 'ingest and feeds go on; jobs are planned again from the tables when redis is back', cause },
      );
    }
  }

  #report(connected: boolean, detail: string | undefined): void {
    if (this.#connected === connected || this.#stop.signal.aborted) return;
    this.#connected = connected;
    this.#options.onConnection(connected, detail);
  }
}

/** Connection trouble is reported once, by the state of the producing connection; the clients reconnect by themselves. */
function ignoreConnectionTrouble(): void {
  // An error event without a listener would end the process.
}

/** Lets at most `size` pieces of work run at once, in the order they came. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes to the next in line without becoming free in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
