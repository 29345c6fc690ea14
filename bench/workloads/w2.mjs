// W2: 20,000 orders a second, a commit a second: how long from produce to visible, for which part of a core?
import { join } from 'node:path';
import { DeltaWatch } from '../lib/delta-watch.mjs';
import { measureLive } from '../lib/live-load.mjs';
import { createPeerTable, startPeer } from '../lib/peer.mjs';
import { freshness } from '../lib/table-check.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { emptyTopic } from '../lib/topics.mjs';
import { medians, round } from '../lib/util.mjs';

const topic = 'orders-live';
const rate = 20_000;
const warmSeconds = 2;
const flushSeconds = 1;
const peerFlushRows = 500_000;

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
  const load = { topic, rate };
  const { total, startedMs, figures } = await measureLive(process, { brokers, load, warmSeconds, seconds, rowsSeen: () => watch.poll() });
  const fresh = await freshness(watch.files, startedMs);
  return {
    p50Ms: round(fresh.p50Ms),
    p99Ms: round(fresh.p99Ms),
    maxMs: round(fresh.maxMs),
    commits: watch.commits.length,
    exact: watch.rows === total && fresh.rows === rate * seconds,
    ...figures,
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
