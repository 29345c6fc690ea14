import type { QueueStatus } from '../admin/status.ts';
import type { Role } from './app-commands.ts';
import type { Components } from './components.ts';
import { FeedRole } from './feed-role.ts';
import { IngestRole } from './ingest-role.ts';
import type { MaintenanceRole } from './maintenance-role.ts';

/** How long the drain waits for the feeds to publish what is committed. */
const feedDrainMs = 60_000;

/** The roles of one process: started together, drained in the order the data flows. */
export class PipelineProcess {
  readonly ingest: IngestRole | undefined;
  readonly feeds: FeedRole | undefined;
  #maintenance: MaintenanceRole | undefined;
  readonly #redisUrl: string | undefined;
  readonly #components: Components;
  readonly #stopIngest = new AbortController();
  readonly #stopFeeds = new AbortController();
  readonly #stopMaintenance = new AbortController();
  readonly #running: { ingest: Promise<void>; feeds: Promise<void>; maintenance: Promise<void> } = {
    ingest: Promise.resolve(),
    feeds: Promise.resolve(),
    maintenance: Promise.resolve(),
  };

  constructor(components: Components, options: { readonly role: Role; readonly redisUrl: string | undefined }) {
    const runs = (role: Role): boolean => options.role === 'all' || options.role === role;
    const { ingest, feeds, maintenance } = components.config;
    this.#components = components;
    if (runs('ingest') && ingest.routes.length > 0) this.ingest = new IngestRole(components);
    if (runs('cdf') && feeds.length > 0) this.feeds = new FeedRole(components);
    if (runs('maintenance') && maintenance.enabled) this.#redisUrl = options.redisUrl;
  }

  get queues(): readonly QueueStatus[] {
    return this.#maintenance?.queues ?? [];
  }

  start(): void {
    if (this.ingest !== undefined) this.#running.ingest = this.ingest.run(this.#stopIngest.signal);
    if (this.feeds !== undefined) this.#running.feeds = this.feeds.run(this.#stopFeeds.signal);
    if (this.#redisUrl !== undefined) this.#running.maintenance = this.#maintain(this.#redisUrl);
    // Each is awaited at the drain; until then a rejection must not take the process down.
    for (const running of Object.values(this.#running)) running.catch(() => undefined);
  }

  /** The queue's library takes a third of the whole start: it is loaded here, while the other roles are at work, and only if needed. */
  async #maintain(redisUrl: string): Promise<void> {
    const { MaintenanceRole } = await import('./maintenance-role.ts');
    if (this.#stopMaintenance.signal.aborted) return;
    this.#maintenance = new MaintenanceRole(this.#components, redisUrl);
    await this.#maintenance.run(this.#stopMaintenance.signal);
  }

  /** Stops taking, commits what was taken, publishes what was committed, ends the jobs under way. */
  async drain(): Promise<void> {
    const { clock, logger, health } = this.#components;
    health.beginDrain();
    this.#stopMaintenance.abort();
    this.#stopIngest.abort();
    await this.#running.ingest;
    logger.info('ingest drained');
    if (this.feeds !== undefined) {
      const gaveUp = new AbortController();
      await Promise.race([this.feeds.drain(), clock.sleep(feedDrainMs, gaveUp.signal).catch(() => undefined)]);
      gaveUp.abort();
      this.#stopFeeds.abort();
      await this.#running.feeds;
      logger.info('feeds drained');
    }
    await this.#running.maintenance;
  }
}
