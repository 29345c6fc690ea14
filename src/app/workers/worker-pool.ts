import { Worker } from 'node:worker_threads';
import { abortedError } from '../../base/abort.ts';
import { ServiceError, serviceError } from '../../base/errors.ts';
import { ProgressWatch } from './thread-progress.ts';
import {
  fromPlainError,
  type TaskKind,
  toPlainError,
  type WorkerRequest,
  type WorkerResponse,
  type WorkerSetup,
  type WorkerTasks,
} from './worker-messages.ts';

export interface WorkerPoolOptions {
  /** Threads at most; started when there is work, and at once by `warm`. */
  readonly size: number;
  /** The heap of JavaScript of a thread; one that needs more ends with `WORKER_OUT_OF_MEMORY`. Default: Node's. */
  readonly maxHeapBytes?: number | undefined;
  /** Given to each thread at its start. */
  readonly workerData: Omit<WorkerSetup, 'progress'>;
  /** What a thread runs. Default: `batch-worker.js`. */
  readonly entry?: URL | undefined;
  /** A thread that makes no progress in its task for so long is ended, and the task fails with `WORKER_STUCK`. Default: never. */
  readonly stuckAfterMs?: number | undefined;
  /** Told when that happens. */
  readonly onStuck?: ((kind: TaskKind) => void) | undefined;
  /** A thread without work for this long ends and gives its memory back. `undefined`: never. */
  readonly idleMs: number | undefined;
  /** Tasks after which a thread is replaced, because WebAssembly memory never shrinks. */
  readonly maxTasksPerThread: number;
}

interface Job {
  readonly request: WorkerRequest;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
  served: number;
  idleTimer: NodeJS.Timeout | undefined;
  readonly progress: ProgressWatch;
  watchTimer: NodeJS.Timeout | undefined;
  /** Ends after its job: it trapped, or served its share. */
  retired: boolean;
}

/** How often a thread is looked at, at least. */
const longestLookMs = 1_000;
const bytesPerMb = 1024 * 1024;

/** Codes after which the thread's WebAssembly module is not trusted any more. */
const poisoned: ReadonlySet<string> = new Set(['PARQUET_WRITER_TRAPPED', 'PARQUET_READER_TRAPPED']);

