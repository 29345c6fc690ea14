import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Engine, HeldRelation } from '../../engine/engine.ts';
import type { StreamSource } from '../../table/stream.ts';
import type { BatchEvaluation, StateRows } from './batch-evaluation.ts';
import type { LoggedBatch, StreamCheckpoint } from './stream-checkpoint.ts';
import { streamFailed } from './stream-failed.ts';
import { type PhaseDurations, progressOf, type StreamingQueryProgress } from './stream-progress.ts';
import type { StreamSink } from './stream-sink.ts';

/** When batches are made. */
export type Trigger =
  /** As soon as there is something, or every `intervalMs` at most. */
  | { readonly kind: 'processing-time'; readonly intervalMs: number }
  /** Everything there is, in as many batches as the source's limits ask for; then the query ends. */
  | { readonly kind: 'available-now' };

export interface StreamingQueryParts {
  readonly name: string | undefined;
  readonly runId: string;
  readonly queryId: string;
  readonly source: StreamSource;
  /** The source's rows of one batch; disposed after the sink took it. */
  readonly read: (range: { readonly after: string | undefined; readonly until: string }, signal: AbortSignal) => Promise<HeldRelation>;
  readonly evaluation: Pick<BatchEvaluation, 'run'>;
  readonly sink: StreamSink;
  readonly checkpoint: StreamCheckpoint;
  readonly trigger: Trigger;
  readonly engine: Engine;
  readonly clock: Clock;
}

export interface StreamingQueryStatus {
  readonly message: string;
  readonly isDataAvailable: boolean;
  readonly isTriggerActive: boolean;
}

const idlePollMs = 100;
const keptProgress = 100;

/** A running streaming query. Its batches are exactly those of its checkpoint, whatever happens between them. */
export class StreamingQuery {
  readonly id: string;
  readonly runId: string;
  readonly name: string | undefined;
  readonly #parts: StreamingQueryParts;
  readonly #stopping = new AbortController();
  readonly #recent: StreamingQueryProgress[] = [];
  #running: Promise<void> | undefined;
  #active = true;
  #failure: Error | undefined;
  #status: StreamingQueryStatus = { message: 'Initializing sources', isDataAvailable: false, isTriggerActive: false };
  #lastTriggerMs: number | undefined;
  #idle = 0;

  constructor(parts: StreamingQueryParts) {
    this.#parts = parts;
    this.id = parts.queryId;
    this.runId = parts.runId;
    this.name = parts.name;
  }

  get isActive(): boolean {
    return this.#active;
  }

  get status(): StreamingQueryStatus {
    return this.#status;
  }

  get lastProgress(): StreamingQueryProgress | undefined {
    return this.#recent.at(-1);
  }

