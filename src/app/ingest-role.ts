import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyedStatus } from '../admin/status.ts';
import { describeFailure, isServiceError } from '../base/errors.ts';
import { CommitQueue } from '../commit/commit-queue.ts';
import { MarkedFiles } from '../commit/keyed/marked-files.ts';
import { TableCommitter } from '../commit/table-committer.ts';
import { TableEvolution } from '../commit/table-evolution.ts';
import type { TableSettings } from '../config/table-settings.ts';
import { DeadLetterIncarnations } from '../ingest/dead-letter-incarnations.ts';
import { DeadLetterTopic } from '../ingest/dead-letter-topic.ts';
import { type LedgerStatus, MemoryLedger } from '../ingest/memory/memory-ledger.ts';
import { otherPipelines } from '../ingest/other-pipelines.ts';
import { consumerGroupOf, isLetterRoute, type RouteSettings } from '../ingest/settings.ts';
import { type IngestStatus, TableIngest, type TableIngestSettings } from '../ingest/table-ingest.ts';
import type { HealthReporter } from '../observability/health.ts';
import { Standstill } from '../observability/standstill.ts';
import type { Table } from '../table/table.ts';
import type { Components } from './components.ts';
import { DividedRoutes } from './divided-routes.ts';
import { DriftWatch } from './drift-watch.ts';
import { ingestComponent } from './ingest-said.ts';
import { keyIndexOf, takeForIngest } from './keyed-ingest.ts';
import { countingKeys, KeyedTotals } from './observe/keyed-totals.ts';
import { observeCommits, observeIngest } from './observe/observe-ingest.ts';
import { tellStandingLag } from './observe/standing-lag.ts';
import { type RouteSources, replayTarget, routeSources } from './route-sources.ts';
import { isRefusal, supervisePart } from './supervise.ts';
import { TableTimes } from './table-times.ts';
import { takeDeclared } from './take-declared.ts';
import { TopicIdentities } from './topic-identities.ts';
import { pooledDivider, pooledStager } from './workers/pooled.ts';
import { WorkerPool } from './workers/worker-pool.ts';

/** Threads are replaced after this many batches: WebAssembly memory never shrinks. */
const maxTasksPerThread = 5_000;

/** A table that takes few of the records of its route says so often how far it is. */
const storePassedAfterMs = 60_000;

/** A record batch takes milliseconds: a thread that is at one for so long does not come back. */
const stuckAfterMs = 60_000;

/** What readiness hears of one table's ingest: the state it is in, and whether its commits come to an end. */
interface TableHealthSay {
  readonly reporter: HealthReporter;
  readonly standstill: Standstill;
}

interface RoutedTable {
  readonly table: TableSettings;
  readonly route: RouteSettings;
}

/** The ingest of every routed table, each under its own supervision. */
export class IngestRole {
  readonly #components: Components;
  readonly #pool: WorkerPool;
  readonly #ledger: MemoryLedger | undefined;
  /** Of dead letters, and of keys and rows of keyed tables, that wait for their commits, of all tables. */
  #stagedBytes = 0;
  readonly #hold: (changeBytes: number) => void;
  readonly #running = new Map<string, TableIngest>();
  readonly #warned = new Set<string>();
  readonly #warnedOfOthers = new Set<string>();
  readonly #awaitedTopics = new Set<string>();
  readonly #drifts = new Map<string, DriftWatch>();
  /** Of tables of mode upsert. */
  readonly #keyed = new Map<string, KeyedTotals>();
  readonly #deadLetterTopics: DeadLetterIncarnations;
  #stop: AbortSignal | undefined;
  readonly #dividedRoutes: DividedRoutes;
  readonly #times: TableTimes;
  /** The ingests that were started, by table; each ends when the role is stopped. */
  readonly #started = new Map<string, Promise<void>>();
  /** What the threads' engines spill; they are ended without a chance to tidy up. */
  readonly #spillDirectory: string;

