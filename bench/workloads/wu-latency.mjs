// wu-latency: 20,000 upserts a second over 200,000 keys, a commit a second: how long from produce to visible, for which part of a core?
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OrdersTables } from '../lib/orders-table.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { emptyTopic } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertDelays, upsertTable } from '../lib/upserts.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';
import { isExpected } from './upsert-run.mjs';

const topic = 'upserts-live';
const rate = 20_000;
const keys = 200_000;
const warmSeconds = 5;
const pollMs = 50;
const limitMs = 60_000;
const producerPath = fileURLToPath(new URL('../lib/live-orders.mjs', import.meta.url));

export async function runWuLatency(context) {
  const rows = [];
  for (const format of context.options.formats) {
    const results = [];
    for (let run = 1; run <= context.options.runs; run += 1) {
      results.push(await oneRun(context, format));
      context.emit({ workload: 'wu-latency', format, run, ...results.at(-1) });
    }
    rows.push({ format, ...medians(results) });
    context.emit({ workload: 'wu-latency', median: true, ...rows.at(-1) });
  }
  context.table(rows);
}

async function oneRun(context, format) {
  const { brokers, pid: brokerPid } = await context.broker();
  const { seconds } = context.options;
  await emptyTopic(brokers, topic);
  await context.quiet();
  const dir = context.freshDir('wu-latency');
  const ingest = { maxBatchAge: '1s', workers: context.options.workers, ...context.options.ingest };
  const { process, table } = await startTidewater({ dir, brokers, brokerPid, topic, format, ingest, columns: upsertColumns, table: upsertTable });
  const watch = new ProgressWatch(table, { format });
  const tables = new OrdersTables(dir, format);
  try {
    // Start-up is another workload: the clock runs once the first records are visible.
    const warmed = rate * warmSeconds;
    const warming = await produce(brokers, warmSeconds, 0);
    await until(() => watch.poll() >= warmed, process);
    const before = process.sample();
    const produced = await produce(brokers, seconds, warmed);
    const after = process.sample();
    const total = warmed + rate * seconds;
    await until(() => watch.poll() >= total, process);
    const { foreignCores, load1 } = process.surroundings();
    const runSeconds = (Date.now() - process.startedMs) / 1000;
    const exit = await process.stop();
    const { commits } = watch;
    const delays = upsertDelays({ keys, first: warmed, count: total, ticks: [...warming.ticks, ...produced.ticks], commits });
    const quantile = (part) => round(delays[Math.min(delays.length - 1, Math.floor(part * delays.length))]);
    return {
      ...{ rate, seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) },
      exact: delays.length === total - warmed && isExpected(await tables.sums('orders'), expectedAfter({ keys, count: total })),
      cores: round((after.cpuSeconds - before.cpuSeconds) / ((after.atMs - before.atMs) / 1000), 2),
      peakRssMb: megabytes(process.peakRssBytes),
      commits: commits.length,
      producerLateMs: round(produced.latestMs),
      exit,
      // The producer is part of the experiment.
      foreignCores: round(Math.max(0, foreignCores - (warming.cpuSeconds + produced.cpuSeconds) / runSeconds), 2),
      load1,
    };
  } finally {
    await tables.close();
  }
}

async function produce(brokers, seconds, first) {
  const args = [producerPath, brokers.join(','), topic, rate, seconds, first, keys].map(String);
  const child = spawn(globalThis.process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

async function until(isReached, process) {
  const deadline = Date.now() + limitMs;
  while (!isReached() && process.running && Date.now() < deadline) await sleep(pollMs);
}
