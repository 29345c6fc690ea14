import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { TableCatalog } from '../table/table.ts';
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
  readonly #lastVacuumMs = new Map<string, number>();

  constructor(parts: MaintenanceParts) {
    this.#queue = parts.queue;
    this.#catalog = parts.catalog;
    this.#settings = parts.settings;
    this.#clock = parts.clock;
    this.#observer = parts.observer;
    this.#runner = new JobRunner(parts);
  }

  /** Runs until `signal` fires; jobs under way are finished first. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.work(async (spec, stop) => {
      const result = await this.#runner.run(spec, stop);
      if (spec.kind === 'vacuum' && result !== 'failed') this.#lastVacuumMs.set(spec.table, this.#clock.now());
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
    const health = await table.health(signal);
    const { version, fileCount, smallFileCount, sizeBytes } = health;
    this.#observer.health(name, { version, files: fileCount, smallFiles: smallFileCount, sizeBytes });
    const jobs = planJobs({
      table: name,
      capabilities: table.capabilities,
      health,
      settings: this.#settings,
      lastVacuumMs: this.#lastVacuumMs.get(name),
      nowMs: this.#clock.now(),
    });
    for (const job of jobs) {
      if ((await this.#queue.enqueue(job)) === 'queued') this.#observer.queued(job);
    }
  }
}
