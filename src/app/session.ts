import { availableParallelism } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnalysisException } from '../base/analysis-exception.ts';
import { RandomIdSource } from '../base/ids.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import { WarehouseCatalog } from '../catalog/warehouse-catalog.ts';
import { DeltaTables } from '../delta/delta-tables.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { ParquetFileRewriter } from '../maintenance/file-rewriter.ts';
import { SessionConf } from '../session/conf/session-conf.ts';
import { SessionTables } from '../session/names/session-tables.ts';
import { Session as SessionClass } from '../session/session.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import type { SessionCatalog, TableFormatDriver } from '../table/table-formats.ts';
import { LazyEngine } from './lazy-engine.ts';
import { openStreamKafka } from './open-stream-kafka.ts';
import { productVersion } from './product-version.ts';

const defaultMemoryLimitBytes = 1024 ** 3;
const defaultWarehouse = 'spark-warehouse';
const sessionCatalog = 'spark_catalog';

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
export function createSession(options: SessionOptions = {}): SessionClass {
  const conf = new SessionConf(Object.entries(options.config ?? {}).map(([key, value]) => [key, String(value)] as const));
  const clock = new SystemClock();
  const random = new SystemRandom();
  const ids = new RandomIdSource(random);
  const engine = new LazyEngine({
    ids,
    memoryLimitBytes: conf.bytes('tidewater.engine.memoryLimit') ?? defaultMemoryLimitBytes,
    threads: Number(conf.find('tidewater.engine.threads') ?? availableParallelism()),
    temporaryDirectory: conf.find('tidewater.engine.temporaryDirectory'),
  });
  const openEngine = (): ReturnType<LazyEngine['open']> => engine.open();
  const openStore = (location: string): ObjectStore => new RetryingObjectStore(openObjectStore(location), { clock, random });
  const rewriter = new ParquetFileRewriter({ openStore });
  const drivers = [
    new DeltaTables({ openStore, clock, random, ids, version: productVersion, rewriter, engine: openEngine, cleansUpLog: true }),
  ];
  const tables = new SessionTables({
    catalogs: catalogsOf(conf, drivers, openStore),
    drivers,
    defaultCatalog: conf.find('spark.sql.defaultCatalog') ?? sessionCatalog,
    absolutePath,
  });
  // Refuses an unknown default catalog at once, not at the first name.
  tables.catalog(tables.currentCatalog.name);
  const openKafka = (servers: string): KafkaClient => openStreamKafka(servers, { clock, random });
  const print = options.print ?? ((text: string): boolean => process.stdout.write(text.endsWith('\n') ? text : `${text}\n`));
  return new SessionClass({
    version: productVersion,
    runtime: { openEngine, openStore, clock, ids, conf, tables, views: new Map(), kept: new Set(), queries: new Set(), print, openKafka },
    close: () => engine.close(),
  });
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

function catalogsOf(
  conf: SessionConf,
  drivers: readonly TableFormatDriver[],
  openStore: (location: string) => ObjectStore,
): ReadonlyMap<string, SessionCatalog> {
  const warehouse = absolutePath(conf.find('spark.sql.warehouse.dir') ?? defaultWarehouse);
  const catalogs = new Map<string, SessionCatalog>([
    [sessionCatalog, new WarehouseCatalog({ name: sessionCatalog, directory: warehouse, drivers, openStore })],
  ]);
  const settings = conf.below('spark.sql.catalog.');
  for (const name of new Set([...settings.keys()].map((key) => key.split('.')[0] ?? ''))) {
    if (name === sessionCatalog) continue;
    const type = settings.get(`${name}.type`) ?? 'hadoop';
    const directory = settings.get(`${name}.warehouse`);
    if (type !== 'hadoop' || directory === undefined) throw unknownCatalog(name, type, directory);
    catalogs.set(name, new WarehouseCatalog({ name, directory: absolutePath(directory), drivers, openStore }));
  }
  return catalogs;
}

/** A location as stores take it: `file:` URIs and relative paths become absolute ones, other schemes stay. */
function absolutePath(path: string): string {
  if (/^file:/i.test(path)) return trimmed(fileURLToPath(path.replace(/^file:\/*/i, 'file:///')));
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  return trimmed(isAbsolute(path) ? resolve(path) : resolve(process.cwd(), path));
}

function trimmed(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

function unknownCatalog(name: string, type: string, warehouse: string | undefined): AnalysisException {
  return new AnalysisException({
    errorClass: 'CATALOG_CONFIGURATION_INVALID',
    sqlState: '42000',
    kind: 'invalid',
    message:
      warehouse === undefined
        ? `catalog "${name}" has no warehouse`
        : `catalog "${name}" has type "${type}", which this version does not have`,
    hint: `set spark.sql.catalog.${name}.type to hadoop and spark.sql.catalog.${name}.warehouse to a directory`,
  });
}
