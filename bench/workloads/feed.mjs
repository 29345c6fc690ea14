// Feed: the changes of a filled table go to a topic, in transactions, each with the feed's position.
import { kafkaClient } from '../lib/dist.mjs';
import { DeltaWatch } from '../lib/delta-watch.mjs';
import { expectedSums } from '../lib/orders.mjs';
import { startPeer } from '../lib/peer.mjs';
import { startTidewater, sumOfMetric } from '../lib/tidewater.mjs';
import { deleteTopics, emptyTopic, ensureOrders, partitions } from '../lib/topics.mjs';
import { medians, megabytes, round, sleep } from '../lib/util.mjs';

const source = 'orders';
const prefix = 'bench-feed';
const target = `${prefix}.orders`;
const peerTarget = `${prefix}-peer.orders`;
// Each look makes the program print all its metrics, which costs it some milliseconds.
const pollMs = 250;
const limitMs = 120_000;
const fillRowsPerVersion = 250_000;

export async function runFeed(context) {
  const { runs } = context.options;
  const { brokers, pid: brokerPid } = await context.broker();
  const place = { brokers, brokerPid, dir: context.freshDir('feed'), rows: context.options.rows };
  const table = await fillTable(context, place);
  const results = { tidewater: [], loop: [] };
  for (let run = 1; run <= runs; run += 1) {
    results.tidewater.push(await ourRun(context, place));
    context.emit({ workload: 'feed', contender: 'tidewater', run, ...results.tidewater.at(-1) });
    const python = context.peer();
    if (python === undefined) continue;
    results.loop.push(await peerRun(context, place, python, table));
    context.emit({ workload: 'feed', contender: 'loop', run, ...results.loop.at(-1) });
  }
  await deleteTopics(brokers, [target, `${prefix}._positions`, peerTarget]);
  const rows = Object.entries(results).filter(([, of]) => of.length > 0);
  for (const [contender, of] of rows) context.emit({ workload: 'feed', contender, median: true, ...medians(of) });
  context.table(rows.map(([contender, of]) => ({ contender, ...medians(of) })));
}

/** The table that is published, made by our own ingest in versions of 250,000 rows. */
async function fillTable(context, { brokers, brokerPid, dir, rows }) {
  await ensureOrders(brokers, source, rows, (message) => context.log(message));
  context.log('filling the table');
  const ingest = { maxBatchAge: '5s', maxBatchRows: fillRowsPerVersion };
  const { process, table } = await startTidewater({ dir, brokers, brokerPid, topic: source, ingest });
  const watch = new DeltaWatch(table);
  const deadline = Date.now() + limitMs;
  while (watch.poll() < rows && process.running && Date.now() < deadline) await sleep(pollMs);
  await process.stop();
  return table;
}

async function ourRun(context, { brokers, brokerPid, dir, rows }) {
  await deleteTopics(brokers, [target, `${prefix}._positions`]);
  await context.quiet();
  const feeds = [
    // Packed as the loop packs.
    { table: 'orders', topic: target, keyColumns: ['order_id'], start: 'earliest', compression: 'lz4', partitions, topicConfig: { 'retention.ms': '-1' } },
  ];
  const feedDefaults = { topicPrefix: prefix };
  const { process, metrics } = await startTidewater({ dir, brokers, brokerPid, topic: source, role: 'cdf', feeds, feedDefaults });
  const deadline = Date.now() + limitMs;
  const seen = [];
  while ((seen.at(-1)?.records ?? 0) < rows && process.running && Date.now() < deadline) {
    await sleep(pollMs);
    const samples = await metrics();
    const records = sumOfMetric(samples, 'cdf_records_total') || sumOfMetric(samples, 'tidewater_cdf_records_total');
    if (records > (seen.at(-1)?.records ?? 0)) seen.push({ atMs: Date.now(), records });
  }
  const around = process.surroundings();
  const exit = await process.stop();
  const exact = await holdsEachOnce(brokers, target, rows);
  const [first, last] = [seen[0], seen.at(-1)];
  if (first === undefined) return { failed: `nothing published, exit ${exit}` };
  return {
    ...speeds(process, last.atMs, rows),
    steadyRowsPerSecond: Math.round((last.records - first.records) / ((last.atMs - first.atMs) / 1000)),
    firstRecordsSeconds: round((first.atMs - process.startedMs) / 1000, 2),
    transactional: true,
    exact,
    exit,
    ...around,
  };
}

async function peerRun(context, { brokers, brokerPid, dir, rows }, python, table) {
  await emptyTopic(brokers, peerTarget);
  await context.quiet();
  const process = startPeer({ python, script: 'feed.py', args: [brokers.join(','), table, peerTarget], dir, brokerPid });
  await Promise.race([process.exited, sleep(limitMs, { unref: true })]);
  const endMs = Date.now();
  const around = process.surroundings();
  const exit = await process.stop();
  return { ...speeds(process, endMs, rows), transactional: false, exact: await holdsEachOnce(brokers, peerTarget, rows), exit, ...around };
}

function speeds(process, untilMs, rows) {
  const seconds = (untilMs - process.startedMs) / 1000;
  const cpuSeconds = process.cpuSecondsAt(untilMs);
  return {
    rows,
    seconds: round(seconds, 2),
    rowsPerSecond: Math.round(rows / seconds),
    rowsPerCpuSecond: Math.round(rows / cpuSeconds),
    peakRssMb: megabytes(process.peakRssBytes),
  };
}

/** Reads the topic as a read_committed consumer would and adds up its keys: each order once, none more. */
async function holdsEachOnce(brokers, topic, rows) {
  const client = kafkaClient(brokers);
  try {
    let [count, ids] = [0, 0];
    for (const { partition, earliest, latest } of await client.admin.offsets(topic)) {
      for await (const { key } of client.readPartition({ topic, partition, from: earliest, until: latest })) {
        count += 1;
        ids += Number(/\d+/.exec(Buffer.from(key ?? []).toString('latin1'))?.[0]);
      }
    }
    const expected = expectedSums(rows);
    return count === expected.rows && ids === expected.ids;
  } finally {
    await client.close();
  }
}