  /** Oldest first, a hundred at most. */
  get recentProgress(): readonly StreamingQueryProgress[] {
    return [...this.#recent];
  }

  /** What ended the query, if it failed. */
  exception(): Error | undefined {
    return this.#failure;
  }

  /** Begins to work; called once by the writer. */
  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /**
   * Resolves when the query has ended: true, or false when `timeoutMs` passed before.
   * @throws StreamingQueryException when the query failed.
   */
  async awaitTermination(timeoutMs?: number): Promise<boolean> {
    const ended = (this.#running ?? Promise.resolve()).then(() => true);
    const waiting = new AbortController();
    const late = timeoutMs === undefined ? [] : [this.#parts.clock.sleep(timeoutMs, waiting.signal).then(() => false)];
    for (const each of late) each.catch(() => undefined);
    const done = await Promise.race([ended, ...late]);
    waiting.abort();
    if (done && this.#failure !== undefined) throw this.#failure;
    return done;
  }

  /** Resolves when everything that was there at the call has been given to the sink. @throws as `awaitTermination`. */
  async processAllAvailable(): Promise<void> {
    // A trigger that began after this call and found nothing has seen everything; the one under way may not have.
    const target = this.#idle + 2;
    while (this.#active && this.#idle < target) await this.#parts.clock.sleep(idlePollMs / 4);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends after the batch under way, or in the middle of it: it is run again at the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      if (this.#parts.trigger.kind !== 'processing-time') await this.#parts.source.freeze(signal);
      await this.#loop(signal);
    } catch (error) {
      if (!(signal.aborted && isServiceError(error, 'aborted'))) this.#failure = streamFailed(this, error);
    } finally {
      this.#active = false;
      this.#status = { message: 'Stopped', isDataAvailable: false, isTriggerActive: false };
      await this.#parts.sink.close?.();
    }
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { checkpoint, trigger, clock } = this.#parts;
    const last = await checkpoint.last(signal);
    let after: string | undefined;
    let batchId = 0;
    if (last !== undefined) {
      if (last.committed) after = last.batch.until;
      else {
        after = last.batch.batchId === 0 ? undefined : await checkpoint.untilOf(last.batch.batchId - 1, signal);
        await this.#trigger({ after, again: last.batch }, signal);
        after = last.batch.until;
      }
      batchId = last.batch.batchId + 1;
    }
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const until = await this.#trigger({ after, batchId }, signal);
      if (until === undefined) {
        this.#idle += 1;
        if (trigger.kind !== 'processing-time') return;
      } else {
        after = until;
        batchId += 1;
      }
      const restMs = trigger.kind === 'processing-time' ? trigger.intervalMs - (clock.monotonicMs() - startedMs) : 0;
      const waitMs = until === undefined ? Math.max(restMs, idlePollMs) : restMs;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    }
  }

  /** One trigger: where its batch ends, or `undefined` when there was nothing to do. */
  async #trigger(
    task: { readonly after: string | undefined } & ({ readonly batchId: number } | { readonly again: LoggedBatch }),
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { clock, source, checkpoint, sink } = this.#parts;
    const startedAtMs = clock.now();
    const timer = new PhaseTimer(clock);
    this.#status = { message: 'Getting offsets', isDataAvailable: false, isTriggerActive: true };
    const batchId = 'again' in task ? task.again.batchId : task.batchId;
    const until = 'again' in task ? task.again.until : await timer.phase('latestOffset', () => source.nextOffset(task.after, signal));
    let did: BatchFacts = { inputRows: 0, outputRows: undefined, state: undefined };
    if (until !== undefined) {
      if (!('again' in task)) await timer.phase('walCommit', () => checkpoint.begin({ batchId, until }, startedAtMs));
      this.#status = { message: 'Processing new data', isDataAvailable: true, isTriggerActive: true };
      did = await this.#runBatch({ batchId, after: task.after, until }, timer, signal);
      await timer.phase('commitOffsets', () => checkpoint.commit(batchId));
    }
    this.#report({
      ...{ id: this.id, runId: this.runId, name: this.name, startedAtMs, batchId, after: task.after, until, ...did },
      ...{
        sincePreviousMs: this.#sincePrevious(startedAtMs),
        durationMs: timer.finish(),
        source: source.description,
        sink: sink.description,
      },
    });
    this.#status = { message: 'Waiting for next trigger', isDataAvailable: false, isTriggerActive: false };
    return until;
  }

  async #runBatch(
    batch: { readonly batchId: number; readonly after: string | undefined; readonly until: string },
    timer: PhaseTimer,
    signal: AbortSignal,
  ): Promise<BatchFacts> {
    const { engine, read, evaluation, sink } = this.#parts;
    const rows = await timer.phase('getBatch', () => read({ after: batch.after, until: batch.until }, signal));
    try {
      const [counted] = await engine.rows(`SELECT count(*) FROM (${rows.sql})`, signal);
      const inputRows = Number(counted?.[0] ?? 0);
      const planned = timer.begin('queryPlanning');
      const { batchId } = batch;
      return await evaluation.run(
        { batchId, rows },
        async (result, state) => {
          planned();
          const outputRows = await timer.phase('addBatch', () => sink.add({ queryId: this.id, batchId, rows: result }, signal));
          return { inputRows, outputRows, state };
        },
        signal,
      );
    } finally {
      await rows.dispose();
    }
  }

  #report(facts: Parameters<typeof progressOf>[0]): void {
    const previous = this.#recent.at(-1);
    // The trigger by which a query finds that it has seen everything is not worth a document.
    if (facts.until === undefined && previous !== undefined && this.#parts.trigger.kind === 'available-now') return;
    // One document for each idle stretch is enough.
    if (facts.until === undefined && previous?.sources[0]?.endOffset === null) this.#recent.pop();
    this.#recent.push(progressOf(facts));
    if (this.#recent.length > keptProgress) this.#recent.shift();
  }

  #sincePrevious(startedAtMs: number): number | undefined {
    const since = this.#lastTriggerMs === undefined ? undefined : startedAtMs - this.#lastTriggerMs;
    this.#lastTriggerMs = startedAtMs;
    return since;
  }
}

/** What a batch did. */
interface BatchFacts {
  readonly inputRows: number;
  readonly outputRows: number | undefined;
  readonly state: StateRows | undefined;
}

/** Measures the phases of one trigger. */
class PhaseTimer {
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #durations = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** Begins a phase; the answer ends it. */
  begin(name: keyof PhaseDurations): () => void {
    const startedMs = this.#clock.monotonicMs();
    return () => {
      this.#durations.set(name, Math.round(this.#clock.monotonicMs() - startedMs));
    };
  }

  async phase<Result>(name: keyof PhaseDurations, work: () => Promise<Result>): Promise<Result> {
    const end = this.begin(name);
    try {
      return await work();
    } finally {
      end();
    }
  }

  finish(): PhaseDurations {
    return { ...Object.fromEntries(this.#durations), triggerExecution: Math.round(this.#clock.monotonicMs() - this.#startedMs) };
  }
}
