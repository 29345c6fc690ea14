import { join } from 'node:path';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { supervise } from '../../../src/app/supervise.ts';
import { TopicIdentities } from '../../../src/app/topic-identities.ts';
import { InThreadBatchStager } from '../../../src/app/workers/batch-stager.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { describeError, isServiceError } from '../../../src/base/errors.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import type { IdSource } from '../../../src/base/ids.ts';
import type { Random } from '../../../src/base/random.ts';
import { type CatalogEntry, FileSystemCatalog } from '../../../src/catalog/file-system-catalog.ts';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { Feed } from '../../../src/cdf/feed.ts';
import { StoredFeedHolds } from '../../../src/cdf/feed-holds.ts';
import { PositionStore } from '../../../src/cdf/position-store.ts';
import type { CommitObserver } from '../../../src/commit/commit-observer.ts';
import { silentCommitObserver } from '../../../src/commit/commit-observer.ts';
import { CommitQueue } from '../../../src/commit/commit-queue.ts';
import { takeKeys } from '../../../src/commit/keyed/take-keys.ts';
import { takeTombstones } from '../../../src/commit/keyed/take-tombstones.ts';
import { TombstoneTable } from '../../../src/commit/keyed/tombstone-table.ts';
import { type CommitterSettings, TableCommitter } from '../../../src/commit/table-committer.ts';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import { DeadLetterTopic } from '../../../src/ingest/dead-letter-topic.ts';
import { TableIngest } from '../../../src/ingest/table-ingest.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { CappedHolds } from '../../../src/maintenance/capped-holds.ts';
import type { MaintenanceObserver } from '../../../src/maintenance/maintenance-observer.ts';
import { MaintenanceService } from '../../../src/maintenance/maintenance-service.ts';
import type { MaintenanceSettings } from '../../../src/maintenance/settings.ts';
import type { DeadLetterSink } from '../../../src/protocol/dead-letters.ts';
import type { DecodeSpec } from '../../../src/protocol/sealed-batch.ts';
import { LocalKeyIndex } from '../../../src/rows/key-index/local-key-index.ts';
import type { ObjectStore, OpenObjectStore } from '../../../src/storage/object-store.ts';
import { RetryingObjectStore } from '../../../src/storage/retrying-object-store.ts';
import type { HeldChanges } from '../../../src/table/changes.ts';
import type { KeyIndex } from '../../../src/table/key-index.ts';
import type { WriteSpec } from '../../../src/table/staged-file.ts';
import type { Table } from '../../../src/table/table.ts';
import { FaultyObjectStore } from '../faulty-object-store.ts';
import { MemoryJobQueue } from '../memory-queue.ts';
import { noEngine } from '../no-engine.ts';
import { silentFeedObserver, silentIngestObserver, silentMaintenanceObserver } from '../silent-observers.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { HashedIds } from './hashed-ids.ts';
import { keyedSpec } from './keyed-records.ts';
import { indexOutside, outside, poweredEngine, storeOutside } from './outside.ts';
import { Power } from './power.ts';
import { poweredClock, poweredKafka, poweredStore } from './powered-ports.ts';
import { blindTable, forgetfulKafka, lossyDeadLetters, unreadKafka } from './sabotage.ts';
import { simulatedTables, storesBelow } from './simulated-tables.ts';
import {
  deadLetterTopic,
  type KeyedShape,
  pipeline,
  type SimulatedWorld,
  sourceTopic,
  tableLocation,
  tableName,
  tombstonesLocation,
  tombstonesName,
} from './simulated-world.ts';

const restartBackoff = { initialMs: 50, maxMs: 1_000 };

const maintenance: MaintenanceSettings = {
  enabled: true,
  sweepIntervalMs: 900,
  queuePrefix: 'sim',
  concurrency: 2,
  maxAttempts: 2,
  jobTimeoutMs: 30_000,
  compaction: { enabled: true, targetFileBytes: 1 << 20, minInputFiles: 4, maxGroups: 4 },
  vacuum: { enabled: true, retentionMs: undefined, intervalMs: 20_000 },
  checkpoint: { enabled: true, minVersions: 5 },
  expiry: { enabled: true, retentionMs: undefined, minVersions: 5 },
  manifests: { enabled: true, minManifests: 8 },
  feedHold: { maxAgeMs: undefined, past: 'hold' },
  deleteFiles: { enabled: true, minFiles: 20 },
  engine: { memoryLimitBytes: 128 << 20, threads: 1, temporaryDirectory: undefined },
  allowedLocations: [],
};

