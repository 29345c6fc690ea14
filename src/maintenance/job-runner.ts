import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import type { Table, TableCatalog } from '../table/table.ts';
import type { JobSpec } from './job-spec.ts';
import type { JobResult, MaintenanceObserver } from './maintenance-observer.ts';
import type { MaintenanceSettings } from './settings.ts';

export interface JobRunnerParts {
  readonly catalog: TableCatalog;
  readonly watermarks: FeedWatermarks;
  readonly settings: MaintenanceSettings;
  readonly clock: Clock;
  readonly observer: MaintenanceObserver;
}

interface JobOutcome {
  readonly result: JobResult;
  readonly details: Readonly<Record<string, number>>;
}

const msPerHour = 3_600_000;

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

  /** Rejects with what the table threw, after telling the observer. */
  run(spec: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const before = this.#tails.get(spec.table) ?? Promise.resolve();
    const turn = before.then(() => this.#runNow(spec, signal));
    this.#tails.set(
      spec.table,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async #runNow(spec: JobSpec, signal: AbortSignal): Promise<JobResult> {
    const { clock, observer, catalog, settings } = this.#parts;
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
      const { result, details } = await this.#operate(spec, table, AbortSignal.any([signal, deadline.signal]));
      observer.finished(spec, { result, details, durationMs: clock.monotonicMs() - startedMs });
      return result;
    } catch (error) {
      observer.failed(spec, error, clock.monotonicMs() - startedMs);
      throw error;
    } finally {
      deadline.abort();
      await watchdog;
    }
  }

  #operate(spec: JobSpec, table: Table, signal: AbortSignal): Promise<JobOutcome> {
    switch (spec.kind) {
      case 'compact':
        return this.#compact(table, signal);
      case 'vacuum':
        return this.#vacuum(table, signal);
      case 'checkpoint':
        return this.#checkpoint(table, signal);
      default:
        return assertNever(spec.kind);
    }
  }

  async #compact(table: Table, signal: AbortSignal): Promise<JobOutcome> {
    const { targetFileBytes, minInputFiles, maxGroups } = this.#parts.settings.compaction;
    const plan = await table.planCompaction({ targetFileBytes, minInputFiles, maxGroups }, signal);
    if (plan.groups.length === 0) return { result: 'nothing-to-do', details: {} };
    const { outcome, filesAdded, filesRemoved, bytesAdded, bytesRemoved } = await table.compact(plan, signal);
    return { result: outcome === 'committed' ? 'done' : outcome, details: { filesAdded, filesRemoved, bytesAdded, bytesRemoved } };
  }

  async #vacuum(table: Table, signal: AbortSignal): Promise<JobOutcome> {
    const { retentionMs } = this.#parts.settings.vacuum;
    // The slowest feed is asked right before: what it still needs stays, whatever its age.
    const keepChangesFrom = await this.#parts.watermarks.lowWatermark(table.name);
    const retentionHours = retentionMs === undefined ? undefined : retentionMs / msPerHour;
    const { fileCount, sizeBytes, heldByFeeds } = await table.vacuum({ dryRun: false, retentionHours, keepChangesFrom }, signal);
    return {
      result: fileCount === 0 ? 'nothing-to-do' : 'done',
      details: { filesRemoved: fileCount, bytesRemoved: sizeBytes, heldByFeeds },
    };
  }

  async #checkpoint(table: Table, signal: AbortSignal): Promise<JobOutcome> {
    const keepVersionsFrom = await this.#parts.watermarks.lowWatermark(table.name);
    const { version, written } = await table.checkpoint({ dryRun: false, keepVersionsFrom }, signal);
    return { result: written ? 'done' : 'nothing-to-do', details: { version } };
  }
}