/** Runs tasks on worker threads, one at a time on each, first come first served. A thread that dies fails its task and is replaced. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #queue: Job[] = [];
  /** Threads that were told to end because they were stuck and still run, with the time they were told, `performance.now`. */
  readonly #ending = new Map<Thread, number>();
  #nextId = 0;
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** How long a stuck thread has been running on although it was told to end: code outside of JavaScript may not be stopped. 0: none does. */
  get hungMs(): number {
    const [since] = this.#ending.values();
    return since === undefined ? 0 : performance.now() - since;
  }

  /** Starts all threads and loads their modules. */
  async warm(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.size }, () => this.run('warm', undefined)));
  }

  /**
   * Runs one task, on a copy of it.
   *
   * @throws ServiceError what the task threw; `WORKER_DIED` (unavailable) when its thread ended, `WORKER_STUCK` (unavailable) when it was
   *   ended, `WORKER_OUT_OF_MEMORY` (unavailable) when its heap was full, with the part of the task that it was at as `step`.
   */
  run<Kind extends TaskKind>(
    kind: Kind,
    task: WorkerTasks[Kind]['task'],
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<WorkerTasks[Kind]['result']> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (this.#closed || signal?.aborted === true) {
        reject(abortedError(signal));
        return;
      }
      const onAbort = (): void => {
        this.#cancel(job, signal);
      };
      const job: Job = {
        request: { id: this.#nextId++, kind, task },
        resolve: (result) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(result as WorkerTasks[Kind]['result']);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', onAbort);
          reject(error instanceof Error ? error : fromPlainError(toPlainError(error)));
        },
      };
      this.#queue.push(job);
      // A task that runs is seen through; one that waits leaves the queue.
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#dispatch();
    });
  }

  /** Ends all threads; tasks under way reject with kind `aborted`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.reject(abortedError());
    await Promise.all([...this.#threads].map((thread) => thread.worker.terminate()));
  }

  #cancel(job: Job, signal: AbortSignal | undefined): void {
    const index = this.#queue.indexOf(job);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    job.reject(abortedError(signal));
  }

  #dispatch(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const thread = this.#idleThread();
      if (thread === undefined) return;
      const job = this.#queue.shift();
      if (job === undefined) return;
      clearTimeout(thread.idleTimer);
      thread.job = job;
      thread.progress.reset();
      thread.worker.ref();
      thread.worker.postMessage(job.request);
    }
  }

  #idleThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined && !thread.retired) return thread;
    return this.#threads.size < this.#options.size ? this.#start() : undefined;
  }

  #start(): Thread {
    const progress = new ProgressWatch();
    const { entry = new URL('./batch-worker.js', import.meta.url), workerData, maxHeapBytes } = this.#options;
    const resourceLimits = maxHeapBytes === undefined ? {} : { maxOldGenerationSizeMb: Math.ceil(maxHeapBytes / bytesPerMb) };
    const worker = new Worker(entry, { workerData: { ...workerData, progress: progress.buffer }, resourceLimits });
    const thread: Thread = { worker, progress, job: undefined, served: 0, idleTimer: undefined, watchTimer: undefined, retired: false };
    this.#watch(thread);
    worker.on('message', (response: WorkerResponse) => {
      this.#finish(thread, response);
    });
    worker.on('error', (error) => {
      this.#lose(thread, error);
    });
    worker.on('exit', () => {
      this.#ending.delete(thread);
      this.#lose(thread, undefined);
    });
    this.#threads.add(thread);
    return thread;
  }

  #finish(thread: Thread, response: WorkerResponse): void {
    const { job } = thread;
    if (job?.request.id !== response.id) return;
    thread.job = undefined;
    thread.served += 1;
    if (response.ok) job.resolve(response.result);
    else job.reject(fromPlainError(response.error));
    const trapped = !response.ok && poisoned.has(response.error.code);
    if (trapped || thread.served >= this.#options.maxTasksPerThread) this.#retire(thread);
    else this.#rest(thread);
    this.#dispatch();
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    const { idleMs } = this.#options;
    if (idleMs === undefined) return;
    thread.idleTimer = setTimeout(() => {
      if (thread.job === undefined) this.#retire(thread);
    }, idleMs);
    thread.idleTimer.unref();
  }

  #watch(thread: Thread): void {
    const { stuckAfterMs } = this.#options;
    if (stuckAfterMs === undefined) return;
    const everyMs = Math.min(longestLookMs, stuckAfterMs / 4);
    thread.watchTimer = setInterval(() => {
      const stillMs = thread.progress.look() * everyMs;
      if (thread.job !== undefined && stillMs >= stuckAfterMs) this.#end(thread, thread.job, stuckAfterMs);
    }, everyMs);
    thread.watchTimer.unref();
  }

  /** Another thread takes its place at once, whether or not this one can be stopped. */
  #end(thread: Thread, job: Job, stuckAfterMs: number): void {
    const { kind } = job.request;
    const step = thread.progress.step;
    thread.job = undefined;
    this.#ending.set(thread, performance.now());
    this.#retire(thread);
    this.#options.onStuck?.(kind);
    job.reject(
      serviceError.unavailable(
        'WORKER_STUCK',
        `the worker thread made no progress in a ${kind} task for ${stuckAfterMs / 1_000} s and was ended`,
        { context: { step } },
      ),
    );
    this.#dispatch();
  }

  #retire(thread: Thread): void {
    thread.retired = true;
    clearInterval(thread.watchTimer);
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  #lose(thread: Thread, cause: unknown): void {
    this.#threads.delete(thread);
    clearTimeout(thread.idleTimer);
    clearInterval(thread.watchTimer);
    const { job } = thread;
    thread.job = undefined;
    thread.retired = true;
    job?.reject(
      this.#closed
        ? abortedError()
        : new ServiceError({
            code: isOutOfMemory(cause) ? 'WORKER_OUT_OF_MEMORY' : 'WORKER_DIED',
            kind: 'unavailable',
            message: `the worker thread ended during a ${job.request.kind} task${isOutOfMemory(cause) ? ', which needed more memory than it may have' : ''}`,
            cause,
            context: { step: thread.progress.step },
          }),
    );
    this.#dispatch();
  }
}

function isOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