/** One process of the service with all its roles, on ports that can be cut off from the world. */
export class SimulatedProcess {
  readonly name: string;
  readonly power: Power = new Power();
  /** The way to the storage; its fault rates may be changed at any time. */
  readonly faults: FaultyObjectStore;
  readonly #world: SimulatedWorld;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: IdSource;
  readonly #kafka: KafkaClient;
  readonly #openStore: OpenObjectStore;
  readonly #catalog: FileSystemCatalog;
  readonly #engine: OpenEngine;
  readonly #events: LocalTableEvents;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #disturbed = false;

  constructor(world: SimulatedWorld, name: string) {
    this.#world = world;
    this.name = name;
    this.#random = world.fork();
    const skewMs = Math.round((world.random.next() * 2 - 1) * world.shape.maxSkewMs);
    this.#clock = poweredClock(world.clock, this.power, skewMs);
    this.#ids = new HashedIds(`${world.seed}/${name}`);
    this.#kafka = poweredKafka(world.broker.client(name), this.power);
    this.faults = new FaultyObjectStore(world.store, { clock: world.clock, random: world.fork() });
    const store = this.#reaching(this.faults, world.store);
    const tombstones = world.keyedBy === undefined ? undefined : this.#reaching(this.#faultsToo(), world.tombstones);
    this.#openStore = storesBelow(store, tombstones);
    this.#events = new LocalTableEvents(this.#clock);
    const { definition, format } = world;
    this.#engine = world.engine === undefined ? noEngine : poweredEngine(world.engine, this.power);
    const engine = world.engine === undefined ? undefined : this.#engine;
    const parts = { store, tombstones, engine, clock: this.#clock, random: this.#random, ids: this.#ids, version: 'sim' };
    const entries: CatalogEntry[] = [{ name: tableName, format, location: tableLocation, definition }];
    if (tombstones !== undefined) entries.push({ name: tombstonesName, format, location: tombstonesLocation });
    this.#catalog = new FileSystemCatalog(entries, { [format]: simulatedTables(format, parts) });
  }

  #faultsToo(): FaultyObjectStore {
    const { clock, tombstones } = this.#world;
    return new FaultyObjectStore(tombstones, { clock, random: this.#world.fork(), like: this.faults });
  }

  /** A store as the process reaches it. */
  #reaching(faults: FaultyObjectStore, raw: ObjectStore): ObjectStore {
    const store = new RetryingObjectStore(poweredStore(faults, this.power), { clock: this.#clock, random: this.#random });
    return this.#world.engine === undefined ? store : storeOutside(store, raw);
  }

  start(roles: { readonly feed: boolean }): void {
    const parts = [
      this.#supervised('ingest', (stop) => this.#ingest(stop)),
      this.#supervised('maintenance', (stop) => this.#maintain(stop)),
    ];
    if (roles.feed) parts.push(this.#supervised('feed', (stop) => this.#feed(stop)));
    this.#running = Promise.all(parts);
  }

  /** Stands still, is gone, or does not know yet that it was away. */
  get disturbed(): boolean {
    return this.#disturbed;
  }

  /** Drains and ends, as at SIGTERM. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  crash(): void {
    this.#disturbed = true;
    this.power.cut();
    this.#world.broker.crashClient(this.name);
  }

  /** The process stands still and the group gives its partitions to others; what it has begun is held. */
  suspend(): void {
    this.#disturbed = true;
    this.power.suspend();
    this.#world.broker.isolateClient(this.name);
  }

  /** It wakes up and does not know: what was held goes on; only then the broker tells. */
  async resume(unawareMs: number): Promise<void> {
    this.power.resume();
    await this.#world.clock.sleep(unawareMs);
    // It may have crashed meanwhile.
    if (this.power.state === 'off') return;
    this.#disturbed = false;
    await this.#world.broker.healClient(this.name);
  }

  #supervised(role: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const world = this.#world;
    return supervise({
      run,
      signal: this.#stop.signal,
      clock: this.#clock,
      random: this.#random,
      backoff: restartBackoff,
      onRestart: (error) => {
        world.count(`${role} restarted`);
        // A broken assertion is a mistake of ours however well the restart cures it.
        if (isServiceError(error, 'internal')) world.unexpected.push(`${this.name}: ${role}: ${describeError(error)}`);
      },
      onGivenUp: (error) => {
        if (role === 'feed' && isServiceError(error, 'fenced')) world.count('feed fenced');
        else world.unexpected.push(`${this.name}: ${role} given up: ${describeError(error)}`);
      },
    });
  }

  async #ingest(signal: AbortSignal): Promise<void> {
    const { shape } = this.#world;
    const [kafka, clock, random] = [this.#kafka, this.#clock, this.#random];
    const table = await this.#table(signal);
    const identities = new TopicIdentities({ admin: kafka.admin, pipeline });
    const observer = this.#commitObserver();
    const settings = { maxRebaseAttempts: 50, verifyTimeoutMs: 5_000, backoff: { initialMs: 5, maxMs: 200 } };
    const tombstones = await this.#takeKeys(table, { observer, settings }, signal);
    const sink = new CommitQueue({
      table,
      committer: new TableCommitter({ table, clock, random, observer, settings }),
      stager: new InThreadBatchStager({ openStore: this.#openStore, clock, failpoint: inertFailpoint, maxNestingDepth: 16 }),
      deadLetters: this.#deadLetters(),
      decodeSpecFor: (write) => decodeSpecFor(write, this.#world.keyedBy),
      ...(tombstones === undefined || this.#world.sabotage === 'forget-deletes' ? {} : { tombstones }),
      keyIndex: this.#keyIndex(),
      pipeline,
      ids: this.#ids,
      clock,
      failpoint: inertFailpoint,
      observer,
      events: this.#events,
    });
    const ingest = new TableIngest({
      settings: {
        pipeline,
        table: tableName,
        topics: [sourceTopic],
        groupId: 'sim-orders',
        maxBatchRows: shape.maxBatchRows,
        maxBatchBytes: 1 << 16,
        maxBatchAgeMs: shape.maxBatchAgeMs,
        maxBufferBytes: 1 << 14,
        maxFetchBytes: 1 << 12,
        maxFetchWaitMs: 50,
        onOffsetDiscontinuity: 'fail',
        startFrom: 'earliest',
        sessionTimeoutMs: 30_000,
      },
      kafka,
      sink,
      identities,
      awaitedTopics: new Set(),
      clock,
      failpoint: inertFailpoint,
      observer: {
        ...silentIngestObserver,
        discontinuity: ({ detail }) => this.#world.unexpected.push(`${this.name}: discontinuity: ${detail}`),
      },
    });
    await ingest.run(signal);
  }

  #keyIndex(): KeyIndex | undefined {
    const { keyedBy, directory, clock, unexpected, keyIndexes } = this.#world;
    if (keyedBy?.indexed !== true || directory === undefined) return undefined;
    const failed = (what: string, error: unknown): void => {
      unexpected.push(`${this.name}: the key index could not ${what}: ${describeError(error)}`);
    };
    const observer = { changed: () => undefined, failed, full: () => undefined };
    const settings = { minRows: 1, maxBytes: 1e9 };
    const parts = {
      directory: join(directory, 'index'),
      settings,
      ids: this.#ids,
      clock: this.#clock,
      failpoint: inertFailpoint,
      observer,
    };
    const index = new LocalKeyIndex(parts);
    keyIndexes.push(index);
    return indexOutside(clock, index);
  }

  /** As an ingest does before its first record. */
  async #takeKeys(
    table: Table,
    { observer, settings }: { readonly observer: CommitObserver; readonly settings: CommitterSettings },
    signal: AbortSignal,
  ): Promise<TombstoneTable | undefined> {
    const { keyedBy, definitionProperties: properties } = this.#world;
    if (keyedBy === undefined) return undefined;
    const by = { keyColumns: ['id'], orderColumns: keyedBy.ordered ? ['n'] : [] };
    const changeImages = keyedBy.derived && this.#world.format === 'delta' ? 'derived' : 'stored';
    await takeKeys(table, { ...by, onRepeatedKeys: 'fail', changeImages }, signal);
    if (!keyedBy.ordered) return undefined;
    const companion = await takeTombstones({ table, catalog: this.#catalog, name: tombstonesName, properties, ...by }, signal);
    return new TombstoneTable({
      ...{ table: companion, retentionMs: 7 * 86_400_000, engine: this.#engine, clock: this.#clock, random: this.#random },
      ...{ failpoint: inertFailpoint, observer, settings, onRows: () => undefined },
    });
  }

  async #feed(signal: AbortSignal): Promise<void> {
    const world = this.#world;
    const encoder = new ParquetChangeEncoder({ openStore: this.#openStore, openEngine: this.#engine });
    const table = await this.#catalog.loadOrCreate(tableName, signal);
    const isKeyed = world.keyedBy !== undefined;
    const feed = new Feed({
      spec: world.feedSpec,
      table: isKeyed ? changesOutside(table, world.clock) : table,
      client: world.sabotage === 'forget-feed-positions' ? forgetfulKafka(this.#kafka, world) : this.#kafka,
      encoder: isKeyed ? { encode: (...task) => outside(world.clock, () => encoder.encode(...task)) } : encoder,
      events: this.#events,
      observer: {
        ...silentFeedObserver,
        gap: ({ version }) => world.unexpected.push(`${this.name}: the feed found a gap at version ${version}`),
        resolved: (as) => {
          world.count(`feed resolved ${as}`);
        },
      },
      clock: this.#clock,
      random: this.#random,
      ids: this.#ids,
      failpoint: inertFailpoint,
    });
    const status = await feed.run(signal);
    if (status.state !== 'stopped' && !(signal.aborted && isServiceError(status.error, 'aborted'))) throw status.error;
  }

  async #maintain(signal: AbortSignal): Promise<void> {
    const kafka = this.#kafka;
    const openStore = (topic: string): PositionStore => new PositionStore({ client: kafka, clock: this.#clock, topic });
    const { feedSpec } = this.#world;
    const holds = new StoredFeedHolds({ feeds: [feedSpec], positionsTopic: feedSpec.positionsTopic, openStore, admin: kafka.admin });
    const service = new MaintenanceService({
      queue: new MemoryJobQueue({ maxAttempts: maintenance.maxAttempts }),
      catalog: this.#catalog,
      watermarks: new CappedHolds({
        holdsOf: async (table) => holds.holds(table, (await (await this.#catalog.load(table)).refresh()).tableId),
        load: (table) => this.#catalog.load(table),
        settings: maintenance.feedHold,
        clock: this.#clock,
        onLook: () => undefined,
      }),
      settings: maintenance,
      clock: this.#clock,
      observer: this.#maintenanceObserver(),
    });
    await service.run(signal);
  }

  async #table(signal: AbortSignal): Promise<Table> {
    const table = await this.#catalog.loadOrCreate(tableName, signal);
    return this.#world.sabotage === 'skip-mark-check' ? blindTable(table) : table;
  }

  #deadLetters(): DeadLetterSink {
    const sink = new DeadLetterTopic({
      policy: 'dead-letter',
      oversize: 'truncate',
      topic: deadLetterTopic,
      partitions: 1,
      pipeline,
      table: tableName,
      kafka: this.#world.sabotage === 'repeat-dead-letters' ? unreadKafka(this.#kafka) : this.#kafka,
      clock: this.#clock,
      onFound: () => {
        this.#world.count('dead letters found');
      },
    });
    return this.#world.sabotage === 'lose-dead-letters' ? lossyDeadLetters(sink) : sink;
  }

  #commitObserver(): CommitObserver {
    const world = this.#world;
    return {
      ...silentCommitObserver,
      committed: ({ version, staged }) => {
        world.reported.push({ process: this.name, version, rows: staged.rowCount });
      },
      attempt: (result) => {
        world.count(`commit ${result}`);
      },
      resolved: (as) => {
        world.count(`commit resolved ${as}`);
      },
      discarded: () => {
        world.count('batch discarded');
      },
    };
  }

  #maintenanceObserver(): MaintenanceObserver {
    const world = this.#world;
    return {
      ...silentMaintenanceObserver,
      finished: ({ kind }, { result }) => {
        world.count(`${kind} ${result}`);
      },
      failed: ({ kind }, error) => {
        world.count(`${kind} failed`);
        if (!isServiceError(error, 'unavailable', 'unknown-outcome', 'aborted', 'conflict', 'not-found')) {
          world.unexpected.push(`${this.name}: ${kind}: ${describeError(error)}`);
        }
      },
    };
  }
}

/** Changes that are computed are written to files of this machine. */
function changesOutside(table: Table, clock: SimulatedClock): Table {
  const held = (changes: HeldChanges): HeldChanges => {
    const { release } = changes;
    return release === undefined ? changes : { ...changes, release: () => outside(clock, release) };
  };
  return new Proxy(table, {
    get: (target, name) => {
      if (name === 'changesOf' || name === 'rowsAt')
        return (...args: Parameters<Table['changesOf']>) => outside(clock, async () => held(await target[name](...args)));
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

function decodeSpecFor(write: WriteSpec, keyedBy: KeyedShape | undefined): DecodeSpec {
  return {
    sources: write.schema.fields.map(({ name }) => {
      if (name === 'source_partition') return { kind: 'partition' };
      return name === 'source_offset' ? { kind: 'offset' } : { kind: 'value', name };
    }),
    unknownMembers: 'ignore',
    ...(keyedBy === undefined ? {} : keyedSpec(keyedBy)),
  };
}
