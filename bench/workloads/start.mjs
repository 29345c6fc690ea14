// Start: how long from process start to the first commit, with a backlog of 20,000 records and commits each second?
import { join } from 'node:path';
import { createPeerTable, startPeer } from '../lib/peer.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { ensureOrders } from '../lib/topics.mjs';
import { medians } from '../lib/util.mjs';
import { measureIngest } from './ingest-run.mjs';

const topic = 'orders-20k';
const rows = 20_000;
const flushSeconds = 1;

export async function runStart(context) {
  const { brokers, pid: brokerPid } = await context.broker();
  await ensureOrders(brokers, topic, rows, (message) => context.log(message));
  const results = { tidewater: [], loop: [] };
  for (let run = 1; run <= context.options.runs; run += 1) {
    results.tidewater.push(await ourRun(context, brokers, brokerPid));
    context.emit({ workload: 'start', contender: 'tidewater', run, ...results.tidewater.at(-1) });
    const python = context.peer();
    if (python === undefined) continue;
    results.loop.push(await peerRun(context, python, brokers, brokerPid));
    context.emit({ workload: 'start', contender: 'loop', run, ...results.loop.at(-1) });
  }
  const rowsOf = Object.entries(results).filter(([, runs]) => runs.length > 0);
  context.table(
    rowsOf.map(([contender, runs]) => {
      const { firstCommitSeconds, peakRssMb, cpuSeconds, exact, foreignCores } = medians(runs);
      return { contender, 'first commit s': firstCommitSeconds, 'CPU s': cpuSeconds, 'peak MB': peakRssMb, exact, foreign: foreignCores };
    }),
  );
}

async function ourRun(context, brokers, brokerPid) {
  const dir = context.freshDir('start');
  await context.quiet();
  const { process, table } = await startTidewater({ dir, brokers, brokerPid, topic, ingest: { maxBatchAge: `${flushSeconds}s` } });
  return await measureIngest({ process, location: table, rows });
}

async function peerRun(context, python, brokers, brokerPid) {
  const dir = context.freshDir('start-peer');
  const table = join(dir, 'table');
  createPeerTable(python, table);
  await context.quiet();
  const args = ['run', brokers.join(','), topic, table, String(flushSeconds), '500000'];
  return await measureIngest({ process: startPeer({ python, script: 'loop.py', args, dir, brokerPid }), location: table, rows });
}
