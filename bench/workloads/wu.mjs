// wu: a preloaded topic of 1,000,000 upserts over 200,000 keys becomes a table of each format in turn, beside a loop of MERGE.
import { join } from 'node:path';
import { OrdersTables } from '../lib/orders-table.mjs';
import { createPeerTable, startPeer } from '../lib/peer.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { sumsOf } from '../lib/table-check.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { ensureRecords } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertRecord, upsertTable } from '../lib/upserts.mjs';
import { measureIngest } from './ingest-run.mjs';
import { isExpected, lookupFigures, reportUpserts } from './upsert-run.mjs';

const topic = 'upserts';
const eventsPerKey = 5;
const flushSeconds = 5;
const batchRows = 200_000;
/** By format: what a run is called, and what is said of its table beside the rest. */
const kinds = {
  delta: { delta: {}, 'delta derived': { changeImages: 'derived' } },
  iceberg: { iceberg: {} },
};

export async function runWu(context) {
  const { events, runs } = context.options;
  const keys = events / eventsPerKey;
  const { brokers, pid: brokerPid } = await context.broker();
  await ensureRecords(brokers, { topic, count: events, recordOf: (index) => upsertRecord(index, keys) }, (message) => context.log(message));
  const run = { brokers, brokerPid, events, expected: expectedAfter({ keys, count: events }) };
  const results = {};
  for (let at = 1; at <= runs; at += 1) {
    for (const format of context.options.formats) {
      for (const [name, more] of Object.entries(kinds[format])) {
        const result = await ourRun(context, { ...run, format, more });
        context.emit({ workload: 'wu', contender: `tidewater ${name}`, run: at, ...context.options.ingest, ...result });
        (results[`tidewater ${name}`] ??= []).push(result);
      }
    }
    const python = context.peer();
    if (python === undefined) continue;
    const result = await peerRun(context, { ...run, python });
    context.emit({ workload: 'wu', contender: 'loop', run: at, ...result });
    (results.loop ??= []).push(result);
  }
  reportUpserts(context, 'wu', results);
}

async function ourRun(context, { brokers, brokerPid, events, expected, format, more }) {
  const dir = context.freshDir('wu');
  const ingest = { maxBatchAge: `${flushSeconds}s`, maxBatchRows: batchRows, workers: context.options.workers, ...context.options.ingest };
  await context.quiet();
  const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, format, ingest, columns: upsertColumns, table: { ...upsertTable, ...more } });
  const watch = new ProgressWatch(table, { format });
  const tables = new OrdersTables(dir, format);
  try {
    const result = await measureIngest({
      process,
      location: table,
      rows: events,
      format,
      watch,
      whileRunning: async () => lookupFigures(await metrics()),
      isExact: async () => isExpected(await tables.sums('orders'), expected),
    });
    await tables.copy('orders', 'fresh');
    return { ...result, ...(await tables.scans(['orders', 'fresh'])) };
  } finally {
    await tables.close();
  }
}

async function peerRun(context, { python, brokers, brokerPid, events, expected }) {
  const dir = context.freshDir('wu-peer');
  const table = join(dir, 'table');
  createPeerTable(python, table);
  await context.quiet();
  const args = ['upsert', brokers.join(','), topic, table, String(flushSeconds), String(batchRows)];
  const process = startPeer({ python, script: 'loop.py', args, dir, brokerPid });
  const watch = new ProgressWatch(table, { format: 'delta', lastOffset: true });
  return await measureIngest({ process, location: table, rows: events, watch, isExact: async () => isExpected(await sumsOf(watch.files), expected) });
}
