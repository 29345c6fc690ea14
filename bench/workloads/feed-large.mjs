// Feed-large: one version of very many rows, published in many transactions by a process that is killed in the middle of it, and by the next one.
import { join } from 'node:path';
import { createSession, kafkaClient } from '../lib/dist.mjs';
import { startTidewater, sumOfMetric } from '../lib/tidewater.mjs';
import { deleteTopics, partitions } from '../lib/topics.mjs';
import { megabytes, round, sleep } from '../lib/util.mjs';

const prefix = 'bench-feed-large';
const target = `${prefix}.orders`;
const pollMs = 200;
const limitMs = 1_800_000;
const columns = [
  { name: 'id', type: 'long' },
  { name: 'v', type: 'long' },
];
const cases = {
  // All rows are added.
  added: () => [],
  // All rows go, by their places in the files.
  removed: (table, rows) => [`DELETE FROM ${table} WHERE id < ${rows}`],
  // All rows go and come: halves of updates.
  changed: (table) => [`UPDATE ${table} SET v = v + 1`],
};
const properties = {
  delta: "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'",
  iceberg: "'write.delete.mode' = 'merge-on-read', 'format-version' = '3'",
};

export async function runFeedLarge(context) {
  const { formats, keys: rows } = context.options;
  const wanted = (process.env.BENCH_FEED_LARGE ?? 'added,removed').split(',');
  const results = [];
  for (const format of formats) {
    const dir = context.freshDir(`feed-large-${format}`);
    for (const name of wanted) {
      results.push({ case: name, format, rows, ...(await measure(context, { dir: join(dir, name), format, rows, statements: cases[name] })) });
      context.emit({ workload: 'feed-large', ...results.at(-1) });
    }
  }
  context.table(results);
}

async function measure(context, { dir, format, rows, statements }) {
  const { brokers, pid: brokerPid } = await context.broker();
  await deleteTopics(brokers, [target, `${prefix}._positions`]);
  context.log(`making a table of ${rows} rows (${format})`);
  const version = await fill(join(dir, 'tables', 'orders'), { format, rows, statements });
  const feeds = [
    {
      table: 'orders',
      topic: target,
      keyColumns: ['id'],
      envelope: 'flat',
      start: { version },
      compression: 'lz4',
      partitions,
      topicConfig: { 'retention.ms': '-1' },
    },
  ];
  const feedDefaults = { topicPrefix: prefix };
  const start = () => startTidewater({ dir, brokers, brokerPid, format, columns, role: 'cdf', feeds, feedDefaults });
  const startedMs = Date.now();
  const lives = [];
  for (const part of [0.4, 1]) {
    const { process: program, metrics } = await start();
    const isThere = (samples) => {
      const records = sumOfMetric(samples, 'tidewater_cdf_records_total');
      return part < 1 ? records >= rows * part : records > 0 && sumOfMetric(samples, 'tidewater_cdf_lag_versions') === 0;
    };
    const seen = await publishedUntil(program, metrics, isThere);
    if (part < 1) process.kill(program.pid, 'SIGKILL');
    await program.stop();
    lives.push({ ...seen, peakRssMb: megabytes(program.peakRssBytes) });
  }
  const seconds = (Date.now() - startedMs) / 1000;
  const read = await readBack(brokers);
  return {
    seconds: round(seconds, 1),
    rowsPerSecond: Math.round(rows / seconds),
    transactions: lives.map((life) => life.transactions).join(' + '),
    peakRssMb: Math.max(...lives.map((life) => life.peakRssMb)),
    peaks: lives.map((life) => life.peakRssMb).join(' / '),
    exact: read.inOrder && read.keys === rows && read.ids === (BigInt(rows) * BigInt(rows - 1)) / 2n,
  };
}

/** The number of the version that is published. */
async function fill(location, { format, rows, statements }) {
  const session = createSession({ config: { 'tidewater.engine.memoryLimit': '2GiB' } });
  const table = `${format}.\`${location}\``;
  const run = async (sql) => (await session.sql(sql)).collect();
  try {
    await run(`CREATE TABLE ${table} (id BIGINT, v BIGINT) USING ${format} TBLPROPERTIES (${properties[format]})`);
    session.range(rows).createOrReplaceTempView('numbers');
    await run(`INSERT INTO ${table} SELECT id, id % 1000 AS v FROM numbers`);
    const more = statements(table, rows);
    for (const statement of more) await run(statement);
    return 1 + more.length;
  } finally {
    await session.stop();
  }
}

async function publishedUntil(program, metrics, enough) {
  const deadline = Date.now() + limitMs;
  let samples = new Map();
  while (program.running && Date.now() < deadline) {
    const now = await metrics();
    if (now.size > 0) samples = now;
    if (samples.size > 0 && enough(samples)) break;
    await sleep(pollMs);
  }
  return { transactions: sumOfMetric(samples, 'tidewater_cdf_txn_total') };
}

/** What a read_committed consumer sees: rows of each key once, each row behind the one before it in its partition. */
async function readBack(brokers) {
  const client = kafkaClient(brokers);
  const read = { keys: 0, ids: 0n, inOrder: true };
  try {
    for (const { partition, earliest, latest } of await client.admin.offsets(target)) {
      let last = -1;
      let ids = 0;
      for await (const { key, headers } of client.readPartition({ topic: target, partition, from: earliest, until: latest })) {
        const ordinal = Number(headers.find(([name]) => name === 'ordinal')?.[1]);
        if (ordinal <= last) read.inOrder = false;
        last = ordinal;
        read.keys += 1;
        ids += Number(/\d+/.exec(Buffer.from(key ?? []).toString('latin1'))?.[0]);
      }
      read.ids += BigInt(ids);
    }
    return read;
  } finally {
    await client.close();
  }
}
