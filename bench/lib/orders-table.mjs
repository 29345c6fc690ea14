// A table of orders as a session of ours reads and makes it.
import { join } from 'node:path';
import { createSession } from './dist.mjs';
import { median, round } from './util.mjs';

const columnsSql = `order_id BIGINT NOT NULL, customer_id BIGINT, amount DOUBLE, status STRING, ts TIMESTAMP,
  address STRUCT<street: STRING, city: STRING, zip: STRING, country: STRING>, tags ARRAY<STRING>`;
const rowsPerInsert = 1_000_000;
const scanRuns = 5;
const everyColumn = `SELECT count(*) AS n, sum(order_id) AS a, max(customer_id) AS b, sum(amount) AS c, max(status) AS d, max(ts) AS e,
  max(address.street) AS f, max(address.city) AS g, max(address.zip) AS h, max(address.country) AS i, sum(size(tags)) AS j FROM `;

/** Cents of order `key` in a table that `makeOrders` made. */
export const madeCents = (key) => (key % 100_000) + 1;

/** Tables lie in `directory/tables`, of both formats. */
export class OrdersTables {
  #session;
  #directory;
  #format;

  constructor(directory, format) {
    this.#directory = directory;
    this.#format = format;
    this.#session = createSession({
      config: {
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': directory,
      },
    });
  }

  close() {
    return this.#session.stop();
  }

  #nameOf(table) {
    return this.#format === 'delta' ? `delta.\`${join(this.#directory, 'tables', table)}\`` : `ice.tables.${table}`;
  }

  async #rows(sql) {
    return await (await this.#session.sql(sql)).collect();
  }

  async #create(table, properties) {
    const told = Object.entries(properties).map(([key, value]) => `'${key}' = '${value}'`);
    await this.#rows(`CREATE TABLE ${this.#nameOf(table)} (${columnsSql}) USING ${this.#format}${told.length === 0 ? '' : ` TBLPROPERTIES (${told.join(', ')})`}`);
  }

  /** Orders 0 to count - 1, in files whose bounds all hold all of them: what statistics can tell of random keys is nothing. */
  async make(table, count, properties) {
    await this.#create(table, properties);
    for (let from = 0; from < count; from += rowsPerInsert) {
      const until = Math.min(count, from + rowsPerInsert);
      await this.#rows(
        `INSERT INTO ${this.#nameOf(table)} SELECT id AS order_id, id * 31 % 500000 AS customer_id, CAST(id % 100000 + 1 AS DOUBLE) / 100 AS amount,
         element_at(array('created', 'paid', 'packed', 'shipped'), CAST(id % 4 + 1 AS INT)) AS status, timestamp_millis(1767225600000 + id) AS ts,
         named_struct('street', concat(CAST(id * 17 % 9900 AS STRING), ' Main Street'), 'city', concat('City ', CAST(id % 12 AS STRING)),
           'zip', CAST(id * 13 % 100000 AS STRING), 'country', concat('C', CAST(id % 12 AS STRING))) AS address,
         array(concat('tag', CAST(id % 12 AS STRING)), concat('tag', CAST(id * 7 % 12 AS STRING))) AS tags
         FROM (SELECT id * 7919 % ${count} AS id FROM range(${from}, ${until}))`,
      );
    }
  }

  /** Says what tells the rows of an Iceberg table apart. */
  async identify(table, column) {
    await this.#rows(`ALTER TABLE ${this.#nameOf(table)} SET IDENTIFIER FIELDS ${column}`);
  }

  /** The rows of `table` in a table that is written anew. */
  async copy(table, into) {
    await this.#create(into, {});
    await this.#rows(`INSERT INTO ${this.#nameOf(into)} SELECT * FROM ${this.#nameOf(table)}`);
  }

  /** `distinct` false: of a large table keys are not held to count them, and taken for as many as rows. */
  async sums(table, { distinct = true } = {}) {
    const [row] = await this.#rows(
      `SELECT count(*) AS n, ${distinct ? 'count(DISTINCT order_id)' : 'count(*)'} AS k, sum(CAST(amount * 100 + 0.5 AS BIGINT)) AS cents, sum(order_id) AS ids FROM ${this.#nameOf(table)}`,
    );
    return { rows: Number(row.n), distinct: Number(row.k), cents: Number(row.cents), ids: Number(row.ids) };
  }

  /** Reads all columns of the tables in turn, the last of them as the measure: CPU-seconds and seconds of each, and the ratio of the first to the last. */
  async scans(tables) {
    const seen = tables.map(() => ({ cpu: [], wall: [] }));
    for (let run = 0; run < scanRuns; run += 1) {
      for (const [index, table] of tables.entries()) {
        const beganMs = performance.now();
        const began = process.cpuUsage();
        await this.#rows(everyColumn + this.#nameOf(table));
        const { user, system } = process.cpuUsage(began);
        seen[index].cpu.push((user + system) / 1e6);
        seen[index].wall.push((performance.now() - beganMs) / 1000);
      }
    }
    const [after, fresh] = seen.map(({ cpu, wall }) => ({ cpu: median(cpu), wall: median(wall) }));
    return {
      scanCpuSeconds: round(after.cpu, 3),
      freshScanCpuSeconds: round(fresh.cpu, 3),
      scanRatioCpu: round(after.cpu / fresh.cpu, 2),
      scanRatio: round(after.wall / fresh.wall, 2),
    };
  }
}
