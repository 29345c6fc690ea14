// Our program as a contender: `tidewater serve` with a configuration like a user's.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programPath } from './dist.mjs';
import { ordersColumns } from './orders.mjs';
import { MeasuredProcess } from './process-tree.mjs';
import { freePort } from './util.mjs';

const propertiesOf = { delta: { 'delta.enableChangeDataFeed': 'true' }, iceberg: {} };

/** Where the twin of the table at `location` is. */
export function twinOf(location) {
  return `${location}_iceberg`;
}

/** `both`: a Delta table and its twin. */
function tablesOf(format, columns, more) {
  const leader = format === 'both' ? 'delta' : format;
  const table = { name: 'orders', format: leader, path: 'tables/orders', columns, properties: propertiesOf[leader], ...more };
  const twin = { name: 'orders_iceberg', format: 'iceberg', twinOf: 'orders', path: twinOf('tables/orders') };
  return format === 'both' ? [table, twin] : [table];
}

/**
 * Writes the configuration and starts the program. `ingest`, `feeds` and `feedDefaults` are laid over the bench's own settings, `more` over all;
 * `columns` are the table's, and `table` what else is said of it.
 */
export async function startTidewater({
  dir,
  brokers,
  brokerPid,
  topic,
  role = 'ingest',
  format = 'delta',
  columns = ordersColumns,
  table = {},
  ingest = {},
  feeds = [],
  feedDefaults = {},
  more = {},
}) {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const config = {
    pipeline: 'bench',
    dataDir: dir,
    kafka: { brokers },
    tables: tablesOf(format, columns, table),
    ingest: { routes: topic === undefined ? [] : [{ topics: [topic], table: 'orders' }], ...ingest },
    feeds,
    feedDefaults,
    maintenance: { enabled: false },
    server: { port },
    logging: { format: 'json' },
    ...more,
  };
  const file = join(dir, 'config.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config, undefined, 2));
  const process = new MeasuredProcess({
    command: globalThis.process.execPath,
    args: [...profileArgs(dir), programPath, 'serve', '--role', role, '--config', file],
    logFile: join(dir, `${role}.log`),
    brokerPid,
  });
  return { process, table: join(dir, 'tables', 'orders'), metrics: () => scrape(port) };
}

/** `BENCH_CPU_PROFILE=1` leaves V8 profiles of all threads in the run's directory. */
function profileArgs(dir) {
  return globalThis.process.env.BENCH_CPU_PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(dir, 'profiles')}`];
}

/** The program's metrics: each sample's value by its name with labels. Empty while it does not answer. */
async function scrape(port) {
  try {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
  } catch {
    return new Map();
  }
}

/** Sum of the samples of one metric, whatever their labels. */
export function sumOfMetric(samples, name) {
  return [...samples].reduce((sum, [key, value]) => (key === name || key.startsWith(`${name}{`) ? sum + value : sum), 0);
}

/** The event loop's 99th percentile of delay in seconds since the program's start. */
export function loopDelayP99(samples) {
  return [...samples].find(([key]) => /event_?loop.*(p99|0\.99)/.test(key))?.[1];
}
