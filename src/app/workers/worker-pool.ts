import { type Transferable as NodeTransferable, Worker } from 'node:worker_threads';
import { abortedError } from '../../base/abort.ts';
import { ServiceError } from '../../base/errors.ts';
import {
  fromPlainError,
  type TaskKind,
  toPlainError,
  type WorkerRequest,
  type WorkerResponse,
  type WorkerTasks,
} from './worker-messages.ts';

export interface WorkerPoolOptions {
  /** Threads at most; started when there is work, and at once by `warm`. */
  readonly size: number;
  /** Given to each thread at its start. */
  readonly workerData: unknown;
  /** A thread without work for this long ends and gives its memory back. `undefined`: never. */
  readonly idleMs: number | undefined;
  /** Tasks after which a thread is replaced, because WebAssembly memory never shrinks. */
  readonly maxTasksPerThread: number;
}

interface Job {
  readonly request: WorkerRequest;
  readonly transfer: readonly NodeTransferable[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
  served: number;
  idleTimer: NodeJS.Timeout | undefined;
  /** Ends after its job: it trapped, or served its share. */
  retired: boolean;
}

/** Codes after which the thread's WebAssembly module is not trusted any more. */
const poisoned: ReadonlySet<string> = new Set(['PARQUET_WRITER_TRAPPED', 'PARQUET_READER_TRAPPED']);

/** Runs tasks on worker threads, one at a time on each, first come first served. A thread that dies fails its task and is replaced. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #queue: Job[] = [];
  #nextId = 0;
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Starts all threads and loads their modules. */
  async warm(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.size }, () => this.run('warm', undefined)));
  }

  /**
   * Runs one task. `transfer` moves buffers instead of copying them: they are unusable here afterwards.
   *
   * @throws ServiceError what the task threw; `WORKER_DIED` (unavailable) when its thread ended.
   */
  run<Kind extends TaskKind>(
    kind: Kind,
    task: WorkerTasks[Kind]['task'],
    options: { readonly transfer?: readonly NodeTransferable[]; readonly signal?: AbortSignal | undefined } = {},
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
        transfer: options.transfer ?? [],
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
      thread.worker.ref();
      thread.worker.postMessage(job.request, [...job.transfer]);
    }
  }

  #idleThread(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined && !thread.retired) return thread;
    return this.#threads.size < this.#options.size ? this.#start() : undefined;
  }

  #start(): Thread {
    const worker = new Worker(new URL('./batch-worker.js', import.meta.url), { workerData: this.#options.workerData });
    const thread: Thread = { worker, job: undefined, served: 0, idleTimer: undefined, retired: false };
    worker.on('message', (response: WorkerResponse) => {
      this.#finish(thread, response);
    });
    worker.on('error', (error) => {
      this.#lose(thread, error);
    });
    worker.on('exit', () => {
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

  #retire(thread: Thread): void {
    thread.retired = true;
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  #lose(thread: Thread, cause: unknown): void {
    this.#threads.delete(thread);
    clearTimeout(thread.idleTimer);
    const { job } = thread;
    thread.job = undefined;
    thread.retired = true;
    job?.reject(
      this.#closed
        ? abortedError()
        : new ServiceError({
            code: 'WORKER_DIED',
            kind: 'unavailable',
            message: `the worker thread ended during a ${job.request.kind} task`,
            cause,
          }),
    );
    this.#dispatch();
  }
}
