import { type Clock, toEpochMs } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import type { TableHealth } from '../table/operations.ts';
import type { TableCatalog } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { JobQueue } from './job-queue.ts';
import { JobRunner, type JobRunnerParts } from './job-runner.ts';
import type { MaintenanceObserver } from './maintenance-observer.ts';
import { planJobs } from './planner.ts';
import type { MaintenanceSettings } from './settings.ts';

export interface MaintenanceParts extends JobRunnerParts {
  readonly queue: JobQueue;
}

/**
 * Plans jobs from each table's health, asks the queue for them, and works on what the queue hands out. Holds no state that matters: after
 * a restart, or after the queue's server lost everything, the next sweep finds the same debt again.
 */
export class MaintenanceService {
  readonly #queue: JobQueue;
  readonly #catalog: TableCatalog;
  readonly #settings: MaintenanceSettings;
  readonly #clock: Clock;
  readonly #observer: MaintenanceObserver;
  readonly #runner: JobRunner;
  readonly #watermarks: FeedWatermarks;

  constructor(parts: MaintenanceParts) {
    this.#queue = parts.queue;
    this.#catalog = parts.catalog;
    this.#settings = parts.settings;
    this.#clock = parts.clock;
    this.#observer = parts.observer;
    this.#watermarks = parts.watermarks;
    this.#runner = new JobRunner(parts);
  }

  /** Runs until `signal` fires; jobs under way are finished first. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.work(async (spec, stop) => {
      await this.#runner.run(spec, stop);
      // What the table does not tell itself: a vacuum that found nothing leaves no trace in every format.
      if (spec.kind === 'vacuum') await this.#queue.noteDone(spec, toEpochMs(this.#clock.now()));
    }, this.#settings.concurrency);
    try {
      while (!signal.aborted) {
        await this.sweep(signal);
        await this.#clock.sleep(this.#settings.sweepIntervalMs, signal).catch(() => undefined);
      }
    } finally {
      await this.#queue.close();
    }
  }

  /** One look at every table. Never throws: what fails is tried by the next sweep. */
  async sweep(signal?: AbortSignal): Promise<void> {
    for (const name of this.#catalog.names) {
      if (signal?.aborted === true) return;
      try {
        await this.#sweepTable(name, signal);
      } catch (error) {
        // A table that nobody has written yet has no debt.
        if (!isServiceError(error, 'not-found', 'aborted')) this.#observer.sweepFailed(name, error);
      }
    }
  }

  async #sweepTable(name: string, signal: AbortSignal | undefined): Promise<void> {
    const table = await this.#catalog.load(name, signal);
    const { compaction, expiry } = this.#settings;
    const request = { compaction, expiryRetentionMs: expiry.retentionMs, keepVersionsFrom: () => this.#neededByFeeds(name) };
    const health = await table.health(request, signal);
    const { version, fileCount, smallFileCount, sizeBytes } = health;
    this.#observer.health(name, { version, files: fileCount, smallFiles: smallFileCount, sizeBytes });
    const jobs = planJobs({
      table: name,
      capabilities: table.capabilities,
      health,
      settings: this.#settings,
      lastVacuumMs: await this.#lastVacuumMs(name, health),
      nowMs: this.#clock.now(),
    });
    for (const job of jobs) {
      if ((await this.#queue.enqueue(job)) === 'queued') this.#observer.queued(job);
    }
  }
  /** While nobody can tell where the feeds stand they may need everything; the other operations need not wait for the answer. */
  async #neededByFeeds(table: string): Promise<Version | undefined> {
    try {
      return await this.#watermarks.lowWatermark(table);
    } catch (error) {
      if (!isServiceError(error, 'unavailable')) throw error;
      return toVersion(0);
    }
  }

  /** By the table where it tells, and by the note of whichever process worked on it last. */
  async #lastVacuumMs(table: string, { lastVacuumMs }: TableHealth): Promise<number | undefined> {
    const { enabled, intervalMs } = this.#settings.vacuum;
    const recent = lastVacuumMs !== undefined && this.#clock.now() - lastVacuumMs < intervalMs;
    if (!enabled || recent) return lastVacuumMs;
    const noted = await this.#queue.lastDoneMs({ table, kind: 'vacuum' });
    return noted === undefined || lastVacuumMs === undefined ? (noted ?? lastVacuumMs) : Math.max(noted, lastVacuumMs);
  }
}
