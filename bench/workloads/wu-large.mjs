// wu-large: random upserts of a table of 20,000,000 rows, 100,000 a commit; with other --keys the same part of them.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OrdersTables } from '../lib/orders-table.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { ensureRecords } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertRecord, upsertTable } from '../lib/upserts.mjs';
import { measureIngest } from './ingest-run.mjs';
import { isExpected, lookupFigures, reportUpserts } from './upsert-run.mjs';

const topic = 'large-upserts';
const keysPerUpsert = 200;
const flushSeconds = 60;
/** As tables of `mode: upsert` are made; that their keys were looked at is said, so that it is not part of the run. */
const keyedBy = { 'tidewater.keyed-by': '["order_id"]' };
const kinds = {
  delta: { format: 'delta', properties: { 'delta.enableDeletionVectors': 'true', 'delta.enableChangeDataFeed': 'true', ...keyedBy } },
  'delta, no feed': { format: 'delta', properties: { 'delta.enableDeletionVectors': 'true', ...keyedBy } },
};

export async function runWuLarge(context) {
  const { keys } = context.options;
  const batchRows = keys / keysPerUpsert;
  // All of a topic's partitions fill alike, so that whole batches of events are whole commits but for the last.
  const events = Math.min(context.options.events, 10 * batchRows);
  const { brokers, pid: brokerPid } = await context.broker();
  const recordOf = (index) => upsertRecord(index, keys);
  await ensureRecords(brokers, { topic, count: events, recordOf }, (message) => context.log(message));
  const run = { brokers, brokerPid, events, keys, batchRows };
  const results = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const result = await ourRun(context, { ...run, kind });
    context.emit({ workload: 'wu-large', contender: `tidewater ${name}`, keys, batchRows, ...context.options.ingest, ...result });
    results[`tidewater ${name}`] = [result];
  }
  reportUpserts(context, 'wu-large', results);
}

/** The table as it is before the run, made once for each kind and number of keys. */
async function startFrom(context, dir, { kind: { format, properties }, keys }) {
  const made = join(context.root, `large-${format}-${Object.keys(properties).length}-${keys}`);
  const complete = join(made, 'tables', 'complete');
  const tables = new OrdersTables(dir, format);
  if (!existsSync(complete)) {
    context.log(`making a ${format} table of ${keys.toLocaleString('en')} orders`);
    await tables.make('orders', keys, properties);
    rmSync(made, { recursive: true, force: true });
    cpSync(join(dir, 'tables'), join(made, 'tables'), { recursive: true });
    cpSync(join(dir, 'tables', 'orders', '_delta_log', `${'0'.repeat(20)}.json`), complete);
    return tables;
  }
  cpSync(join(made, 'tables'), join(dir, 'tables'), { recursive: true });
  return tables;
}

async function ourRun(context, { brokers, brokerPid, events, keys, batchRows, kind }) {
  const dir = context.freshDir('wu-large');
  const tables = await startFrom(context, dir, { kind, keys });
  try {
    const { format } = kind;
    const ingest = { maxBatchAge: `${flushSeconds}s`, maxBatchRows: batchRows, workers: context.options.workers, ...context.options.ingest };
    await context.quiet();
    const settings = { format, ingest, columns: upsertColumns, table: { ...upsertTable, properties: {} } };
    const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, ...settings });
    const result = await measureIngest({
      process,
      location: table,
      rows: events,
      watch: new ProgressWatch(table, { format }),
      whileRunning: async () => lookupFigures(await metrics()),
      isExact: async () => isExpected(await tables.sums('orders'), expectedAfter({ keys, count: events, base: keys })),
    });
    await tables.copy('orders', 'fresh');
    return { ...result, ...(await tables.scans(['orders', 'fresh'])) };
  } finally {
    await tables.close();
  }
}
