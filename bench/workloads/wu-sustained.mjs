// wu-sustained: many small commits of random updates with maintenance beside them: how much more than its rows does a table hold in the end, and cost to read?
import { OrdersTables } from '../lib/orders-table.mjs';
import { ProgressWatch } from '../lib/progress-watch.mjs';
import { startTidewater } from '../lib/tidewater.mjs';
import { ensureRecords } from '../lib/topics.mjs';
import { expectedAfter, upsertColumns, upsertRecord, upsertTable } from '../lib/upserts.mjs';
import { measureIngest } from './ingest-run.mjs';
import { isExpected, lookupFigures, reportUpserts } from './upsert-run.mjs';

const topic = 'sustained-upserts';
const eventsPerKey = 2;
const commitsInAll = 200;
const sweepInterval = '10s';
/** A batch is no smaller than what one fetch brings. */
const maxFetchBytes = '64KiB';
const largeLimitMs = 900_000;

export async function runWuSustained(context) {
  const { events, formats } = context.options;
  const keys = events / eventsPerKey;
  const { brokers, pid: brokerPid } = await context.broker();
  await ensureRecords(brokers, { topic, count: events, recordOf: (index) => upsertRecord(index, keys) }, (message) => context.log(message));
  const run = { brokers, brokerPid, events, keys, expected: expectedAfter({ keys, count: events }) };
  const results = {};
  for (const format of formats) {
    const result = await oneRun(context, { ...run, format });
    context.emit({ workload: 'wu-sustained', contender: `tidewater ${format}`, keys, ...context.options.ingest, ...result });
    results[`tidewater ${format}`] = [result];
  }
  reportUpserts(context, 'wu-sustained', results);
}

async function oneRun(context, { brokers, brokerPid, events, expected, format }) {
  const dir = context.freshDir('wu-sustained');
  const batchRows = Math.ceil(events / commitsInAll);
  const ingest = { maxBatchAge: '1s', maxBatchRows: batchRows, maxFetchBytes, workers: context.options.workers, ...context.options.ingest };
  const maintenance = { enabled: true, sweepInterval };
  await context.quiet();
  const settings = { role: 'all', format, ingest, columns: upsertColumns, table: upsertTable, more: { maintenance } };
  const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, ...settings });
  const watch = new ProgressWatch(table, { format });
  const tables = new OrdersTables(dir, format);
  let stored;
  try {
    const result = await measureIngest({
      process,
      location: table,
      rows: events,
      watch,
      limitMs: largeLimitMs,
      whileRunning: async () => {
        // As it is when the last update has come, whatever maintenance may still have in its queue.
        stored = { files: watch.files.length, storedRows: watch.storedRows };
        return lookupFigures(await metrics());
      },
      isExact: async () => isExpected(await tables.sums('orders'), expected),
    });
    await tables.copy('orders', 'fresh');
    return { ...result, ...stored, storedPerRow: stored.storedRows / expected.rows, ...(await tables.scans(['orders', 'fresh'])) };
  } finally {
    await tables.close();
  }
}
