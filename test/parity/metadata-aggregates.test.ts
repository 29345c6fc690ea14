import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession, type DataFrame, type Row } from '../../src/index.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/*
 * Counts, least and greatest values of a whole table come from its metadata where that is exact (OptimizeMetadataOnlyDeltaQuery, the
 * aggregate pushdown of Iceberg): no data file is opened then, which is seen by there being none.
 */

const asked = [
  'count(*)',
  'count(1)',
  'count(id)',
  'count(name)',
  'min(id)',
  'max(id)',
  'min(day)',
  'max(day)',
  'min(small)',
  'max(void_of)',
];
const together = 'count(*) + 1 AS more, max(id) - min(id) AS span, CAST(min(day) AS STRING) AS first_day, 7 AS seven';
/** What only rows tell. */
const others = [
  'min(name)',
  'max(amount)',
  'sum(id)',
  'count(DISTINCT id)',
  'count(NULL)',
  'count(id, name)',
  'count(*) FILTER (WHERE id > 2)',
  'max(id + 1)',
  'count(struct_of.a)',
];

const columns =
  'id BIGINT, name STRING, day DATE, small SMALLINT, amount DECIMAL(10, 2), at TIMESTAMP, void_of INT, struct_of STRUCT<a: INT>, p INT';
const rows = (from: number, until: number): string =>
  `SELECT id, CASE WHEN id % 3 > 0 THEN concat('n', id) END, date_add(DATE'2024-02-28', CAST(id AS INT)), CAST(id % 5 - 2 AS SMALLINT),
     CAST(id AS DECIMAL(10, 2)), TIMESTAMP'2024-01-01 00:00:00', CAST(NULL AS INT), named_struct('a', CAST(id AS INT)), CAST(id % 2 AS INT)
   FROM range(${from}, ${until})`;

const formats = [
  ['delta', 'USING delta PARTITIONED BY (p)', "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"],
  ['iceberg', 'USING iceberg PARTITIONED BY (p)', "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"],
] as const;

describe.each(formats)('aggregates over whole %s tables', (format, using, properties) => {
  const directory = temporaryDirectory(`metadata-${format}`);
  const session = createSession({
    config: {
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'hadoop',
      'spark.sql.catalog.lake.warehouse': join(directory, 'lake'),
      'tidewater.engine.threads': 2,
    },
    print: () => undefined,
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });
  const nameOf = (table: string): string => (format === 'delta' ? `delta.\`${join(directory, table)}\`` : `lake.db.${table}`);
  const folderOf = (table: string): string => (format === 'delta' ? join(directory, table) : join(directory, 'lake', 'db', table));
  const collect = async (text: string): Promise<readonly Row[]> => (await session.sql(text)).collect();

  async function make(table: string): Promise<string> {
    const name = nameOf(table);
    await session.sql(`CREATE TABLE ${name} (${columns}) ${using} ${properties}`);
    await session.sql(`INSERT INTO ${name} ${rows(0, 40)}`);
    await session.sql(`INSERT INTO ${name} ${rows(40, 90)}`);
    return name;
  }

  function removeData(table: string): void {
    const folder = folderOf(table);
    const data = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.parquet') && !path.includes('_delta_log'),
    );
    expect(data.length).toBeGreaterThan(0);
    for (const path of data) rmSync(join(folder, path));
  }

  it('are the same with and without the rows, and need no data file', async () => {
    const name = await make('whole');
    const list = [...asked.map((value, index) => `${value} AS v${index}`), together].join(', ');
    const counted = await collect(`SELECT ${list} FROM ${name} WHERE id >= 0`);
    expect(counted[0]).toMatchObject({ v0: 90n, v3: 60n, v4: 0n, v5: 89n, v9: null, more: 91n, span: 89n, first_day: '2024-02-28' });
    const frame = session.table(format === 'delta' ? nameOf('whole') : name);
    const types = await (await session.sql(`SELECT ${list} FROM ${name} WHERE id >= 0`)).dtypes;
    removeData('whole');
    const told = await session.sql(`SELECT ${list} FROM ${name}`);
    expect(await told.collect()).toEqual(counted);
    expect(await told.dtypes).toEqual(types);
    const selected = [...asked.map((value, index) => `${value} AS v${index}`), ...together.split(', ')];
    const byFrame = frame.selectExpr(...selected);
    expect(await byFrame.collect()).toEqual(counted);
    expect(await frame.count()).toBe(90);
    expect(await collect(`SELECT x.n FROM (SELECT count(*) AS n FROM ${name}) x ORDER BY 1 LIMIT 5`)).toEqual([{ n: 90n }]);
    for (const value of others) await expect(collect(`SELECT ${value} AS v FROM ${name}`), value).rejects.toThrow();
    await expect(collect(`SELECT count(*) AS v FROM ${name} GROUP BY p`)).rejects.toThrow();
    await expect(collect(`SELECT count(*) AS v FROM ${name} HAVING count(*) > 1`)).rejects.toThrow();
  });

  it('follow deletes and older versions; bounds are taken from rows where rows were deleted', async () => {
    const name = await make('deleted');
    await session.sql(`DELETE FROM ${name} WHERE id IN (0, 88, 89)`);
    const all = `count(*) AS n, min(id) AS low, max(id) AS high, count(name) AS named`;
    expect(await collect(`SELECT ${all} FROM ${name}`)).toEqual([{ n: 87n, low: 1n, high: 87n, named: 58n }]);
    const before = format === 'delta' ? 'VERSION AS OF 2' : `VERSION AS OF ${String(await snapshotBefore(name))}`;
    expect(await collect(`SELECT ${all} FROM ${name} ${before}`)).toEqual([{ n: 90n, low: 0n, high: 89n, named: 60n }]);
    removeData('deleted');
    expect(await collect(`SELECT count(*) AS n FROM ${name}`)).toEqual([{ n: 87n }]);
  });

  it('of a table without rows are 0 and NULL', async () => {
    const name = nameOf('empty');
    await session.sql(`CREATE TABLE ${name} (${columns}) ${using}`);
    const [row] = await collect(`SELECT count(*) AS n, min(id) AS low, max(day) AS last FROM ${name}`);
    expect(row).toEqual({ n: 0n, low: null, last: null });
  });

  async function snapshotBefore(name: string): Promise<unknown> {
    const snapshots: DataFrame = await session.sql(`SELECT snapshot_id FROM ${name}.snapshots ORDER BY committed_at`);
    return (await snapshots.collect())[1]?.['snapshot_id'];
  }
});
