import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import type { TableCatalog } from '../table/table.ts';
import type { JobSpec } from './job-spec.ts';
import type { JobResult, MaintenanceObserver } from './maintenance-observer.ts';
import { runOperation } from './run-operation.ts';
import type { MaintenanceSettings } from './settings.ts';

export interface JobRunnerParts {
  readonly catalog: TableCatalog;
  readonly watermarks: FeedWatermarks;
  readonly settings: MaintenanceSettings;
  readonly clock: Clock;
  readonly observer: MaintenanceObserver;
}

/**
 * Executes jobs. Safe to repeat: a job that runs twice finds nothing to do the second time, and two that run at once meet at the table's
 * conditional commit. A lost conflict drops the job; the next sweep plans it anew from what the table is then.
 */
export class JobRunner {
  readonly #parts: JobRunnerParts;
  /** The last job of each table: jobs of one table run one after another in this process. */
  readonly #tails = new Map<string, Promise<unknown>>();

  constructor(parts: JobRunnerParts) {
    this.#parts = parts;
  }

  /** Rejects with what the table threw, or `JOB_TABLE_UNKNOWN` (invalid), after telling the observer. */
  run(spec: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const { catalog, observer } = this.#parts;
    if (!catalog.names.includes(spec.table)) {
      const error = unknownTable(spec.table);
      observer.refused(spec, error);
      return Promise.reject(error);
    }
    const before = this.#tails.get(spec.table) ?? Promise.resolve();
    const turn = before.then(() => this.#runNow(spec, signal));
    this.#tails.set(
      spec.table,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async #runNow(spec: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const { clock, observer, catalog, settings, watermarks } = this.#parts;
    const startedMs = clock.monotonicMs();
    observer.started(spec);
    const deadline = new AbortController();
    const watchdog = clock.sleep(settings.jobTimeoutMs, deadline.signal).then(
      () => {
        deadline.abort();
      },
      () => undefined,
    );
    try {
      const table = await catalog.load(spec.table, signal);
      const { compaction, vacuum, expiry } = settings;
      const { outcome, details } = await runOperation(
        spec.kind,
        table,
        watermarks,
        { dryRun: false, compaction, retentionMs: spec.kind === 'expire' ? expiry.retentionMs : vacuum.retentionMs },
        AbortSignal.any([signal, deadline.signal]),
      );
      // Nothing is only planned when it is no dry run.
      const result: JobResult = outcome === 'planned' ? 'nothing-to-do' : outcome;
      observer.finished(spec, { result, details, durationMs: clock.monotonicMs() - startedMs });
      return result;
    } catch (error) {
      const durationMs = clock.monotonicMs() - startedMs;
      if (signal.aborted && isServiceError(error, 'aborted')) observer.stopped(spec, durationMs);
      else observer.failed(spec, error, durationMs);
      throw error;
    } finally {
      deadline.abort();
      await watchdog;
    }
  }
}

const maxShownName = 200;

/** Whoever reaches the queue may put any name there. */
function unknownTable(name: string): ServiceError {
  return serviceError.invalid(
    'JOB_TABLE_UNKNOWN',
    `a maintenance job names the table "${name.slice(0, maxShownName)}", which is none of this pipeline`,
    { hint: 'give all processes of this pipeline the same tables; this one runs nothing for the name, however often the job is tried' },
  );
}
