import { describe, expect, it } from 'vitest';
import { temporarySession } from '../../../support/temporary-session.ts';

/** Values of the specification of Iceberg and of Spark's documentation. */
describe('functions', () => {
  it.each([
    ['system.bucket(16, 34)', 3],
    ["spark_catalog.system.bucket(16, 'iceberg')", 9],
    ['system.truncate(10, -1)', -10],
    ["system.truncate(3, 'iceberg')", 'ice'],
    ['system.truncate(50, 10.65)', '10.50'],
    ["system.years(DATE '2017-11-16')", 47],
    ["system.months(DATE '2017-11-16')", 574],
    ["system.days(TIMESTAMP '2017-11-16 22:31:08')", '2017-11-16'],
    ["system.hours(TIMESTAMP '2017-11-16 22:31:08')", 419_686],
    ['current_catalog()', 'spark_catalog'],
    ['current_schema()', 'default'],
    ['1 + 1 << 2', 8],
    ['CAST(array(array(1)) AS ARRAY<ARRAY<INT>>)[0][0] >> 0', 1],
    ["overlay('Spark SQL' PLACING 'ANSI ' FROM 7 FOR 0)", 'Spark ANSI SQL'],
  ])('%s is %s', async (text, expected) => {
    await using made = await temporarySession();
    const rows = await (await made.session.sql(`SELECT ${text} AS value`)).collect();
    expect(rows).toEqual([{ value: expected }]);
  });

  it('stack makes rows of its values', async () => {
    await using made = await temporarySession();
    const rows = await (await made.session.sql("SELECT stack(2, 1, 'a', 2, 'b')")).collect();
    expect(rows).toEqual([
      { col0: 1, col1: 'a' },
      { col0: 2, col1: 'b' },
    ]);
  });

  it('WITHIN GROUP orders what is aggregated', async () => {
    await using made = await temporarySession();
    const text =
      "SELECT listagg(k, '-') WITHIN GROUP (ORDER BY v DESC) AS joined, percentile_disc(0.25) WITHIN GROUP (ORDER BY v DESC) AS share FROM VALUES ('a', 1), ('b', 3), ('c', 2) AS t(k, v)";
    expect(await (await made.session.sql(text)).collect()).toEqual([{ joined: 'b-c-a', share: 3 }]);
  });

  it('a buckets condition finds the rows of the bucket', async () => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql('CREATE TABLE t (id INT) USING iceberg PARTITIONED BY (bucket(4, id))');
    await session.sql('INSERT INTO t VALUES (1), (2), (3), (4)');
    const bucket = 'partition.id_bucket';
    const counted = await (await session.sql(`SELECT ${bucket} AS bucket, record_count AS rows FROM t.partitions ORDER BY 1`)).collect();
    const computed = await (
      await session.sql('SELECT system.bucket(4, id) AS bucket, count(*) AS rows FROM t GROUP BY system.bucket(4, id) ORDER BY 1')
    ).collect();
    expect(computed).toEqual(counted);
  });
});
