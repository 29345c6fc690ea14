import { toEpochMs } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { TableHealth } from '../table/operations.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { JobQueue } from './job-queue.ts';
import { JobRunner, type JobRunnerParts } from './job-runner.ts';
import { planJobs } from './planner.ts';

export interface MaintenanceParts extends JobRunnerParts {
  readonly queue: JobQueue;
}

/**
 * Plans jobs from each table's health, asks the queue for them, and works on what the queue hands out. Holds no state that matters: after
 * a restart, or after the queue's server lost everything, the next sweep finds the same debt again.
 */
export class MaintenanceService {
  readonly #parts: MaintenanceParts;
  readonly #runner: JobRunner;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#runner = new JobRunner(parts);
  }

  /** Runs until `signal` fires; jobs under way are finished first. */
  async run(signal: AbortSignal): Promise<void> {
    this.#parts.queue.work(async (spec, stop) => {
      await this.#runner.run(spec, stop);
      // What the table does not tell itself: a vacuum that found nothing leaves no trace in every format.
      if (spec.kind === 'vacuum') await this.#parts.queue.noteDone(spec, toEpochMs(this.#parts.clock.now()));
    }, this.#parts.settings.concurrency);
    try {
      while (!signal.aborted) {
        await this.sweep(signal);
        await this.#parts.clock.sleep(this.#parts.settings.sweepIntervalMs, signal).catch(() => undefined);
      }
    } finally {
      await this.#parts.queue.close();
    }
  }

  /** One look at every table. Never throws: what fails is tried by the next sweep. */
  async sweep(signal?: AbortSignal): Promise<void> {
    for (const name of this.#parts.catalog.names) {
      if (signal?.aborted === true) return;
      try {
        await this.#sweepTable(name, signal);
      } catch (error) {
        // A table that nobody has written yet has no debt.
        if (!isServiceError(error, 'not-found', 'aborted')) this.#parts.observer.sweepFailed(name, error);
      }
    }
  }

  async #sweepTable(name: string, signal: AbortSignal | undefined): Promise<void> {
    const table = await this.#parts.catalog.load(name, signal);
    const { compaction, expiry } = this.#parts.settings;
    const request = { compaction, expiryRetentionMs: expiry.retentionMs, keepVersionsFrom: () => this.#neededByFeeds(name) };
    const health = await table.health(request, signal);
    const { version, fileCount, smallFileCount, sizeBytes } = health;
    this.#parts.observer.health(name, { version, files: fileCount, smallFiles: smallFileCount, sizeBytes });
    const jobs = planJobs({
      table: name,
      capabilities: table.capabilities,
      health,
      settings: this.#parts.settings,
      lastVacuumMs: await this.#lastVacuumMs(name, health),
      nowMs: this.#parts.clock.now(),
    });
    for (const job of jobs) {
      if ((await this.#parts.queue.enqueue(job)) === 'queued') this.#parts.observer.queued(job);
    }
  }
  /** While nobody can tell where the feeds stand they may need everything; the other operations need not wait for the answer. */
  async #neededByFeeds(table: string): Promise<Version | undefined> {
    try {
      return await this.#parts.watermarks.lowWatermark(table);
    } catch (error) {
      if (!isServiceError(error, 'unavailable')) throw error;
      return toVersion(0);
    }
  }

  /** By the table where it tells, and by the note of whichever process worked on it last. */
  async #lastVacuumMs(table: string, { lastVacuumMs }: TableHealth): Promise<number | undefined> {
    const { enabled, intervalMs } = this.#parts.settings.vacuum;
    const recent = lastVacuumMs !== undefined && this.#parts.clock.now() - lastVacuumMs < intervalMs;
    if (!enabled || recent) return lastVacuumMs;
    const noted = await this.#parts.queue.lastDoneMs({ table, kind: 'vacuum' });
    return noted === undefined || lastVacuumMs === undefined ? (noted ?? lastVacuumMs) : Math.max(noted, lastVacuumMs);
  }
}
