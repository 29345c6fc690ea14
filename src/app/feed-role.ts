import { hostname } from 'node:os';
import { describeError, isServiceError } from '../base/errors.ts';
import { RegisteringEncoder } from '../cdf/encoding/registering-encoder.ts';
import { Feed } from '../cdf/feed.ts';
import type { FeedObserver } from '../cdf/feed-observer.ts';
import type { FeedParts, FeedStatus } from '../cdf/feed-parts.ts';
import { type FeedSpec, feedIdOf, feedSpecsOf } from '../cdf/feed-spec.ts';
import { standstills } from '../cdf/feed-state.ts';
import { OperatorActs } from '../cdf/operator-acts.ts';
import { PositionStore } from '../cdf/position-store.ts';
import type { HealthReporter } from '../observability/health.ts';
import { Standstill } from '../observability/standstill.ts';
import { RegistrySubjects } from '../registry/registry-subjects.ts';
import { toVersion } from '../table/version.ts';
import { AskedSubjects } from './asked-subjects.ts';
import type { Components } from './components.ts';
import { FeedOwnership } from './feed-ownership.ts';
import { observeFeed } from './observe/observe-feed.ts';
import { keepReadersNoted } from './reader-notes.ts';
import { untilRegistryIsSilent } from './registry-patience.ts';
import { supervisePart } from './supervise.ts';
import { pooledEncoder } from './workers/pooled.ts';
import { WorkerPool } from './workers/worker-pool.ts';

const maxTasksPerThread = 5_000;
/** The encoder caches the file it reads, so one thread serves all feeds of the process in turn. */
const threads = 1;
const idleMs = 120_000;

/** How soon the process notices that an operator did something to a feed. */
const actsPollMs = 1_000;

/** Longer than the group takes to tell a member that it was not heard. */
const takenOverPauseMs = 2_000;

/** How one feed's work shows in the process's health. */
interface Telling {
  readonly reporter: HealthReporter;
  readonly standstill: Standstill;
}

export interface FeedStandby {
  readonly name: string;
  readonly table: string;
  readonly topic: string;
  readonly activeIn: string | undefined;
}

/** The group of a pipeline’s feeds. No table’s ingest group can have the name: table names hold no hash. */
function feedGroupOf(pipeline: string): string {
  return `tidewater-${pipeline}#feeds`;
}

/** The change feeds of this process, each under its own supervision. */
export class FeedRole {
  readonly #components: Components;
  readonly #pool: WorkerPool;
  readonly #feeds = new Map<string, Feed>();
  /** Of feeds whose records have schemas in a registry. */
  readonly #subjects = new Map<string, AskedSubjects>();
  readonly #specs: readonly FeedSpec[];
  readonly #ownership: FeedOwnership;
  readonly #acts: OperatorActs;

