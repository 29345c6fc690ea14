// Memory: does the process keep to `ingest.memory` with a backlog, with 9,000 partitions (a broker refuses to create 10,000 at once), with records of 50 MB? Peaks are those of the process tree.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DeltaWatch } from '../lib/delta-watch.mjs';
import { RecordBatchBuilder, startEmbeddedKafka } from '../lib/dist.mjs';
import { startTidewater, sumOfMetric } from '../lib/tidewater.mjs';
import { ensureOrders, makeTopic } from '../lib/topics.mjs';
import { megabytes, round, sleep } from '../lib/util.mjs';

const limitMs = 300_000;
const pollMs = 200;
const partitionCount = Number(process.env.BENCH_PARTITIONS ?? 9_000);
const bigRecordBytes = 50_000_000;
const bigRecords = 12;
const utf8 = new TextEncoder();
const budgets = (process.env.BENCH_BUDGETS ?? '512MiB,1GiB,2GiB').split(',');
const wanted = (process.env.BENCH_MEMORY ?? 'backlog,partitions,records').split(',');

export async function runMemory(context) {
  const cases = { backlog, partitions, records };
  const results = [];
  for (const name of wanted) {
    for (const budget of budgets) {
      const { contender = name, ...result } = await cases[name](context, budget);
      results.push({ case: contender, budget, ...result });
      context.emit({ workload: 'memory', ...results.at(-1) });
    }
    await closeBroker();
  }
  context.table(results);
}

async function backlog(context, budget) {
  const { brokers, pid } = await context.broker();
  const { rows } = context.options;
  await ensureOrders(brokers, 'orders', rows, (message) => context.log(message));
  return await measure(context, { budget, brokers, brokerPid: pid, topic: 'orders', rows });
}

let broker;

async function closeBroker() {
  await broker?.stop();
  broker = undefined;
}

/** A broker of its own: so many logs are not left to the others. */
async function partitions(context, budget) {
  const topic = 'many';
  if (broker === undefined) {
    const properties = ['log.index.size.max.bytes=4096', 'num.network.threads=2', 'num.io.threads=2'];
    const variant = { listeners: [], properties, formatArgs: [] };
    broker = await startEmbeddedKafka({ dir: context.freshDir('many-partitions'), variant, log: (message) => context.log(message) });
    const startedMs = Date.now();
    await makeTopic(broker.brokers, { topic, count: partitionCount, config: { 'segment.index.bytes': '4096' } }, async (send) => {
      for (let first = 0; first < partitionCount; first += 500) {
        const batches = Array.from({ length: Math.min(500, partitionCount - first) }, (_, index) => ({
          ...packed(topic, first + index, 10, (n) => utf8.encode(JSON.stringify({ id: (first + index) * 10 + n, body: 'x'.repeat(200) }))),
        }));
        await send(batches);
      }
    });
    context.log(`${partitionCount} partitions in ${round((Date.now() - startedMs) / 1000, 1)} s`);
  }
  return await measure(context, { budget, brokers: broker.brokers, brokerPid: broker.pid, topic, rows: partitionCount * 10, columns: bodies });
}

async function records(context, budget) {
  const { brokers, pid } = await context.broker();
  const topic = 'large';
  const body = randomBytes((bigRecordBytes * 3) / 4).toString('base64');
  await makeTopic(brokers, { topic, count: 2, config: { 'max.message.bytes': '100000000' } }, async (send) => {
    for (let id = 0; id < bigRecords; id += 1)
      await send([packed(topic, id % 2, 1, () => utf8.encode(JSON.stringify({ id, body })))]);
  });
  return await measure(context, { budget, brokers, brokerPid: pid, topic, rows: bigRecords, columns: bodies });
}

const bodies = [
  { name: 'id', type: 'long' },
  { name: 'body', type: 'string' },
];

function packed(topic, partition, count, valueOf) {
  const builder = new RecordBatchBuilder({ compression: 'lz4' });
  for (let index = 0; index < count; index += 1) builder.append({ value: valueOf(index), timestampMs: 1_767_225_600_000 });
  return { topic, partition, ...builder.finish() };
}

async function measure(context, { budget, brokers, brokerPid, topic, rows, columns }) {
  const dir = context.freshDir('memory');
  const ingest = { ...(budget === '-' ? {} : { memory: budget }), ...context.options.ingest };
  const { process, table, metrics } = await startTidewater({ dir, brokers, brokerPid, topic, columns, ingest });
  const watch = new DeltaWatch(table);
  const deadline = Date.now() + limitMs;
  let heldBytes = 0;
  let lettered = 0;
  while (watch.poll() + lettered < rows && process.running && Date.now() < deadline) {
    const samples = await metrics();
    heldBytes = Math.max(heldBytes, sumOfMetric(samples, 'tidewater_ingest_memory_held_bytes'));
    lettered = sumOfMetric(samples, 'tidewater_ingest_records_dead_lettered_total');
    await sleep(pollMs);
  }
  const seconds = round((Date.now() - process.startedMs) / 1000, 1);
  const exit = await process.stop();
  watch.poll();
  return { rows: watch.rows, of: rows, letters: lettered, peakMb: megabytes(process.peakRssBytes), heldMb: megabytes(heldBytes), seconds, commits: watch.commits.length, dir: join(dir), exit };
}
