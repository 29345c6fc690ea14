// W1: a preloaded topic of 2,000,000 orders becomes a table. From process start to the last commit.
import { join } from 'node:path';
import { createPeerTable, startPeer } from '../lib/peer.mjs';
import { loopDelayP99, startTidewater } from '../lib/tidewater.mjs';
import { ensureOrders } from '../lib/topics.mjs';
import { medians, round } from '../lib/util.mjs';
import { measureIngest } from './ingest-run.mjs';

const topic = 'orders';
const flushSeconds = 5;
const peerFlushRows = 500_000;

export async function runW1(context) {
  const { rows, runs, workers } = context.options;
  const { brokers, pid: brokerPid } = await context.broker();
  await ensureOrders(brokers, topic, rows, (message) => context.log(message));
  const ours = [];
  const theirs = [];
  for (let run = 1; run <= runs; run += 1) {
    ours.push(await ourRun(context, { brokers, brokerPid, rows, workers }));
    context.emit({ workload: 'w1', contender: 'tidewater', run, workers, ...context.options.ingest, ...ours.at(-1) });
    const python = context.peer();
    if (python === undefined) continue;
    theirs.push(await peerRun(context, { python, brokers, brokerPid, rows }));
    context.emit({ workload: 'w1', contender: 'loop', run, ...theirs.at(-1) });
  }
  report(context, ours, theirs);
}

async function ourRun(context, { brokers, brokerPid, rows, workers }) {
  const dir = context.freshDir('w1');
  const ingest = { maxBatchAge: `${flushSeconds}s`, workers, ...context.options.ingest };
  await context.quiet();
  const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, ingest });
  const whileRunning = async () => ({ loopDelayP99Ms: round((loopDelayP99(await metrics()) ?? Number.NaN) * 1000, 1) });
  return await measureIngest({ process, location: table, rows, whileRunning });
}

async function peerRun(context, { python, brokers, brokerPid, rows }) {
  const dir = context.freshDir('w1-peer');
  const table = join(dir, 'table');
  createPeerTable(python, table);
  await context.quiet();
  const args = ['run', brokers.join(','), topic, table, String(flushSeconds), String(peerFlushRows)];
  const process = startPeer({ python, script: 'loop.py', args, dir, brokerPid });
  return await measureIngest({ process, location: table, rows });
}

function report(context, ours, theirs) {
  const [we, they] = [medians(ours), theirs.length === 0 ? undefined : medians(theirs)];
  context.emit({ workload: 'w1', contender: 'tidewater', median: true, ...we });
  const row = (contender, result) => ({
    contender,
    'rows/s': result.rowsPerSecond,
    'rows/CPU-s': result.rowsPerCpuSecond,
    'steady rows/s': result.steadyRowsPerSecond,
    'first commit s': result.firstCommitSeconds,
    'peak MB': result.peakRssMb,
    'loop p99 ms': result.loopDelayP99Ms,
    files: result.files,
    MB: result.tableMb,
    exact: result.exact,
    foreign: result.foreignCores,
  });
  if (they === undefined) return context.table([row('tidewater', we)]);
  const ratio = (key) => round(we[key] / they[key], 2);
  const ratios = Object.fromEntries(
    ['rowsPerSecond', 'rowsPerCpuSecond', 'steadyRowsPerSecond', 'firstCommitSeconds', 'peakRssMb', 'tableMb'].map((key) => [key, ratio(key)]),
  );
  context.emit({ workload: 'w1', contender: 'loop', median: true, ...they });
  context.emit({ workload: 'w1', ratio: 'tidewater / loop', ...ratios });
  context.table([row('tidewater', we), row('loop', they), row('ratio', ratios)]);
}
