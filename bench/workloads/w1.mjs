// W1: a preloaded topic of 2,000,000 orders becomes a table, of each format in turn. From process start to the last commit.
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
  const ours = Object.fromEntries(context.options.formats.map((format) => [format, []]));
  const theirs = [];
  for (let run = 1; run <= runs; run += 1) {
    for (const [format, results] of Object.entries(ours)) {
      results.push(await ourRun(context, { brokers, brokerPid, rows, workers, format }));
      context.emit({ workload: 'w1', contender: 'tidewater', format, run, workers, ...context.options.ingest, ...results.at(-1) });
    }
    const python = context.peer();
    if (python === undefined) continue;
    theirs.push(await peerRun(context, { python, brokers, brokerPid, rows }));
    context.emit({ workload: 'w1', contender: 'loop', run, ...theirs.at(-1) });
  }
  report(context, ours, theirs);
}

async function ourRun(context, { brokers, brokerPid, rows, workers, format }) {
  const dir = context.freshDir('w1');
  const ingest = { maxBatchAge: `${flushSeconds}s`, workers, ...context.options.ingest };
  await context.quiet();
  const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, format, ingest });
  const whileRunning = async () => ({ loopDelayP99Ms: round((loopDelayP99(await metrics()) ?? Number.NaN) * 1000, 1) });
  return await measureIngest({ process, location: table, rows, format, whileRunning });
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
  const results = Object.entries(ours).map(([format, runs]) => [`tidewater ${format}`, medians(runs)]);
  if (theirs.length > 0) results.push(['loop', medians(theirs)]);
  for (const [contender, result] of results) context.emit({ workload: 'w1', contender, median: true, ...result });
  const [[first, reference], ...others] = results;
  const ratios = others.map(([contender, result]) => {
    const [name, upper, lower] = contender === 'loop' ? [`${first} / loop`, reference, result] : [`${contender} / ${first}`, result, reference];
    const ratio = Object.fromEntries(compared.map((key) => [key, round(upper[key] / lower[key], 2)]));
    context.emit({ workload: 'w1', ratio: name, ...ratio });
    return [name, ratio];
  });
  context.table([...results, ...ratios].map(([contender, result]) => rowOf(contender, result)));
}

const compared = ['rowsPerSecond', 'rowsPerSecondBeforeTail', 'rowsPerCpuSecond', 'steadyRowsPerSecond', 'firstCommitSeconds', 'peakRssMb', 'tableMb'];

function rowOf(contender, result) {
  return {
    contender,
    'rows/s': result.rowsPerSecond,
    'before tail rows/s': result.rowsPerSecondBeforeTail,
    'rows/CPU-s': result.rowsPerCpuSecond,
    'steady rows/s': result.steadyRowsPerSecond,
    'first commit s': result.firstCommitSeconds,
    'peak MB': result.peakRssMb,
    'loop p99 ms': result.loopDelayP99Ms,
    files: result.files,
    MB: result.tableMb,
    exact: result.exact,
    foreign: result.foreignCores,
  };
}
