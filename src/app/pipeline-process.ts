import { setMaxListeners } from 'node:events';
import type { HoldStatus, QueueStatus } from '../admin/status.ts';
import { untilAborted } from '../base/abort.ts';
import { describeError } from '../base/errors.ts';
import type { HealthReporter } from '../observability/health.ts';
import type { Role } from './app-commands.ts';
import { BrokerWatch } from './broker-watch.ts';
import type { Components } from './components.ts';
import { FeedRole } from './feed-role.ts';
import { IngestRole } from './ingest-role.ts';
import type { MaintenanceRole } from './maintenance-role.ts';
import { TwinRole } from './twin-role.ts';

const leftCheckMs = 100;
/** So long commits under way have when the broker is silent: they need it only for dead letters, for which they would wait much longer. */
const lastCommitsMs = 10_000;

/** The roles of one process: started together, drained in the order the data flows. */
export class PipelineProcess {
  readonly ingest: IngestRole | undefined;
  readonly feeds: FeedRole | undefined;
  readonly twins: TwinRole | undefined;
  #maintenance: MaintenanceRole | undefined;
  readonly #redisUrl: string | undefined;
  readonly #role: Role;
  readonly #components: Components;
  readonly #broker: BrokerWatch | undefined;
  readonly #stopIngest = new AbortController();
  readonly #stopFeeds = new AbortController();
  readonly #stopTwins = new AbortController();
  readonly #stopMaintenance = new AbortController();
  readonly #running: { ingest: Promise<void>; feeds: Promise<void>; twins: Promise<void>; maintenance: Promise<void> } = {
    ingest: Promise.resolve(),
    feeds: Promise.resolve(),
    twins: Promise.resolve(),
    maintenance: Promise.resolve(),
  };

  constructor(components: Components, options: { readonly role: Role; readonly redisUrl: string | undefined }) {
    const { ingest, feeds, tables, maintenance, server } = components.config;
    const { clock, health, kafka } = components;
    // Every table, feed and twin listens, and more are no sign of a leak.
    setMaxListeners(0, this.#stopIngest.signal, this.#stopFeeds.signal, this.#stopTwins.signal);
    const runs = (role: Role): boolean => options.role === 'all' || options.role === role;
    this.#role = options.role;
    this.#components = components;
    if (runs('ingest') && ingest.routes.length > 0) this.ingest = new IngestRole(components);
    if (runs('ingest') && tables.some(({ twinOf }) => twinOf !== undefined)) this.twins = new TwinRole(components);
    if (runs('cdf') && feeds.length > 0) this.feeds = new FeedRole(components);
    if (runs('maintenance') && maintenance.enabled) this.#redisUrl = options.redisUrl;
    if (this.ingest !== undefined || this.feeds !== undefined) {
      this.#broker = new BrokerWatch({ admin: kafka.admin, clock, health, notReadyAfterMs: server.notReadyAfterMs });
    }
  }

  get queues(): readonly QueueStatus[] {
    return this.#maintenance?.queues ?? [];
  }

  get holds(): readonly HoldStatus[] | undefined {
    return this.#maintenance?.holds;
  }

  start(): void {
    if (this.ingest !== undefined) this.#running.ingest = this.ingest.run(this.#stopIngest.signal);
    if (this.feeds !== undefined) this.#running.feeds = this.feeds.run(this.#stopFeeds.signal);
    if (this.twins !== undefined) this.#running.twins = this.twins.run(this.#stopTwins.signal);
    if (this.#redisUrl !== undefined) this.#running.maintenance = this.#maintain(this.#redisUrl);
    // Each is awaited at the drain; until then a rejection must not take the process down.
    for (const running of Object.values(this.#running)) running.catch(() => undefined);
    void this.#broker?.run(this.#stopFeeds.signal);
    this.#tellIdleness();
    this.#components.health.begin();
  }

  /** A process whose role has nothing to do is ready: it does all it is asked to. */
  #tellIdleness(): void {
    if (this.ingest !== undefined || this.feeds !== undefined || this.twins !== undefined || this.#redisUrl !== undefined) return;
    const { health, logger } = this.#components;
    const detail = { all: 'routes, feeds and maintenance', ingest: 'routes', cdf: 'feeds', maintenance: 'maintenance' }[this.#role];
    health.component(`role:${this.#role}`).report('running', `has nothing to do: the configuration has no ${detail}`);
    logger.warn('role has nothing to do', { role: this.#role });
  }

  /** The queue's library takes a third of the whole start: it is loaded here, while the other roles are at work, and only if needed. */
  async #maintain(redisUrl: string): Promise<void> {
    // Where it is all there is to do, a process without Redis is not ready; beside other roles a missing Redis hurts no table.
    const reporter = this.#components.health.component('maintenance', { requiredForReadiness: this.#role === 'maintenance' });
    reporter.report('starting', 'not connected to redis yet');
    try {
      await this.#maintainFor(redisUrl, reporter);
    } catch (error) {
      reporter.report('failed', describeError(error));
      this.#components.logger.error('maintenance ended', { err: error });
    }
  }

  async #maintainFor(redisUrl: string, reporter: HealthReporter): Promise<void> {
    const { MaintenanceRole } = await import('./maintenance-role.ts');
    if (this.#stopMaintenance.signal.aborted) return;
    this.#maintenance = new MaintenanceRole(this.#components, redisUrl, reporter);
    await this.#maintenance.run(this.#stopMaintenance.signal);
  }

  /**
   * Stops taking, commits what was taken, publishes what was committed, ends the jobs under way: for as long as `server.drainTimeout`, and no
   * longer than the broker answers, for without it nothing more can be published. What is left is read again by the next start.
   */
  async drain(): Promise<void> {
    const { clock, config, logger, health } = this.#components;
    const over = new AbortController();
    const timedOut = this.#pause(config.server.drainTimeoutMs, over.signal).then(() => 'server.drainTimeout is over');
    const silent = this.#untilBrokerIsSilent(over.signal).then(() => 'the broker does not answer');
    const startedMs = clock.monotonicMs();
    health.beginDrain();
    this.#stopMaintenance.abort();
    this.#stopIngest.abort();
    const stuck = silent.then(async (reason) => {
      await this.#untilNothingIsInFlight(over.signal);
      return reason;
    });
    const ingest = await Promise.race([reasonOf(this.#running.ingest), timedOut, stuck]);
    logger.info('ingest drained', { complete: ingest === undefined });
    const twins = await Promise.race([reasonOf(this.#drainTwins(over.signal)), timedOut]);
    if (this.twins !== undefined) logger.info('twins drained', { complete: twins === undefined });
    const feeds = this.feeds === undefined ? undefined : await Promise.race([reasonOf(this.feeds.drain()), timedOut, silent]);
    this.#stopFeeds.abort();
    const published = feeds ?? (await Promise.race([reasonOf(this.#running.feeds), timedOut, silent]));
    if (this.feeds !== undefined) logger.info('feeds drained', { complete: published === undefined });
    const maintenance = await Promise.race([this.#running.maintenance, timedOut]);
    this.#stopTwins.abort();
    over.abort();
    const reason = ingest ?? twins ?? published ?? maintenance;
    if (reason === undefined) return;
    logger.warn('drain ended early, nothing is lost: the next start goes on where tables and positions stand', {
      reason,
      afterMs: Math.round(clock.monotonicMs() - startedMs),
      left: this.#left(maintenance !== undefined),
    });
  }

  /** They show what was committed last, and end. */
  async #drainTwins(signal: AbortSignal): Promise<void> {
    await this.twins?.drain(signal);
    this.#stopTwins.abort();
    await this.#running.twins;
  }

  async #untilBrokerIsSilent(signal: AbortSignal): Promise<void> {
    if (this.#broker === undefined) await untilAborted(signal);
    else await this.#broker.untilSilent(signal);
  }

  async #untilNothingIsInFlight(signal: AbortSignal): Promise<void> {
    const { clock } = this.#components;
    const deadlineMs = clock.monotonicMs() + lastCommitsMs;
    const isOver = (): boolean => signal.aborted || clock.monotonicMs() >= deadlineMs;
    while (!isOver() && [...(this.ingest?.statuses.values() ?? [])].some(({ batchesInFlight }) => batchesInFlight > 0)) {
      await this.#pause(leftCheckMs, signal);
    }
  }

  #left(jobs: boolean): readonly string[] {
    const batches = [...(this.ingest?.statuses ?? [])].flatMap(([table, { batchesInFlight }]) =>
      batchesInFlight === 0 ? [] : [`${batchesInFlight} batches read for table ${table}`],
    );
    const versions = (this.feeds?.statuses ?? []).flatMap(({ table, topic, lagVersions }) =>
      lagVersions === 0 ? [] : [`${lagVersions ?? 'unknown'} versions of table ${table} for topic ${topic}`],
    );
    return [...batches, ...versions, ...(jobs ? ['a maintenance job'] : [])];
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#components.clock.sleep(ms, signal).catch(() => undefined);
  }
}

/** `undefined`: it came to its end. */
function reasonOf(work: Promise<void>): Promise<string | undefined> {
  return work.then(() => undefined, describeError);
}
