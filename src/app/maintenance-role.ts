import type { HoldStatus, QueueStatus } from '../admin/status.ts';
import { describeError } from '../base/errors.ts';
import { BullJobQueue } from '../maintenance/bull-queue.ts';
import type { JobQueue, QueueCounts } from '../maintenance/job-queue.ts';
import { maintenanceKinds } from '../maintenance/maintenance-kinds.ts';
import { MaintenanceService } from '../maintenance/maintenance-service.ts';
import type { HealthReporter } from '../observability/health.ts';
import type { Components } from './components.ts';
import { HoldWatch } from './hold-watch.ts';
import { observeMaintenance } from './observe/observe-maintenance.ts';

const countIntervalMs = 5_000;
const findIntervalMs = 30_000;

/** Maintenance of all tables of the configuration. */
export class MaintenanceRole {
  readonly #components: Components;
  readonly #queue: JobQueue;
  readonly #reporter: HealthReporter;
  readonly #holds: HoldWatch;
  #counts: ReadonlyMap<string, QueueCounts> = new Map();

  constructor(components: Components, redisUrl: string, reporter: HealthReporter) {
    const { config, logger, metrics } = components;
    const { queuePrefix, maxAttempts } = config.maintenance;
    this.#components = components;
    this.#reporter = reporter;
    this.#holds = new HoldWatch(components);
    this.#queue = new BullJobQueue({
      url: redisUrl,
      prefix: queuePrefix,
      maxAttempts,
      onConnection: (connected, detail) => {
        metrics.maintenance.queueUp.set(connected ? 1 : 0, {});
        this.#reporter.report(connected ? 'running' : 'starting', detail);
        if (connected) logger.info('job queue connected');
        else logger.warn('job queue away, maintenance waits', { detail });
      },
      onRefused: (kind, error) => {
        observeMaintenance(metrics, logger).refused({ kind }, error);
      },
    });
  }

  get queues(): readonly QueueStatus[] {
    const { connected } = this.#queue;
    return maintenanceKinds.map((kind) => ({ name: kind, connected, jobs: this.#counts.get(kind) ?? {} }));
  }

  /** Who holds retention back, as of the newest look. */
  get holds(): readonly HoldStatus[] {
    return this.#holds.statuses;
  }

  /** Runs until `signal` fires and the jobs under way are done. */
  async run(signal: AbortSignal): Promise<void> {
    const { config, catalog, clock, logger, metrics } = this.#components;
    const service = new MaintenanceService({
      queue: this.#queue,
      catalog,
      watermarks: this.#holds.watermarks,
      settings: config.maintenance,
      clock,
      observer: observeMaintenance(metrics, logger),
    });
    await Promise.all([service.run(signal), this.#countJobs(signal), this.#findTables(signal), this.#holds.run(signal)]);
    this.#reporter.report('stopped');
  }

  /** Tables that are made while it runs are maintained, too, whichever process made them. */
  async #findTables(signal: AbortSignal): Promise<void> {
    const { clock, tables, logger } = this.#components;
    while (!signal.aborted) {
      await tables.refresh((like, error) => {
        logger.debug('made tables not looked for', { like, detail: describeError(error) });
      }, signal);
      await clock.sleep(findIntervalMs, signal).catch(() => undefined);
    }
  }

  async #countJobs(signal: AbortSignal): Promise<void> {
    const { clock, metrics, logger } = this.#components;
    while (!signal.aborted) {
      try {
        const counts = await Promise.all(maintenanceKinds.map(async (kind) => [kind, await this.#queue.counts(kind)] as const));
        this.#counts = new Map(counts);
        for (const [queue, states] of counts) {
          for (const [state, jobs] of Object.entries(states)) metrics.maintenance.queueJobs.set(jobs, { queue, state });
        }
      } catch (error) {
        // Redis is away: the connection state tells it, the last counts stay.
        logger.debug('jobs not counted', { detail: describeError(error) });
      }
      await clock.sleep(countIntervalMs, signal).catch(() => undefined);
    }
  }
}
