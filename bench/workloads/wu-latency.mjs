// wu-latency: 20,000 upserts a second over 200,000 keys, a commit a second: how long from produce to visible, for which part of a core?
import { measureLive } from '../lib/live-load.mjs';
import { OrdersTables } from '../lib/orders-table.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { emptyTopic } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertDelays, upsertTable } from '../lib/upserts.mjs';
import { medians, round } from '../lib/util.mjs';
import { isExpected } from './upsert-run.mjs';

const topic = 'upserts-live';
const rate = 20_000;
const keys = 200_000;
const warmSeconds = 5;

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
    const load = { topic, rate, keys };
    const { warmed, total, ticks, figures } = await measureLive(process, { brokers, load, warmSeconds, seconds, rowsSeen: () => watch.poll() });
    const { commits } = watch;
    const delays = upsertDelays({ keys, first: warmed, count: total, ticks, commits });
    const quantile = (part) => round(delays[Math.min(delays.length - 1, Math.floor(part * delays.length))]);
    return {
      ...{ rate, seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) },
      exact: delays.length === total - warmed && isExpected(await tables.sums('orders'), expectedAfter({ keys, count: total })),
      commits: commits.length,
      ...figures,
    };
  } finally {
    await tables.close();
  }
}
