import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import { RandomIdSource } from '../base/ids.ts';
import type { StorageSettings } from '../base/storage-settings.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import type { Config } from '../config/settings.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { KafkajsClient } from '../kafka/kafkajs/kafkajs-client.ts';
import type { KafkaLog } from '../kafka/kafkajs/kafkajs-internals.ts';
import type { StorageMetrics } from '../observability/area-metrics.ts';
import { HealthRegistry } from '../observability/health.ts';
import { createLogger, type Logger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import { SchemaRegistry } from '../registry/schema-registry.ts';
import { MeteredObjectStore, type StoreRequest } from '../storage/metered-object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { openObjectStore } from '../storage/open-object-store.ts';
import { RetryingObjectStore } from '../storage/retrying-object-store.ts';
import type { Components } from './components.ts';
import { failpointFromEnv } from './failpoint-from-env.ts';
import { FailpointObjectStore } from './failpoint-object-store.ts';
import { LazyEngine } from './lazy-engine.ts';
import { LocalTableEvents } from './local-table-events.ts';
import { openTables } from './open-tables.ts';
import { productVersion } from './package.ts';
import type { ProcessMemory } from './process-memory.ts';
import { pooledRewriter } from './workers/pooled.ts';
import { WorkerPool } from './workers/worker-pool.ts';

export interface OpenOptions {
  readonly config: Config;
  readonly role: string;
  /** `host:port` each; the configuration's, or the embedded broker's. */
  readonly brokers: readonly string[];
  /** Of a process that reads topics. */
  readonly memory?: ProcessMemory | undefined;
  /** Default: what the environment arms. */
  readonly failpoint?: Failpoint | undefined;
}

export interface OpenedComponents extends Components {
  close(): Promise<void>;
}

const kafkaCloseTimeoutMs = 5_000;

/** Compaction rewrites a few large files at a time; the thread gives its memory back when there is nothing to do. */
const rewriterPool = { size: 1, idleMs: 30_000, maxTasksPerThread: 50 };

/** The components of a process, as the configuration asks for them. Connects to nothing before the first use. */
export function openComponents(options: OpenOptions): OpenedComponents {
  const { config, memory } = options;
  const clock = new SystemClock();
  const random = new SystemRandom();
  const ids = new RandomIdSource(random);
  const failpoint = options.failpoint ?? failpointFromEnv(process.env['FAILPOINT']);
  const logger = processLogger(config);
  const rewriters = new WorkerPool({ ...rewriterPool, workerData: { maxNestingDepth: config.ingest.maxNestingDepth } });
  const metrics = createMetrics({ pipeline: config.pipeline, version: productVersion, role: options.role });
  const openStore = (location: string, settings?: StorageSettings): ObjectStore => {
    const metered = new MeteredObjectStore(openObjectStore(location, settings), {
      clock,
      onRequest: observeStorage(metrics.storage),
    });
    const store = new RetryingObjectStore(metered, { clock, random });
    return failpoint === inertFailpoint ? store : new FailpointObjectStore(store, failpoint);
  };
  const { memoryLimitBytes } = config.maintenance.engine;
  const engine = new LazyEngine({ ...config.maintenance.engine, memoryLimitBytes: memory?.plan.engineBytes ?? memoryLimitBytes, ids });
  const openEngine: OpenEngine = () => engine.open();
  const tables = openTables({
    config,
    openStore,
    clock,
    random,
    ids,
    failpoint,
    engine: openEngine,
    rewriter: pooledRewriter(rewriters),
    commitTried: (table, result) => {
      metrics.commit.commits.add(1, { table, by: 'table', result });
    },
  });
  const kafka = openKafka(options, { clock, random, logger, failpoint });
  return {
    config,
    clock,
    random,
    ids,
    failpoint,
    logger,
    metrics,
    health: new HealthRegistry(clock),
    kafka,
    catalog: tables.catalog,
    tables: tables.tables,
    events: new LocalTableEvents(clock),
    memory,
    registry: config.schemaRegistry === undefined ? undefined : new SchemaRegistry(config.schemaRegistry),
    openEngine,
    close: async () => {
      // A broker that is away is not waited for: what it was to hear it finds out by time-outs of its own.
      await Promise.race([kafka.close(), clock.sleep(kafkaCloseTimeoutMs)]);
      await rewriters.close();
      await tables.close();
      await engine.close();
    },
  };
}

function processLogger(config: Config): Logger {
  const { level, format } = config.logging;
  const terminal = process.stderr.isTTY;
  return createLogger({
    level,
    format: format === 'auto' ? (terminal ? 'pretty' : 'json') : format,
    clock: new SystemClock(),
    write: (line) => {
      process.stderr.write(line);
    },
    colour: terminal && process.env['NO_COLOR'] === undefined,
    fields: { pipeline: config.pipeline },
  });
}

function openKafka(options: OpenOptions, parts: Pick<Components, 'clock' | 'random' | 'logger' | 'failpoint'>): KafkaClient {
  const { clock, random, logger, failpoint } = parts;
  return new KafkajsClient({
    settings: { ...options.config.kafka, brokers: options.brokers },
    clock,
    random,
    failpoint,
    log: kafkaLog(logger.child({ component: 'kafka' })),
  });
}

/** The connection layer speaks of every hiccup it recovers from: what it calls an error is a warning here. */
function kafkaLog(logger: Logger): KafkaLog {
  return (level, message, fields) => {
    if (level === 'error' || level === 'warn') logger.warn(message, fields);
    else logger.debug(message, fields);
  };
}

/** Requests of this thread to the object store, as metrics. Worker threads count their own as part of the batch timings. */
function observeStorage(metrics: StorageMetrics): (request: StoreRequest) => void {
  return ({ op, code, durationMs, bytesRead, bytesWritten }) => {
    metrics.requests.add(1, { op, code });
    metrics.requestSeconds.observe(durationMs / 1000, { op });
    if (bytesRead > 0) metrics.bytes.add(bytesRead, { direction: 'read' });
    if (bytesWritten > 0) metrics.bytes.add(bytesWritten, { direction: 'written' });
  };
}
