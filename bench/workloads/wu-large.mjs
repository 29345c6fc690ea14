// wu-large: random upserts of a table of 20,000,000 rows, 100,000 a commit, beside a loop of MERGE; with other --keys the same part of them.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OrdersTables } from '../lib/orders-table.mjs';
import { startPeer } from '../lib/peer.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { sumsOf } from '../lib/table-check.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { ensureRecords } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertRecord, upsertTable } from '../lib/upserts.mjs';
import { measureIngest } from './ingest-run.mjs';
import { isExpected, lookupFigures, reportUpserts } from './upsert-run.mjs';

const topic = 'large-upserts';
const keysPerUpsert = 200;
const flushSeconds = 60;
const largeLimitMs = 1_200_000;
/** As tables of `mode: upsert` are made; that their keys were looked at is said, so that it is not part of the run. */
const keyedBy = { 'tidewater.keyed-by': '["order_id"]' };
const made = {
  delta: { format: 'delta', properties: { 'delta.enableDeletionVectors': 'true', 'delta.enableChangeDataFeed': 'true', ...keyedBy } },
  iceberg: { format: 'iceberg', properties: { 'write.merge.mode': 'merge-on-read', ...keyedBy }, identifier: 'order_id' },
};
/** By format: what a run is called, and what is said of its table and its index beside the rest; `isThere`: the index that the run before has made is taken over. */
const kinds = {
  delta: {
    delta: {},
    'delta derived': { table: { changeImages: 'derived' } },
    'delta derived, index there': { table: { changeImages: 'derived' }, isThere: true },
    'delta derived, no index': { table: { changeImages: 'derived' }, index: { enabled: false } },
  },
  iceberg: { iceberg: {}, 'iceberg, index there': { isThere: true }, 'iceberg, no index': { index: { enabled: false } } },
};

export async function runWuLarge(context) {
  const { keys, formats } = context.options;
  const batchRows = keys / keysPerUpsert;
  // All of a topic's partitions fill alike, so that whole batches of events are whole commits but for the last.
  const events = Math.min(context.options.events, 10 * batchRows);
  const { brokers, pid: brokerPid } = await context.broker();
  const recordOf = (index) => upsertRecord(index, keys);
  await ensureRecords(brokers, { topic, count: events, recordOf }, (message) => context.log(message));
  const run = { brokers, brokerPid, events, keys, batchRows };
  const results = {};
  for (const format of formats)
    for (const [name, more] of Object.entries(kinds[format])) {
      const result = await ourRun(context, { ...run, of: format, more });
      context.emit({ workload: 'wu-large', contender: `tidewater ${name}`, keys, batchRows, ...context.options.ingest, ...result });
      results[`tidewater ${name}`] = [result];
    }
  const python = context.peer();
  if (python !== undefined) {
    const result = await peerRun(context, { ...run, python });
    context.emit({ workload: 'wu-large', contender: 'loop', keys, batchRows, ...result });
    results.loop = [result];
  }
  reportUpserts(context, 'wu-large', results);
}

/** A table of the same files that says of itself no more than every writer understands. */
function madePlain(from, to) {
  cpSync(from, to, { recursive: true, filter: (path) => !/\.crc$|checkpoint/.test(path) });
  const first = join(to, 'orders', '_delta_log', `${'0'.repeat(20)}.json`);
  const actions = readFileSync(first, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  for (const action of actions) {
    if (action.protocol) action.protocol = { minReaderVersion: 1, minWriterVersion: 2 };
    if (action.metaData) action.metaData.configuration = {};
  }
  writeFileSync(first, `${actions.map((action) => JSON.stringify(action)).join('\n')}\n`);
}

/** The table as it is before the run, made once for each kind and number of keys. */
async function startFrom(context, dir, { of, keys }) {
  const { format, properties, identifier } = made[of];
  const kept = join(context.root, `large-${of}-${keys}`);
  const complete = join(kept, 'complete');
  const tables = new OrdersTables(dir, format);
  if (!existsSync(complete)) {
    context.log(`making a table (${of}) of ${keys.toLocaleString('en')} orders`);
    rmSync(kept, { recursive: true, force: true });
    await tables.make('orders', keys, properties);
    if (identifier !== undefined) await tables.identify('orders', identifier);
    cpSync(join(dir, 'tables'), join(kept, 'tables'), { recursive: true });
    mkdirSync(complete);
    return tables;
  }
  cpSync(join(kept, 'tables'), join(dir, 'tables'), { recursive: true });
  return tables;
}

async function ourRun(context, { brokers, brokerPid, events, keys, batchRows, of, more: { table: said = {}, index = {}, isThere = false } }) {
  const dir = context.freshDir('wu-large');
  const tables = await startFrom(context, dir, { of, keys });
  try {
    const { format } = made[of];
    const ingest = { maxBatchAge: `${flushSeconds}s`, maxBatchRows: batchRows, workers: context.options.workers, ...context.options.ingest };
    await context.quiet();
    const settings = { format, ingest, columns: upsertColumns, table: { ...upsertTable, properties: {}, ...said } };
    const directory = join(context.root, `large-index-${of}-${keys}`);
    if (!isThere) rmSync(directory, { recursive: true, force: true });
    const keyIndex = { directory, ...index };
    const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, ...settings, more: { commit: { keyIndex } } });
    return await measureIngest({
      process,
      location: table,
      rows: events,
      watch: new ProgressWatch(table, { format }),
      limitMs: largeLimitMs,
      whileRunning: async () => lookupFigures(await metrics()),
      isExact: async () => isExpected(await tables.sums('orders', { distinct: false }), expectedAfter({ keys, count: events, base: keys })),
    });
  } finally {
    await tables.close();
  }
}

async function peerRun(context, { python, brokers, brokerPid, events, keys, batchRows }) {
  const dir = context.freshDir('wu-large-peer');
  await (await startFrom(context, context.freshDir('wu-large'), { of: 'delta', keys })).close();
  madePlain(join(context.root, `large-delta-${keys}`, 'tables'), join(dir, 'tables'));
  const table = join(dir, 'tables', 'orders');
  await context.quiet();
  const args = ['upsert', brokers.join(','), topic, table, String(flushSeconds), String(batchRows)];
  const process = startPeer({ python, script: 'loop.py', args, dir, brokerPid });
  const watch = new ProgressWatch(table, { format: 'delta', lastOffset: true });
  const expected = expectedAfter({ keys, count: events, base: keys });
  return await measureIngest({
    process,
    location: table,
    rows: events,
    watch,
    limitMs: largeLimitMs,
    isExact: async () => isExpected(await sumsOf(watch.files), expected),
  });
}
