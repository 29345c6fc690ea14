// W2: 20,000 orders a second, a commit a second: how long from produce to visible, for which part of a core?
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeltaWatch } from '../lib/delta-watch.mjs';
import { createPeerTable, startPeer } from '../lib/peer.mjs';
import { freshness } from '../lib/table-check.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { emptyTopic } from '../lib/topics.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';

const topic = 'orders-live';
const rate = 20_000;
const warmSeconds = 2;
const flushSeconds = 1;
const peerFlushRows = 500_000;
const pollMs = 50;
const limitMs = 60_000;
const producerPath = fileURLToPath(new URL('../lib/live-orders.mjs', import.meta.url));

export async function runW2(context) {
  const results = { tidewater: [], loop: [] };
  for (let run = 1; run <= context.options.runs; run += 1) {
    for (const contender of ['tidewater', 'loop']) {
      if (contender === 'loop' && context.peer() === undefined) continue;
      const result = await oneRun(context, contender);
      results[contender].push(result);
      context.emit({ workload: 'w2', contender, run, ...result });
    }
  }
  const rows = Object.entries(results).filter(([, runs]) => runs.length > 0);
  for (const [contender, runs] of rows) context.emit({ workload: 'w2', contender, median: true, ...medians(runs) });
  context.table(rows.map(([contender, runs]) => ({ contender, ...medians(runs) })));
}

async function oneRun(context, contender) {
  const { seconds } = context.options;
  const { brokers, pid: brokerPid } = await context.broker();
  await emptyTopic(brokers, topic);
  await context.quiet();
  const { process, table } = await start(context, contender, brokers, brokerPid);
  const watch = new DeltaWatch(table);
  // Start-up is another workload: the clock runs once the first records are visible.
  const warmed = rate * warmSeconds;
  const warming = await produce(brokers, { seconds: warmSeconds, first: 0 });
  await until(() => watch.poll() >= warmed, process);
  const before = process.sample();
  const startedMs = Date.now();
  const produced = await produce(brokers, { seconds, first: warmed });
  const after = process.sample();
  const total = warmed + rate * seconds;
  await until(() => watch.poll() >= total, process);
  const { foreignCores, load1 } = process.surroundings();
  const runSeconds = (Date.now() - process.startedMs) / 1000;
  const exit = await process.stop();
  const fresh = await freshness(watch.files, startedMs);
  return {
    p50Ms: round(fresh.p50Ms),
    p99Ms: round(fresh.p99Ms),
    maxMs: round(fresh.maxMs),
    cores: round((after.cpuSeconds - before.cpuSeconds) / ((after.atMs - before.atMs) / 1000), 3),
    peakRssMb: megabytes(process.peakRssBytes),
    commits: watch.commits.length,
    exact: watch.rows === total && fresh.rows === rate * seconds,
    producerLateMs: round(produced.latestMs),
    exit,
    // The producer is part of the experiment.
    foreignCores: round(Math.max(0, foreignCores - (warming.cpuSeconds + produced.cpuSeconds) / runSeconds), 2),
    load1,
  };
}

async function start(context, contender, brokers, brokerPid) {
  const dir = context.freshDir(`w2-${contender}`);
  if (contender === 'tidewater') {
    return await startTidewater({ dir, brokers, brokerPid, topic, ingest: { maxBatchAge: `${flushSeconds}s`, workers: context.options.workers } });
  }
  const python = context.peer();
  const table = join(dir, 'table');
  createPeerTable(python, table);
  const args = ['run', brokers.join(','), topic, table, String(flushSeconds), String(peerFlushRows)];
  return { process: startPeer({ python, script: 'loop.py', args, dir, brokerPid }), table };
}

async function produce(brokers, { seconds, first }) {
  const child = spawn(process.execPath, [producerPath, brokers.join(','), topic, String(rate), String(seconds), String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return JSON.parse(text);
}

async function until(reached, process) {
  const deadline = Date.now() + limitMs;
  while (!reached() && process.running && Date.now() < deadline) await sleep(pollMs);
}