  /** @param threadEntry what worker threads run. Default: `batch-worker.js`. */
  constructor(components: Components, threadEntry?: URL) {
    this.#components = components;
    this.#deadLetterTopics = new DeadLetterIncarnations((replaced) => {
      components.metrics.ingest.deadLetterTopicsReplaced.add(1, { topic: replaced.topic });
      components.logger.warn('dead-letter topic was deleted and created again, its letters are gone', { ...replaced });
    });
    const { workers, maxNestingDepth, maxUnpackedBytes } = components.config.ingest;
    const plan = components.memory?.plan;
    this.#ledger = plan === undefined ? undefined : this.#openLedger(plan.bufferBytes);
    const staged = this.#ledger?.open('staged', { changed: () => undefined, relieve: () => undefined });
    this.#hold = (changeBytes) => {
      this.#stagedBytes += changeBytes;
      staged?.keep(0, this.#stagedBytes);
    };
    const onStuck = (task: string): void => {
      components.logger.warn('worker thread made no progress and was ended', { task, afterMs: stuckAfterMs });
    };
    this.#spillDirectory = join(tmpdir(), `tidewater-transforms-${components.ids.uuid()}`);
    this.#pool = new WorkerPool({
      size: workers,
      entry: threadEntry,
      maxHeapBytes: plan?.workerHeapBytes,
      workerData: {
        maxNestingDepth,
        maxUnpackedBytes: plan?.unpackedBytes ?? maxUnpackedBytes,
        maxDecodedBytes: plan?.decodedBytes,
        maxFoldedBytes: plan?.foldedBytes,
        transformBytes: plan?.transformBytes,
        temporaryDirectory: this.#spillDirectory,
      },
      idleMs: undefined,
      maxTasksPerThread,
      stuckAfterMs,
      onStuck,
    });
    this.#times = new TableTimes(components);
    this.#dividedRoutes = new DividedRoutes({
      components,
      divider: pooledDivider(this.#pool, components.registry),
      memory: this.#ledger,
      onMade: (table) => {
        this.#start(table);
      },
    });
  }

  #openLedger(sizeBytes: number): MemoryLedger {
    const { metrics, config } = this.#components;
    const { memoryHeldBytes, memorySizeBytes, memoryWaiting } = metrics.ingest;
    const divisions = new Set(config.ingest.routes.flatMap(({ divided }) => divided?.spec ?? []));
    const made = [...divisions].reduce((sum, { template }) => sum + (template?.max ?? 0), 0);
    memorySizeBytes.set(sizeBytes, {});
    return new MemoryLedger({
      sizeBytes,
      // Tables, what reads for several of them, and what is staged of all of them.
      shares: config.ingest.routes.length + made + divisions.size + 1,
      onChange: (heldBytes, waiting) => {
        memoryHeldBytes.set(heldBytes, {});
        memoryWaiting.set(waiting, {});
      },
    });
  }

  /** `undefined`: nothing bounds what the tables hold together. */
  get memory(): LedgerStatus | undefined {
    return this.#ledger?.status;
  }

  /** How long a worker thread has been running on although it was to be ended; 0: none does. */
  get hungMs(): number {
    return this.#pool.hungMs;
  }

  get statuses(): ReadonlyMap<string, IngestStatus> {
    return new Map([...this.#running].map(([table, ingest]) => [table, ingest.status]));
  }

  /** Milliseconds since 1970; `undefined`: it is not known, or the table is not written here. */
  validThroughOf(table: string): number | undefined {
    return this.#times.of(table);
  }

  /** Differences between a table and its configuration, a line each: those of a table that is being written are accepted. */
  driftsOf(table: string): readonly string[] {
    return this.#drifts.get(table)?.differences ?? [];
  }

  /** `undefined`: the table is not keyed, or is not written here. */
  keyedStatusOf(table: string): KeyedStatus | undefined {
    return this.#keyed.get(table)?.status;
  }

  /** Runs until `signal` fires and everything accepted is committed. */
  async run(signal: AbortSignal): Promise<void> {
    const warmed = this.#pool.warm();
    // A thread that cannot load says so again at its first task, where it is handled.
    warmed.catch(() => undefined);
    this.#stop = signal;
    const over = new AbortController();
    const watching = this.#times.run(over.signal);
    try {
      for (const { name } of this.#components.config.tables) this.#start(name);
      await this.#dividedRoutes.findMade(signal);
      await this.#ended();
    } finally {
      over.abort();
      await watching;
      await this.#pool.close();
      await rm(this.#spillDirectory, { recursive: true, force: true });
    }
  }

  #start(name: string): void {
    const { tables } = this.#components;
    const table = tables.all.find((each) => each.name === name);
    const route = tables.routeOf(name);
    const stop = this.#stop;
    if (table === undefined || route === undefined || stop === undefined || this.#started.has(name)) return;
    const running = this.#superviseTable({ table, route }, stop);
    // Looked at in `#ended`.
    running.catch(() => undefined);
    this.#started.set(name, running);
  }

  /** Tables may come until the last has ended. */
  async #ended(): Promise<void> {
    for (let count = -1; count < this.#started.size; ) {
      count = this.#started.size;
      await Promise.all(this.#started.values());
    }
  }

  async #superviseTable(routed: RoutedTable, signal: AbortSignal): Promise<void> {
    const { table } = routed;
    const { config, clock, health } = this.#components;
    const standstill = new Standstill({ clock, boundMs: config.server.notReadyAfterMs });
    const reporter = health.component(ingestComponent(table.name), { impairment: () => standstill.detail });
    reporter.report('starting', 'joins the consumer group of its topics');
    await supervisePart(this.#components, {
      run: (runSignal) => this.#runTable(routed, { reporter, standstill }, runSignal),
      signal,
      reporter,
      labels: { table: table.name },
      says: { restarts: 'ingest stopped and starts again', standsStill: 'ingest stands still until somebody acts' },
      reportRestart: (error) => {
        reporter.report(isRefusal(error) ? 'failed' : 'starting', describeFailure(error));
      },
    });
    await this.#tellStandingLag(table.name, signal);
  }

  /** Of an ingest that was given up; one that has drained has its signal fired. */
  async #tellStandingLag(table: string, signal: AbortSignal): Promise<void> {
    const { kafka, clock, metrics, logger } = this.#components;
    const stored = this.#running.get(table)?.stored ?? [];
    await tellStandingLag({ admin: kafka.admin, clock, observer: observeIngest(table, metrics.ingest, logger), stored }, signal);
  }

  async #runTable({ table: settings, route }: RoutedTable, say: TableHealthSay, signal: AbortSignal): Promise<void> {
    const { reporter, standstill } = say;
    const { config, kafka, clock, random, ids, failpoint, events, logger, metrics, catalog } = this.#components;
    const { commit, pipeline } = config;
    const table = await catalog.loadOrCreate(settings.name, signal);
    // Letters of letters would come back to where they failed.
    const ofLetters = isLetterRoute(route);
    const replayTopic = ofLetters ? undefined : await this.#readableReplayTopic();
    const sources = routeSources(config, route, replayTopic);
    this.#warnOfSecondWriters(table);
    await this.#warnOfOtherPipelines(table, sources, signal);
    const drift = this.#drifts.get(settings.name) ?? new DriftWatch(settings, route, logger);
    this.#drifts.set(settings.name, drift);
    const totals = this.#totalsOf(settings);
    const observer = countingKeys(observeCommits(settings.name, metrics, logger, standstill), totals);
    const evolution = settings.evolve === undefined ? undefined : new TableEvolution(table, settings.evolve, observer);
    if (evolution !== undefined) await takeDeclared(settings, table, evolution, signal);
    const start = await drift.start(table, signal);
    const tombstones = await takeForIngest(this.#components, settings, { table, observer, totals }, signal);
    if (start.decode.transform !== undefined) await this.#pool.run('prepare', start, { signal });
    const deadLetters = this.#deadLetters(settings.name, ofLetters);
    const keyIndex = keyIndexOf(this.#components, settings, totals);
    const sink = new CommitQueue({
      table,
      committer: new TableCommitter({ table, clock, random, observer, settings: commit }),
      stager: pooledStager(this.#pool, this.#components.registry),
      deadLetters,
      decodeSpecFor: (write, tableId) => ({
        ...drift.decodeSpec(write),
        replays: replayTopic === undefined ? undefined : replayTarget(replayTopic, { pipeline, tableId, route }),
        division: route.madeFor === undefined ? route.divided : undefined,
        evolve: evolution?.spec,
      }),
      hold: this.#hold,
      validThrough: this.#times.ofRoute(settings.name, route),
      ...{ evolution, tombstones, keyIndex, pipeline, ids, clock, failpoint, observer, events },
      markedFiles: settings.keyed === undefined ? undefined : new MarkedFiles(table, clock),
    });
    const ingestObserver = observeIngest(settings.name, metrics.ingest, logger);
    const tableIngest = new TableIngest({
      settings: this.#readingOf({ table: settings, route }, sources),
      kafka: route.divided === undefined ? kafka : this.#dividedRoutes.kafkaOf(settings.name, route.divided.spec),
      sink,
      identities: new TopicIdentities({ admin: kafka.admin, pipeline }),
      awaitedTopics: this.#awaitedTopics,
      memory: this.#ledger,
      clock,
      failpoint,
      observer: {
        ...ingestObserver,
        state: (state, detail) => {
          ingestObserver.state(state, detail);
          reporter.report(healthOf(state), detail);
        },
      },
    });
    this.#running.set(settings.name, tableIngest);
    this.#times.track(settings.name, sink);
    try {
      await tableIngest.run(signal);
    } finally {
      await deadLetters.close();
      await keyIndex?.close();
    }
  }

  #readingOf({ table: { name }, route }: RoutedTable, sources: RouteSources): TableIngestSettings {
    const { config, memory } = this.#components;
    const { ingest, pipeline } = config;
    return {
      ...{ ...ingest, ...sources, pipeline, table: name },
      maxFetchBytes: memory?.plan.fetchBytes ?? ingest.maxFetchBytes,
      groupId: consumerGroupOf(ingest.groupId, route.divided?.spec ?? name),
      storePassedAfterMs: route.divided === undefined ? undefined : storePassedAfterMs,
      startAt: this.#beginningOf(route),
    };
  }

  #totalsOf({ name, keyed }: TableSettings): KeyedTotals | undefined {
    if (keyed === undefined) return undefined;
    const totals = this.#keyed.get(name) ?? new KeyedTotals(this.#components.clock);
    this.#keyed.set(name, totals);
    return totals;
  }

  /** A table that was made begins where the one it is made like stands. */
  #beginningOf({ divided, madeFor }: RouteSettings): TableIngestSettings['startAt'] {
    if (divided === undefined || madeFor === undefined) return undefined;
    const reader = this.#dividedRoutes.readerOf(divided.spec);
    return (at, topicId) => reader.beginningAt(at, topicId);
  }

  /** A pipeline may do without the right to read its replay topic; then nothing is replayed into its tables. */
  async #readableReplayTopic(): Promise<string | undefined> {
    const { config, kafka, logger } = this.#components;
    const { replayTopic } = config.ingest.deadLetters;
    try {
      await kafka.admin.partitionCount(replayTopic);
      return replayTopic;
    } catch (error) {
      if (!isServiceError(error, 'invalid')) throw error;
      logger.warn('replayed dead letters are not read, the topic is not to be seen', { topic: replayTopic, err: error });
      return undefined;
    }
  }

  /** Once a table: a restart of its ingest tells nothing more. */
  #warnOfSecondWriters({ name, capabilities }: Table): void {
    const { singleWriterOnly } = capabilities;
    if (singleWriterOnly === undefined || this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#components.logger.warn('table must not have a second writer', { table: name, reason: singleWriterOnly });
  }

  /** Once a table, too. */
  async #warnOfOtherPipelines(table: Table, { topics, matching }: RouteSources, signal: AbortSignal): Promise<void> {
    const { config, logger } = this.#components;
    if (this.#warnedOfOthers.has(table.name)) return;
    const marks = (await table.refresh(signal)).progressStartingWith('');
    this.#warnedOfOthers.add(table.name);
    const reads = (topic: string): boolean => topics.includes(topic) || matching?.test(topic) === true;
    for (const other of otherPipelines(marks, { pipeline: config.pipeline, reads }))
      logger.warn('table has rows of the same topic by another pipeline', { table: table.name, ...other });
  }

  /** `ofLetters`: what does not fit the table of the letters is counted and named in the log, and no letter of it is written. */
  #deadLetters(table: string, ofLetters: boolean): DeadLetterTopic {
    const { config, kafka, clock, logger } = this.#components;
    const { onReject: policy, topic, partitions, oversize } = config.ingest.deadLetters;
    const onFound = (count: number): void => {
      logger.info('dead letters of an earlier try found, not written again', { table, count });
    };
    return new DeadLetterTopic({
      topic,
      partitions,
      oversize,
      policy: ofLetters ? 'skip' : policy,
      pipeline: config.pipeline,
      table,
      kafka,
      clock,
      onFound,
      incarnations: this.#deadLetterTopics,
    });
  }
}

function healthOf(state: IngestStatus['state']): 'starting' | 'running' | 'failed' {
  if (state === 'joining') return 'starting';
  return state === 'failed' || state === 'discontinuity' || state === 'waiting-for-topic' ? 'failed' : 'running';
}
