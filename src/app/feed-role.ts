import { describeError, isServiceError } from '../base/errors.ts';
import { Feed } from '../cdf/feed.ts';
import type { FeedObserver } from '../cdf/feed-observer.ts';
import type { FeedStatus } from '../cdf/feed-parts.ts';
import type { FeedSpec } from '../cdf/feed-spec.ts';
import type { FeedState } from '../cdf/feed-state.ts';
import type { HealthReporter } from '../observability/health.ts';
import { Standstill } from '../observability/standstill.ts';
import { toVersion } from '../table/version.ts';
import type { Components } from './components.ts';
import { observeFeed } from './observe/observe-feed.ts';
import { restartBackoff, supervise } from './supervise.ts';
import { pooledEncoder } from './workers/pooled.ts';
import type { WorkerSetup } from './workers/worker-messages.ts';
import { WorkerPool } from './workers/worker-pool.ts';

const maxTasksPerThread = 5_000;
/** The encoder caches the file it reads, so one thread serves all feeds of the process in turn. */
const threads = 1;
const idleMs = 120_000;

/** States in which a feed publishes nothing until somebody acts. */
const standstills: readonly FeedState[] = ['gap', 'lost', 'replaced', 'failed', 'fenced'];

/** The change feeds of this process, each under its own supervision. */
export class FeedRole {
  readonly #components: Components;
  readonly #pool: WorkerPool;
  readonly #feeds = new Map<string, Feed>();

  constructor(components: Components) {
    this.#components = components;
    const workerData: WorkerSetup = { maxNestingDepth: components.config.ingest.maxNestingDepth };
    this.#pool = new WorkerPool({ size: threads, workerData, idleMs, maxTasksPerThread });
  }

  get statuses(): readonly FeedStatus[] {
    return [...this.#feeds.values()].map((feed) => feed.status());
  }

  /** Runs until `signal` fires; a transaction that has begun is finished first. */
  async run(signal: AbortSignal): Promise<void> {
    const { feeds, pipeline } = this.#components.config;
    try {
      await Promise.all(feeds.map((feed) => this.#superviseFeed({ ...feed, pipeline }, signal)));
    } finally {
      await this.#pool.close();
    }
  }

  /** Resolves when every feed has published the newest version of its table as of the call, or has ended. */
  async drain(): Promise<void> {
    await Promise.all(
      [...this.#feeds.values()].map(async (feed) => {
        const table = await this.#components.catalog.load(feed.spec.table);
        const { version } = await table.refresh();
        await feed.drain(toVersion(version)).catch((error: unknown) => {
          this.#components.logger.warn('feed not drained', { table: feed.spec.table, error });
        });
      }),
    );
  }

  #superviseFeed(spec: FeedSpec, signal: AbortSignal): Promise<void> {
    const { config, clock, random, logger, health } = this.#components;
    const standstill = new Standstill({ clock, boundMs: config.server.notReadyAfterMs });
    const reporter = health.component(`feed:${spec.table}`, { impairment: () => standstill.detail });
    return supervise({
      signal,
      clock,
      random,
      backoff: restartBackoff,
      run: (runSignal) => this.#runFeed(spec, this.#observer(spec, reporter, standstill), runSignal),
      onRestart: (error, waitMs) => {
        reporter.report('starting', describeError(error));
        logger.warn('feed stopped and starts again', { table: spec.table, topic: spec.topic, waitMs, err: error });
      },
      onGivenUp: (error) => {
        reporter.report('failed', describeError(error));
        logger.error('feed stands still until somebody acts', { table: spec.table, topic: spec.topic, err: error });
      },
    });
  }

  async #runFeed(spec: FeedSpec, observer: FeedObserver, signal: AbortSignal): Promise<void> {
    const { catalog, kafka, events, clock, random, ids, failpoint } = this.#components;
    const table = await catalog.loadOrCreate(spec.table, signal);
    const feed = new Feed({
      spec,
      table,
      client: kafka,
      encoder: pooledEncoder(this.#pool),
      events,
      observer,
      clock,
      random,
      ids,
      failpoint,
    });
    this.#feeds.set(`${spec.table}/${spec.topic}`, feed);
    const status = await feed.run(signal);
    if (status.state === 'stopped' || (signal.aborted && isServiceError(status.error, 'aborted'))) return;
    throw status.error;
  }

  #observer(spec: FeedSpec, reporter: HealthReporter, standstill: Standstill): FeedObserver {
    const { metrics, logger } = this.#components;
    const observer = observeFeed(spec, metrics.feed, logger);
    return {
      ...observer,
      published: (run) => {
        standstill.succeeded();
        observer.published(run);
      },
      retried: (error) => {
        standstill.failed(describeError(error));
        observer.retried(error);
      },
      state: (state) => {
        observer.state(state);
        const failed = standstills.includes(state);
        if (failed) reporter.report('failed', `feed is in state ${state}`);
        else reporter.report(state === 'opening' ? 'starting' : 'running');
      },
    };
  }
}
