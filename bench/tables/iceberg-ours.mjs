// One case of Iceberg in a process of its own: node iceberg-ours.mjs CASE DIRECTORY. Prints when the work began and ended, and what came out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from '../lib/util.mjs';

const [name, directory] = process.argv.slice(2);
const dist = process.env.BENCH_DIST ?? new URL('../../dist', import.meta.url).pathname;
const { createSession } = await import(pathToFileURL(join(dist, 'index.js')).href);
const statements = JSON.parse(readFileSync(new URL('statements.json', import.meta.url), 'utf8'));
const commits = 20;

const session = createSession({
  config: {
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'jdbc',
    'spark.sql.catalog.lake.uri': `jdbc:sqlite:file:${join(directory, 'catalog.db')}`,
    'spark.sql.catalog.lake.warehouse': `file://${join(directory, 'warehouse')}`,
  },
});
// The engine is loaded by its first query; a program that works with tables has it loaded.
await (await session.sql('SELECT 1 AS one')).collect();

const table = 'lake.bench.orders';
const query = async (sql) => (await (await session.sql(sql)).collect())[0];
const scan = (statement) => async () => {
  const row = await query(statements[statement].replace('orders', table));
  return { n: row.n, customers: row.customers };
};
const merge = async () => {
  session.read.parquet(join(directory, 'keys.parquet')).createOrReplaceTempView('keys');
  await query(`MERGE INTO ${table} t USING keys s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
  return {};
};
const times = [];
const append = async () => {
  for (let commit = 0; commit < commits; commit += 1) {
    const begunMs = performance.now();
    await session.sql(statements.append.replace('orders', table));
    times.push(performance.now() - begunMs);
  }
  return { commits };
};

const cases = {
  'iceberg-load': async () => ({ snapshots: (await query(`SELECT count(*) AS n FROM ${table}.snapshots`)).n }),
  'iceberg-files': async () => {
    const row = await query(`SELECT count(*) AS n, sum(record_count) AS records FROM ${table}.files`);
    return { files: row.n, records: row.records };
  },
  'iceberg-count': async () => ({ n: (await query(`SELECT count(*) AS n FROM ${table}`)).n }),
  'iceberg-plan': scan('scan-selective'),
  'iceberg-scan-full': scan('scan-full'),
  'iceberg-scan-selective': scan('scan-selective'),
  'iceberg-append-10': append,
  'iceberg-append-1000': append,
  'iceberg-merge-copy': merge,
  'iceberg-merge-read': merge,
  'iceberg-compact': async () => {
    const row = await query(`CALL lake.system.rewrite_data_files(table => 'bench.orders')`);
    return { removed: row.rewritten_data_files_count };
  },
  'iceberg-expire': async () => {
    const row = await query(`CALL lake.system.expire_snapshots(table => 'bench.orders', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)`);
    return { files: row.deleted_data_files_count, lists: row.deleted_manifest_lists_count };
  },
};

if (name === 'merge-on-read') {
  await session.sql(`ALTER TABLE ${table} SET TBLPROPERTIES ('write.merge.mode' = 'merge-on-read')`);
} else if (name === 'sums') {
  // What a merge left, by us for all engines, outside of what is measured.
  const row = await query(`SELECT count(*) AS n, sum(order_id) AS ids, sum(customer_id) AS customers, sum(CAST(round(amount * 100) AS BIGINT)) AS cents FROM ${table}`);
  console.log(`SUMS ${JSON.stringify({ n: Number(row.n), ids: String(row.ids), customers: String(row.customers), cents: String(row.cents) })}`);
} else {
  const beganMs = Date.now();
  const check = await cases[name]();
  const endedMs = Date.now();
  const checked = Object.fromEntries(Object.entries(check).map(([key, value]) => [key, Number(value)]));
  console.log(`RESULT ${JSON.stringify({ beganMs, endedMs, check: checked, medianMs: median(times) })}`);
}
await session.stop();
