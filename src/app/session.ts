import { availableParallelism } from 'node:os';
import { RandomIdSource } from '../base/ids.ts';
import type { StorageSettings } from '../base/storage-settings.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { formatDrivers } from '../catalog/formats.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { ParquetFileRewriter } from '../maintenance/file-rewriter.ts';
import { SessionConf } from '../session/conf/session-conf.ts';
import { SessionTables } from '../session/names/session-tables.ts';
import { Session as SessionClass } from '../session/session.ts';
import { locationsOf } from '../storage/allowed-locations.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import type { AuditSettings } from '../table/table.ts';
import { LazyEngine } from './lazy-engine.ts';
import { type OpenPipeline, PipelineLiveTables } from './live/live-tables.ts';
import { openStreamKafka } from './open-stream-kafka.ts';
import { productVersion } from './package.ts';
import { absolutePath, closeCatalogs, openCatalogs, sessionCatalog, storageProperties } from './session-catalogs.ts';

const defaultMemoryLimitBytes = 1024 ** 3;

export interface SessionOptions {
  /** Configuration by key, as `spark.…` or `tidewater.…`. */
  readonly config?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Where `show` and its kin print. Default: standard output. */
  readonly print?: ((text: string) => void) | undefined;
}

/**
 * A session of its own, whatever other sessions there are. It opens nothing before it is used; stop it when done.
 *
 * @throws AnalysisException for a configuration that `Session.conf.set` would refuse, or a catalog type this version does not have.
 */
/** @param openPipeline how live tables of a pipeline are opened. Default: by its configuration files. */
export function createSession(options: SessionOptions = {}, openPipeline?: (files: readonly string[]) => OpenPipeline): SessionClass {
  const conf = new SessionConf(Object.entries(options.config ?? {}).map(([key, value]) => [key, String(value)] as const));
  const clock = new SystemClock();
  const random = new SystemRandom();
  const ids = new RandomIdSource(random);
  const stores = openObjectStore.withProperties(storageProperties(conf));
  const openStoreWith =
    (settings: StorageSettings) =>
    (location: string): ObjectStore =>
      new RetryingObjectStore(stores(location, settings), { clock, random });
  const openStore = openStoreWith({});
  const engine = new LazyEngine({
    ids,
    openStore,
    fileCacheBytes: conf.bytes('tidewater.engine.fileCacheSize'),
    memoryLimitBytes: conf.bytes('tidewater.engine.memoryLimit') ?? defaultMemoryLimitBytes,
    threads: Number(conf.find('tidewater.engine.threads') ?? availableParallelism()),
    temporaryDirectory: conf.find('tidewater.engine.temporaryDirectory'),
  });
  const openEngine = (): ReturnType<LazyEngine['open']> => engine.open();
  const rewriter = new ParquetFileRewriter({ openStore });
  const formats = { openStore, clock, random, ids, version: productVersion, engine: openEngine };
  const application = { id: `local-${clock.now()}`, name: conf.find('spark.app.name') ?? 'tidewater' };
  const allowedLocations = locationsOf(conf.find('tidewater.iceberg.allowedLocations'));
  const confined = conf.find('tidewater.files.allowedLocations');
  const confinedTo = confined === undefined ? undefined : locationsOf(confined).map(absolutePath);
  const outside = locationsOf(conf.find('tidewater.delta.allowedLocations')).map(absolutePath);
  const arbitraryProperties = (): boolean => conf.switch('spark.databricks.delta.allowArbitraryProperties.enabled') === true;
  const { delta, iceberg } = formatDrivers(
    { ...formats, rewriter, cleansUpLog: true, application, arbitraryProperties, confinedTo },
    { delta: { allowedLocations: outside }, iceberg: { allowedLocations } },
  );
  const drivers = [delta, iceberg];
  const catalogs = openCatalogs(conf, { drivers, iceberg, openStore, openStoreWith, clock, random, ids, allowedLocations, confinedTo });
  const live = new PipelineLiveTables(conf, openPipeline);
  const tables = new SessionTables({
    catalogs,
    drivers,
    defaultCatalog: conf.find('spark.sql.defaultCatalog') ?? sessionCatalog,
    absolutePath,
    confinedTo,
    audit: () => auditOf(conf),
  });
  // Refuses an unknown default catalog at once, not at the first name.
  tables.catalog(tables.currentCatalog.name);
  const openKafka = (servers: string): KafkaClient => openStreamKafka(servers, { clock, random });
  const print = options.print ?? ((text: string): boolean => process.stdout.write(text.endsWith('\n') ? text : `${text}\n`));
  return new SessionClass({
    version: productVersion,
    runtime: {
      openEngine,
      openStore,
      clock,
      ids,
      conf,
      tables,
      views: new Map(),
      kept: new Set(),
      queries: new Set(),
      print,
      openKafka,
      live,
    },
    close: async () => {
      await live.close();
      await closeCatalogs(catalogs);
      await engine.close();
    },
  });
}

function auditOf(conf: SessionConf): AuditSettings | undefined {
  const [branch, id] = [conf.find('spark.wap.branch'), conf.find('spark.wap.id')];
  return branch === undefined && id === undefined ? undefined : { branch, id };
}

let active: SessionClass | undefined;

/** Sets up a session as Spark's builder does. */
export class SessionBuilder {
  readonly #config: Readonly<Record<string, string | number | boolean>>;

  constructor(config: Readonly<Record<string, string | number | boolean>> = {}) {
    this.#config = config;
  }

  /** One key with its value, or several in an object. */
  config(key: string, value: string | number | boolean): SessionBuilder;
  config(entries: Readonly<Record<string, string | number | boolean>>): SessionBuilder;
  config(key: string | Readonly<Record<string, string | number | boolean>>, value: string | number | boolean = ''): SessionBuilder {
    return new SessionBuilder({ ...this.#config, ...(typeof key === 'string' ? { [key]: value } : key) });
  }

  /** Accepted for programs that set it; the engine is embedded whatever it says. */
  master(url: string): SessionBuilder {
    return this.config('spark.master', url);
  }

  appName(name: string): SessionBuilder {
    return this.config('spark.app.name', name);
  }

  /** The session of this process that runs, with the configuration added to its own, or a new one. */
  async getOrCreate(): Promise<SessionClass> {
    if (active?.running === true) {
      for (const [key, value] of Object.entries(this.#config)) active.conf.set(key, value);
      return Promise.resolve(active);
    }
    active = createSession({ config: this.#config });
    return active;
  }

  /** A session of its own. */
  async create(): Promise<SessionClass> {
    return Promise.resolve(createSession({ config: this.#config }));
  }
}

/** Where sessions begin: `await Session.builder().config(key, value).getOrCreate()`. */
export const Session: { readonly builder: () => SessionBuilder } = { builder: () => new SessionBuilder() };
export type Session = SessionClass;
