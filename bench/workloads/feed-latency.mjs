// Feed latency: from produced to a source topic to seen by a read_committed consumer of the feed, at a steady rate, with commits of 1 s and of 250 ms.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { produceLive } from '../lib/live-load.mjs';
import { startTidewater, sumOfMetric } from '../lib/tidewater.mjs';
import { deleteTopics, emptyTopic, partitions } from '../lib/topics.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';

const topic = 'orders-live';
const prefix = 'bench-feed-latency';
const feedTopic = `${prefix}.orders`;
const rate = 5_000;
const warmSeconds = 5;
const commits = ['1s', '250ms'];
const pollMs = 100;
const limitMs = 60_000;
const pathOf = (name) => fileURLToPath(new URL(`../lib/${name}`, import.meta.url));

export async function runFeedLatency(context) {
  const rows = [];
  for (const format of context.options.formats) {
    for (const commit of commits) {
      const results = [];
      for (let run = 1; run <= context.options.runs; run += 1) {
        results.push(await oneRun(context, format, commit));
        context.emit({ workload: 'feed-latency', format, commit, run, ...results.at(-1) });
      }
      rows.push({ format, commit, ...medians(results) });
      context.emit({ workload: 'feed-latency', median: true, ...rows.at(-1) });
    }
  }
  context.table(rows);
}

async function oneRun(context, format, commit) {
  const { brokers, pid: brokerPid } = await context.broker();
  const list = brokers.join(',');
  const { seconds } = context.options;
  await emptyTopic(brokers, topic);
  await deleteTopics(brokers, [feedTopic, `${prefix}._positions`]);
  await context.quiet();
  const { process, metrics } = await startTidewater({
    ...{ dir: context.freshDir('feed-latency'), brokers, brokerPid, topic, role: 'all', format },
    ingest: { maxBatchAge: commit },
    feeds: [{ table: 'orders', topic: feedTopic, keyColumns: ['order_id'], start: 'earliest', partitions }],
    feedDefaults: { topicPrefix: prefix },
  });
  // Start-up is another workload: the clock runs once the first records have come through.
  const warmed = rate * warmSeconds;
  const warming = await produceLive(brokers, { topic, rate, seconds: warmSeconds, first: 0 });
  const deadline = Date.now() + limitMs;
  while (sumOfMetric(await metrics(), 'tidewater_cdf_records_total') < warmed && process.running && Date.now() < deadline) await sleep(pollMs);
  const reader = start(pathOf('feed-reader.mjs'), [list, feedTopic, warmed + rate * seconds, warmed]);
  await reader.next();
  const before = process.sample();
  const produced = await produceLive(brokers, { topic, rate, seconds, first: warmed });
  const after = process.sample();
  const read = JSON.parse((await reader.next()).value);
  const { foreignCores, load1 } = process.surroundings();
  const runSeconds = (Date.now() - process.startedMs) / 1000;
  const exit = await process.stop();
  return {
    ...{ rate, seconds, p50Ms: read.p50Ms, p99Ms: read.p99Ms, maxMs: read.maxMs },
    exact: read.once && read.orders === warmed + rate * seconds,
    cores: round((after.cpuSeconds - before.cpuSeconds) / ((after.atMs - before.atMs) / 1000), 2),
    peakRssMb: megabytes(process.peakRssBytes),
    producerLateMs: round(produced.latestMs),
    exit,
    // Producer and consumer are part of the experiment.
    foreignCores: round(Math.max(0, foreignCores - (warming.cpuSeconds + produced.cpuSeconds + read.cpuSeconds) / runSeconds), 2),
    load1,
  };
}

/** The lines that a program of this folder prints. */
function start(program, args) {
  const child = spawn(process.execPath, [program, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] });
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}
