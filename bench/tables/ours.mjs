// One case in a process of its own: node ours.mjs CASE DATA_DIRECTORY TABLE. Prints when the work began and ended, and what came out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [name, data, table] = process.argv.slice(2);
const dist = process.env.BENCH_DIST ?? new URL('../../dist', import.meta.url).pathname;
const { createSession, DeltaTable } = await import(pathToFileURL(join(dist, 'index.js')).href);
const statements = JSON.parse(readFileSync(new URL('statements.json', import.meta.url), 'utf8'));
const at = `delta.\`${table}\``;

const session = createSession({ config: { 'spark.databricks.delta.retentionDurationCheck.enabled': false } });
// The engine is loaded by its first query; a program that works with tables has it loaded.
await (await session.sql('SELECT 1 AS one')).collect();

const query = async (sql) => (await (await session.sql(sql)).collect())[0];
const scan = async () => {
  const row = await query(statements[name].replace('orders', at));
  return { n: row.n, customers: row.customers };
};

const cases = {
  'load-log': async () => ({ files: (await query(`DESCRIBE DETAIL ${at}`)).numFiles }),
  'load-checkpoint': async () => ({ files: (await query(`DESCRIBE DETAIL ${at}`)).numFiles }),
  count: async () => ({ n: (await query(`SELECT count(*) AS n FROM ${at}`)).n }),
  'scan-full': scan,
  'scan-selective': scan,
  'merge-copy': merge,
  'merge-vectors': merge,
  update: async () => ({ rows: (await query(`UPDATE ${at} SET amount = ${statements.update.set} WHERE ${statements.update.where}`)).num_affected_rows }),
  delete: async () => ({ rows: (await query(`DELETE FROM ${at} WHERE ${statements.delete.where}`)).num_affected_rows }),
  optimize: async () => {
    const row = await query(`OPTIMIZE ${at}`);
    return { removed: row.metrics.numFilesRemoved };
  },
  vacuum: async () => {
    await (await session.sql(`VACUUM ${at} RETAIN 0 HOURS`)).collect();
    return {};
  },
  changes: async () => {
    const frame = session.read.format('delta').option('readChangeFeed', true).option('startingVersion', 4).load(table);
    frame.createOrReplaceTempView('changes');
    const row = await query(
      `SELECT count(*) AS n, sum(order_id) AS ids, max(customer_id) AS a, sum(amount) AS b, max(status) AS c, max(ts) AS d, max(address.street) AS e,
       max(address.city) AS f, max(address.zip) AS g, max(address.country) AS h, sum(size(tags)) AS i, max(_change_type) AS j FROM changes`,
    );
    return { n: row.n, ids: row.ids };
  },
};

async function merge() {
  session.read.parquet(join(data, 'keys.parquet')).createOrReplaceTempView('keys');
  const row = await query(`MERGE INTO ${at} t USING keys s ON t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`);
  return { updated: row.num_updated_rows, inserted: row.num_inserted_rows };
}

if (name === 'prepare-vectors') {
  await session.sql(`ALTER TABLE ${at} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')`);
} else {
  const beganMs = Date.now();
  const check = await cases[name]();
  const endedMs = Date.now();
  const text = (value) => (typeof value === 'bigint' ? Number(value) : value);
  const checked = Object.fromEntries(Object.entries(check).map(([key, value]) => [key, text(value)]));
  console.log(`RESULT ${JSON.stringify({ beganMs, endedMs, check: checked })}`);
}
await session.stop();
