import type { EpochMs } from '../../src/base/clock.ts';
import { type EnqueueResult, type JobHandler, type JobQueue, type QueueCounts } from '../../src/maintenance/job-queue.ts';
import { type JobIdentity, type JobSpec, jobIdentity } from '../../src/maintenance/job-spec.ts';

interface Entry {
  readonly spec: JobSpec;
  attempts: number;
  active: boolean;
}

/** A job queue in this process's memory, for tests and the simulation. Retries at once. */
export class MemoryJobQueue implements JobQueue {
  readonly connected = true;
  readonly #maxAttempts: number;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #finished = new Map<string, { completed: number; failed: number }>();
  readonly #done = new Map<string, EpochMs>();
  #handler: JobHandler | undefined;
  #concurrency = 0;

  constructor(options: { readonly maxAttempts: number }) {
    this.#maxAttempts = options.maxAttempts;
  }

  enqueue(spec: JobSpec): Promise<EnqueueResult> {
    const identity = jobIdentity(spec);
    if (this.#entries.has(identity)) return Promise.resolve('already-queued');
    this.#entries.set(identity, { spec, attempts: 0, active: false });
    this.#dispatch();
    return Promise.resolve('queued');
  }

  work(handler: JobHandler, concurrency: number): void {
    this.#handler = handler;
    this.#concurrency = concurrency;
    this.#dispatch();
  }

  counts(kind: JobSpec['kind']): Promise<QueueCounts> {
    const entries = [...this.#entries.values()].filter(({ spec }) => spec.kind === kind);
    const active = entries.filter((entry) => entry.active).length;
    const finished = this.#finished.get(kind) ?? { completed: 0, failed: 0 };
    return Promise.resolve({ waiting: entries.length - active, active, delayed: 0, ...finished });
  }

  noteDone(identity: JobIdentity, atMs: EpochMs): Promise<void> {
    this.#done.set(jobIdentity(identity), atMs);
    return Promise.resolve();
  }

  lastDoneMs(identity: JobIdentity): Promise<EpochMs | undefined> {
    return Promise.resolve(this.#done.get(jobIdentity(identity)));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#handler = undefined;
    await Promise.all(this.#running);
  }

  #dispatch(): void {
    for (const [identity, entry] of this.#entries) {
      const handler = this.#handler;
      if (handler === undefined || this.#running.size >= this.#concurrency) return;
      if (entry.active) continue;
      entry.active = true;
      const task = this.#attempt(identity, entry, handler).finally(() => {
        this.#running.delete(task);
        this.#dispatch();
      });
      this.#running.add(task);
    }
  }

  async #attempt(identity: string, entry: Entry, handler: JobHandler): Promise<void> {
    entry.attempts += 1;
    const finished = this.#finished.get(entry.spec.kind) ?? { completed: 0, failed: 0 };
    this.#finished.set(entry.spec.kind, finished);
    try {
      await handler(entry.spec, this.#stop.signal);
      finished.completed += 1;
      this.#entries.delete(identity);
    } catch {
      // The handler has told its observer what went wrong.
      entry.active = false;
      if (entry.attempts < this.#maxAttempts) return;
      finished.failed += 1;
      this.#entries.delete(identity);
    }
  }
}
