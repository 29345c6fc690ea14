import { collectDefaultMetrics, Registry } from 'prom-client';
import {
  type CommitMetrics,
  createCommitMetrics,
  createFeedMetrics,
  createIngestMetrics,
  createMaintenanceMetrics,
  createStorageMetrics,
  createTwinMetrics,
  type FeedMetrics,
  type IngestMetrics,
  type MaintenanceMetrics,
  type StorageMetrics,
  type TwinMetrics,
} from './area-metrics.ts';
import { type EventLoopDelay, EventLoopMonitor } from './event-loop-delay.ts';
import { InstrumentMaker, type MetricDescription } from './instruments.ts';

export interface MetricsOptions {
  /** Becomes the label `pipeline` of every series. */
  readonly pipeline: string;
  /** Shown by `tidewater_build_info`. */
  readonly version: string;
  readonly role: string;
  /** Also collect the `process_*` and `nodejs_*` metrics of this process. Default true; tests turn it off. */
  readonly processMetrics?: boolean | undefined;
}

/** The process itself. */
export interface ProcessMetrics {
  /** Delay of the main thread's event loop since `start` (or the last `resetEventLoopDelay`), seconds. */
  eventLoopDelay(): EventLoopDelay;
  resetEventLoopDelay(): void;
}

/** One sample as tests and the status page read it back. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** All metrics of one process, in a registry of their own. */
export interface Metrics {
  readonly ingest: IngestMetrics;
  readonly commit: CommitMetrics;
  readonly feed: FeedMetrics;
  readonly twin: TwinMetrics;
  readonly maintenance: MaintenanceMetrics;
  readonly storage: StorageMetrics;
  readonly process: ProcessMetrics;
  /** Content type of `exposition`. */
  readonly contentType: string;
  /** Prometheus text format. */
  exposition(): Promise<string>;
  /** Samples of one metric, by its full name (`…_count` and `…_sum` for histograms); empty when there are none. */
  samples(name: string): Promise<readonly MetricSample[]>;
  /** The metrics of the product (without `process_*` and `nodejs_*`), for the reference page. */
  readonly catalogue: readonly MetricDescription[];
  /** Begins to sample the event loop. */
  start(): void;
  stop(): void;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ pipeline: options.pipeline });
  if (options.processMetrics !== false) {
    collectDefaultMetrics({ register: registry });
    // To list handles ends the process where one of them is just collected as garbage (a failed assertion of Node 20).
    // `nodejs_active_resources` counts them too, safely.
    for (const name of ['nodejs_active_handles', 'nodejs_active_handles_total']) registry.removeSingleMetric(name);
  }
  const make = new InstrumentMaker(registry);
  const monitor = new EventLoopMonitor();
  describeProcess(make, monitor, options);
  return {
    ingest: createIngestMetrics(make),
    commit: createCommitMetrics(make),
    feed: createFeedMetrics(make),
    twin: createTwinMetrics(make),
    maintenance: createMaintenanceMetrics(make),
    storage: createStorageMetrics(make),
    process: {
      eventLoopDelay: () => monitor.read(),
      resetEventLoopDelay: () => {
        monitor.reset();
      },
    },
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
    samples: (name) => samplesOf(registry, name),
    catalogue: make.catalogue,
    start: () => {
      monitor.start();
    },
    stop: () => {
      monitor.stop();
    },
  };
}

function describeProcess(make: InstrumentMaker, monitor: EventLoopMonitor, options: MetricsOptions): void {
  make.observedLevel({ name: 'build_info', help: 'Always 1; the labels tell version and role.', labels: ['version', 'role'] }, () => [
    { labels: { version: options.version, role: options.role }, value: 1 },
  ]);
  make.observedLevel(
    { name: 'event_loop_delay_seconds', help: 'Delay of the main thread’s event loop since the start.', labels: ['quantile'] },
    () => {
      const { p50, p90, p99, max } = monitor.read();
      return [
        { labels: { quantile: '0.5' }, value: p50 },
        { labels: { quantile: '0.9' }, value: p90 },
        { labels: { quantile: '0.99' }, value: p99 },
        { labels: { quantile: '1' }, value: max },
      ];
    },
  );
}

async function samplesOf(registry: Registry, name: string): Promise<readonly MetricSample[]> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics.flatMap((metric) =>
    metric.values
      .filter((sample) => ('metricName' in sample ? sample.metricName : metric.name) === name)
      .map(({ labels, value }) => ({ labels: definedLabels(labels), value })),
  );
}

function definedLabels(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
