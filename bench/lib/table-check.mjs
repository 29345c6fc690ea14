// Looks into data files with DuckDB, which shares nothing with the writers.
import { DuckDBInstance } from '@duckdb/node-api';

/** Counts and sums of the orders in the files. */
export async function sumsOf(files) {
  const [row] = await query(
    `select count(*) as rows, count(distinct order_id) as ids_seen, sum(cast(round(amount * 100) as bigint)) as cents, sum(order_id) as ids
     from read_parquet(${listOf(files)})`,
  );
  return { rows: Number(row.rows), distinct: Number(row.ids_seen), cents: Number(row.cents), ids: Number(row.ids) };
}

/** True when the files hold each of the orders exactly once and unchanged in amount. */
export async function holdsExactly(files, expected) {
  if (files.length === 0) return expected.rows === 0;
  const found = await sumsOf(files);
  return found.rows === expected.rows && found.distinct === expected.rows && found.cents === expected.cents && found.ids === expected.ids;
}

/** Milliseconds from an order's own instant to the commit that shows it, over orders at or after `fromMs`. */
export async function freshness(files, fromMs) {
  const commits = files.map(({ path, atMs }) => `(${literal(path)}, ${atMs.toFixed(3)}::double)`).join(', ');
  const [row] = await query(
    `select quantile_cont(delay, 0.5) as p50, quantile_cont(delay, 0.99) as p99, max(delay) as max, count(*) as rows
     from (select c.at_ms - epoch_us(o.ts) / 1000.0 as delay
           from read_parquet(${listOf(files)}, filename = true) o join (values ${commits}) c(path, at_ms) on c.path = o.filename
           where epoch_ms(o.ts) >= ${fromMs})`,
  );
  return { p50Ms: Number(row.p50), p99Ms: Number(row.p99), maxMs: Number(row.max), rows: Number(row.rows) };
}

async function query(sql) {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', autoinstall_known_extensions: 'false' });
  try {
    const connection = await instance.connect();
    return (await connection.runAndReadAll(sql)).getRowObjects();
  } finally {
    instance.closeSync();
  }
}

const literal = (text) => `'${text.replaceAll("'", "''")}'`;
const listOf = (files) => `[${files.map(({ path }) => literal(path)).join(', ')}]`;