  constructor(components: Components) {
    this.#components = components;
    const { pipeline, feedSessionTimeoutMs, ingest, maintenance } = components.config;
    const workerData = { maxNestingDepth: ingest.maxNestingDepth, temporaryDirectory: maintenance.engine.temporaryDirectory };
    this.#specs = feedSpecsOf(components.config);
    this.#ownership = new FeedOwnership(components.kafka, {
      groupId: feedGroupOf(pipeline),
      member: `${hostname()}/${process.pid}`,
      feedIds: this.#specs.map(feedIdOf),
      sessionTimeoutMs: feedSessionTimeoutMs,
    });
    const { kafka, clock, logger } = components;
    this.#acts = new OperatorActs({
      store: new PositionStore({ client: kafka, clock, topic: components.config.positionsTopic }),
      clock,
      pollIntervalMs: actsPollMs,
      onError: (detail) => {
        logger.debug('acts on feeds not looked for', { detail });
      },
    });
    this.#pool = new WorkerPool({ size: threads, workerData, idleMs, maxTasksPerThread });
  }

  /** Feeds of the pipeline, wherever they are published. */
  get count(): number {
    return this.#specs.length;
  }

  get statuses(): readonly FeedStatus[] {
    return [...this.#feeds.values()].map((feed) => feed.status());
  }

  /** Feeds that another replica publishes, with its name. */
  get standbys(): readonly FeedStandby[] {
    return this.#specs
      .filter((spec) => !this.#feeds.has(feedIdOf(spec)))
      .map((spec) => ({ name: spec.name, table: spec.table, topic: spec.topic, activeIn: this.#ownership.ownerOf(feedIdOf(spec)) }));
  }

  /** Runs until `signal` fires; a transaction that has begun is finished first. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([
        this.#superviseGroup(signal),
        this.#acts.run(signal),
        keepReadersNoted(this.#components, new Set(this.#specs.map(({ table }) => table)), signal),
        ...this.#specs.map((spec) => this.#superviseFeed(spec, signal)),
      ]);
    } finally {
      await this.#ownership.close();
      await this.#pool.close();
    }
  }

  /** Resolves when every feed has published the newest version of its table as of the call, or has ended. */
  async drain(): Promise<void> {
    await Promise.all(
      [...this.#feeds.values()].map(async (feed) => {
        try {
          // A table that is lost keeps no other feed from draining.
          const { version } = await (await this.#components.catalog.load(feed.spec.table)).refresh();
          const registry = { clock: this.#components.clock, subjects: this.#subjects.get(feedIdOf(feed.spec)) };
          await Promise.race([feed.drain(toVersion(version)), untilRegistryIsSilent(feed, registry)]);
        } catch (error) {
          this.#components.logger.warn('feed not drained', { table: feed.spec.table, error });
        }
      }),
    );
  }

  /** Whether the table has other feeds, so that its name alone does not tell which one is meant. */
  #hasSiblings({ table }: FeedSpec): boolean {
    return this.#specs.filter((other) => other.table === table).length > 1;
  }

  #superviseGroup(signal: AbortSignal): Promise<void> {
    const reporter = this.#components.health.component('feed group');
    reporter.report('running');
    return supervisePart(this.#components, {
      run: (runSignal) => this.#ownership.run(runSignal),
      signal,
      reporter,
      labels: {},
      says: { restarts: 'feed group left and joined again', standsStill: 'feed group cannot be joined until somebody acts' },
    });
  }

  /** A feed that stands still here does so until it goes to another replica or an operator acts on it; then it is tried again. */
  async #superviseFeed(spec: FeedSpec, signal: AbortSignal): Promise<void> {
    const { config, clock, health } = this.#components;
    const standstill = new Standstill({ clock, boundMs: config.server.notReadyAfterMs });
    const reporter = health.component(`feed:${spec.table}${this.#hasSiblings(spec) ? `/${spec.name}` : ''}`, {
      impairment: () => standstill.detail,
    });
    while (!signal.aborted) {
      const acted = this.#acts.next(feedIdOf(spec));
      await supervisePart(this.#components, {
        run: (runSignal) => this.#runWhileHeld(spec, { reporter, standstill }, runSignal),
        signal,
        reporter,
        labels: { table: spec.table, topic: spec.topic },
        says: { restarts: 'feed stopped and starts again', standsStill: 'feed stands still until somebody acts' },
      });
      await this.#untilElsewhere(spec, AbortSignal.any([signal, acted]));
    }
  }

  /** Until it is another replica's, or the signal fires. */
  async #untilElsewhere(spec: FeedSpec, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#ownership.held(feedIdOf(spec)) !== undefined) await this.#ownership.changed(signal);
  }

  /** Publishes while the feed is this process's and stands by while it is not. */
  async #runWhileHeld(spec: FeedSpec, telling: Telling, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#components;
    const feedId = feedIdOf(spec);
    while (!signal.aborted) {
      const held = this.#ownership.held(feedId);
      if (held === undefined) {
        telling.standstill.succeeded();
        const owner = this.#ownership.ownerOf(feedId);
        if (this.#ownership.known) telling.reporter.report('running', `standby; active in ${owner ?? 'nobody yet'}`);
        await this.#ownership.changed(signal);
        continue;
      }
      // Before the feed is opened, which finds out what was done until then.
      const acted = this.#acts.next(feedId);
      const runSignal = AbortSignal.any([signal, held, acted]);
      try {
        await this.#runFeed(spec, this.#observer(spec, telling.reporter, telling.standstill), runSignal);
      } catch (error) {
        if (!held.aborted && !acted.aborted && !isServiceError(error, 'fenced')) throw error;
        // The group decides who publishes: when it says that the feed is still this process's, it takes it back.
        logger.info('feed was taken over', { table: spec.table, topic: spec.topic, err: error });
        await clock.sleep(takenOverPauseMs, runSignal).catch(() => undefined);
      } finally {
        // One that stands still here is shown as it is; one that is somebody else’s is not shown.
        if (held.aborted) this.#feeds.delete(feedId);
      }
    }
  }

  async #runFeed(spec: FeedSpec, observer: FeedObserver, signal: AbortSignal): Promise<void> {
    const { catalog, kafka, events, clock, random, ids, failpoint } = this.#components;
    const table = await catalog.loadOrCreate(spec.table, signal);
    const feed = new Feed({
      spec,
      table,
      client: kafka,
      ...this.#encoding(feedIdOf(spec)),
      events,
      observer,
      clock,
      random,
      ids,
      failpoint,
    });
    this.#feeds.set(feedIdOf(spec), feed);
    const status = await feed.run(signal);
    if (status.state === 'stopped' || (signal.aborted && isServiceError(status.error, 'aborted'))) return;
    throw status.error;
  }

  /** The registry is asked on this thread, and once for all runs of a feed. */
  #encoding(feedId: string): Pick<FeedParts, 'encoder' | 'subjects'> {
    const { schemaRegistry } = this.#components.config;
    const encoder = pooledEncoder(this.#pool);
    if (schemaRegistry === undefined) return { encoder };
    const subjects = new AskedSubjects(new RegistrySubjects(schemaRegistry));
    this.#subjects.set(feedId, subjects);
    return { encoder: new RegisteringEncoder(encoder, subjects), subjects };
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
        else reporter.report(state === 'opening' ? 'starting' : 'running', state === 'paused' ? 'paused by an operator' : undefined);
      },
    };
  }
}
