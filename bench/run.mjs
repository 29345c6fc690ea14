// The figures of bench/README.md:
//   npm run bench -- tables [case|delta|iceberg …] [--scale 1] [--engines tidewater,delta-rs,pyiceberg,duckdb,spark] [--budget 600]
//   npm run bench -- w1|wu|wu-large|wu-sustained|wu-latency|w2|feed|feed-latency|feed-large|commit-cost|start|all [--runs 3] [--rows 2000000] [--events 1000000] [--keys 20000000] [--seconds 60] [--workers 1]
//     [--formats delta,iceberg] [--patience 60] [--ingest '{"maxBatchRows":100000}'] [--no-peer] [--out file]
// `--events`: upserts of wu, wu-large and wu-sustained, `--keys`: rows of the table of wu-large, and of the version of feed-large. `--formats`: of the tables of w1, wu, wu-large, wu-sustained, wu-latency, feed-latency and feed-large. `--ingest`: settings to try, laid over the bench's own. `--patience`: seconds to wait, before each run, for the rest of the machine to be idle. JSON lines on stdout, a table for people on stderr. Linux only: CPU and memory come from /proc.
import { parseArgs } from 'node:util';

const workloads = {
  w1: async (context) => (await import('./workloads/w1.mjs')).runW1(context),
  start: async (context) => (await import('./workloads/start.mjs')).runStart(context),
  feed: async (context) => (await import('./workloads/feed.mjs')).runFeed(context),
  'feed-latency': async (context) => (await import('./workloads/feed-latency.mjs')).runFeedLatency(context),
  'feed-large': async (context) => (await import('./workloads/feed-large.mjs')).runFeedLarge(context),
  wu: async (context) => (await import('./workloads/wu.mjs')).runWu(context),
  'wu-large': async (context) => (await import('./workloads/wu-large.mjs')).runWuLarge(context),
  'wu-sustained': async (context) => (await import('./workloads/wu-sustained.mjs')).runWuSustained(context),
  'wu-latency': async (context) => (await import('./workloads/wu-latency.mjs')).runWuLatency(context),
  w2: async (context) => (await import('./workloads/w2.mjs')).runW2(context),
  memory: async (context) => (await import('./workloads/memory.mjs')).runMemory(context),
  'commit-cost': async (context) => (await import('./workloads/commit-cost.mjs')).runCommitCost(context),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    rows: { type: 'string', default: '2000000' },
    events: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '20000000' },
    seconds: { type: 'string', default: '60' },
    workers: { type: 'string', default: '1' },
    formats: { type: 'string', default: 'delta,iceberg' },
    patience: { type: 'string', default: '60' },
    ingest: { type: 'string', default: '{}' },
    'no-peer': { type: 'boolean', default: false },
    out: { type: 'string' },
    scale: { type: 'string', default: '1' },
    engines: { type: 'string', default: 'tidewater,delta-rs,pyiceberg,duckdb,spark' },
    budget: { type: 'string', default: '600' },
  },
});

// By their names alone, for they take many minutes.
const usual = Object.keys(workloads).filter((name) => !['wu-large', 'wu-sustained', 'feed-large'].includes(name));
// Alone, for it takes the names of its cases and needs no broker: `all` is the pipeline.
const tables = positionals[0] === 'tables';
const chosen = tables ? [] : positionals.length === 0 || positionals.includes('all') ? usual : positionals;
const unknown = chosen.filter((name) => !(name in workloads));
if (unknown.length > 0 || process.platform !== 'linux') {
  console.error(unknown.length > 0 ? `bench: no workload ${unknown.join(', ')}; there are ${Object.keys(workloads).join(', ')}, all` : 'bench: needs /proc');
  process.exit(2);
}

const { BenchContext } = await import('./workloads/context.mjs');
const context = new BenchContext({
  runs: Number(values.runs),
  rows: Number(values.rows),
  events: Number(values.events),
  keys: Number(values.keys),
  seconds: Number(values.seconds),
  workers: Number(values.workers),
  formats: values.formats.split(','),
  patienceSeconds: Number(values.patience),
  ingest: JSON.parse(values.ingest),
  peer: !values['no-peer'],
  out: values.out,
});
try {
  if (tables) {
    const { runTables } = await import('./tables/run-tables.mjs');
    await runTables(context, {
      names: positionals.slice(1),
      scale: Number(values.scale),
      engines: values.engines.split(','),
      budgetSeconds: Number(values.budget),
    });
  }
  for (const name of chosen) {
    context.log(name);
    await workloads[name](context);
  }
} finally {
  await context.close();
}
