import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { col, functions } from '../../src/index.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Partitioning of Iceberg tables, and statements that make them. */
describe('definitions of Iceberg tables', () => {
  const bench = icebergBench();

  it('A11: ADD PARTITION FIELD holds for rows that come afterwards, and old rows are still found', async () => {
    const { sql, session } = bench();
    await sql("CREATE TABLE db.evolved USING iceberg AS SELECT id, CASE WHEN id < 2 THEN 'a' ELSE 'b' END AS p FROM range(4)");
    const before = [await bench().snapshots('db.evolved'), bench().dataFiles('evolved')];
    await sql('ALTER TABLE db.evolved ADD PARTITION FIELD p');
    expect([await bench().snapshots('db.evolved'), bench().dataFiles('evolved')]).toEqual(before);
    await sql("INSERT INTO db.evolved VALUES (10, 'a'), (11, 'b')");
    expect(
      bench()
        .dataFiles('evolved')
        .filter((name) => name.startsWith('p=')),
    ).toHaveLength(2);
    expect(await sql("SELECT id FROM db.evolved WHERE p = 'a' ORDER BY id")).toEqual([{ id: 0n }, { id: 1n }, { id: 10n }]);
    const [read] = (await session.table('db.evolved').where("p = 'a'").explanation()).tables;
    // The old file holds both values; of the others one is left out.
    expect(read).toMatchObject({ filesConsidered: 3, filesSelected: 2 });
    expect(bench().metadata('evolved')).toMatchObject({ 'default-spec-id': 1, 'last-partition-id': 1000 });
    await bench().agree('evolved');
  });

  it.each([
    ['identity', 's', 's', ['a1', 'b2', null]],
    ['bucket', 'bucket(4, id)', 'id_bucket_4', [0, 1, 2, 3]],
    ['truncate', 'truncate(1, s)', 's_trunc_1', ['a', 'b', null]],
    ['years', 'years(ts)', 'ts_year', [53, 54, null]],
    ['months', 'months(ts)', 'ts_month', [647, 648, null]],
    ['days', 'days(ts)', 'ts_day', ['2023-12-31', '2024-01-01', null]],
    ['hours', 'hours(ts)', 'ts_hour', [473_351, 473_352, null]],
  ] as const)('A11: %s is added as a partition field, written, and dropped again', async (name, transform, field, values) => {
    const { sql } = bench();
    const table = `by_${name}`;
    await sql(`CREATE TABLE db.${table} (id BIGINT, s STRING, ts TIMESTAMP) USING iceberg`);
    await sql(`INSERT INTO db.${table} VALUES (0, 'old', NULL)`);
    await sql(`ALTER TABLE db.${table} ADD PARTITION FIELD ${transform}`);
    await sql(
      `INSERT INTO db.${table} VALUES (1, 'a1', TIMESTAMP '2023-12-31 23:59:59'), (2, 'b2', TIMESTAMP '2024-01-01 00:00:00'), (3, NULL, NULL)`,
    );
    const partitions = (await sql(`SELECT partition.${field} AS v FROM db.${table}.files WHERE spec_id = 1`)).map((row) => row['v']);
    for (const value of partitions) expect(values).toContain(value);
    if (name !== 'bucket') expect(new Set<unknown>(partitions)).toEqual(new Set<unknown>(values));
    expect((await bench().rows(`db.${table}`)).map((row) => row['id'])).toEqual([0n, 1n, 2n, 3n]);
    expect(await sql(`SELECT id FROM db.${table} WHERE ts >= TIMESTAMP '2024-01-01'`)).toEqual([{ id: 2n }]);
    await bench().agree(table);
    await sql(`ALTER TABLE db.${table} DROP PARTITION FIELD ${transform}`);
    await sql(`INSERT INTO db.${table} VALUES (4, 'x', NULL)`);
    expect((await bench().rows(`db.${table}`)).map((row) => row['id'])).toEqual([0n, 1n, 2n, 3n, 4n]);
    await bench().agree(table);
  });

  it('A11: REPLACE PARTITION FIELD, with names of their own', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.swapped (id BIGINT, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts))');
    await sql("INSERT INTO db.swapped VALUES (1, TIMESTAMP '2024-01-01 05:00:00')");
    await sql('ALTER TABLE db.swapped REPLACE PARTITION FIELD ts_day WITH hours(ts) AS hour');
    await sql('ALTER TABLE db.swapped ADD PARTITION FIELD bucket(16, id) AS shard');
    await sql("INSERT INTO db.swapped VALUES (2, TIMESTAMP '2024-01-01 06:00:00')");
    expect(
      bench()
        .dataFiles('swapped')
        .map((name) => name.split('/').slice(0, -1).join('/')),
    ).toEqual([expect.stringMatching(/^hour=2024-01-01-06\/shard=\d+$/) as string, 'ts_day=2024-01-01']);
    expect(await sql('SHOW CREATE TABLE db.swapped')).toEqual([
      { createtab_stmt: expect.stringContaining('PARTITIONED BY (hours(ts), bucket(16, id))') as string },
    ]);
    await sql('ALTER TABLE db.swapped DROP PARTITION FIELD shard');
    await bench().agree('swapped');
    // A field that an earlier specification had gets its id again.
    await sql('ALTER TABLE db.swapped REPLACE PARTITION FIELD hour WITH days(ts)');
    const specs = bench().metadata('swapped')['partition-specs'] as readonly { readonly fields: readonly Record<string, unknown>[] }[];
    expect(specs.at(0)?.fields[0]).toMatchObject({ name: 'ts_day', 'field-id': 1000 });
  });

  it('A11: fields that are there, not there, or of the wrong type are refused', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.refused (id INT, s STRING, ts TIMESTAMP) USING iceberg PARTITIONED BY (s)');
    expect((await refusalOf(sql('ALTER TABLE db.refused ADD PARTITION FIELD s'))).message).toBe(
      'Cannot add duplicate partition field null=ref(name="s"), conflicts with 1000: s: identity(2)',
    );
    await refusalOf(sql('ALTER TABLE db.refused DROP PARTITION FIELD bucket(4, id)'));
    await refusalOf(sql('ALTER TABLE db.refused ADD PARTITION FIELD days(s)'));
    await refusalOf(sql('ALTER TABLE db.refused ADD PARTITION FIELD truncate(4, ts)'));
    await refusalOf(sql('ALTER TABLE db.refused ADD PARTITION FIELD nope'));
    await refusalOf(sql('ALTER TABLE db.refused ADD PARTITION FIELD frobnicate(id)'));
    expect(bench().metadata('refused')).toMatchObject({ 'default-spec-id': 0 });
  });

  it('A12: CREATE TABLE takes columns, partitions, place, comment and properties', async () => {
    const { sql, directory } = bench();
    const elsewhere = join(directory, 'ice', 'db', 'full');
    await sql(`CREATE TABLE IF NOT EXISTS db.full (id BIGINT NOT NULL COMMENT 'key', ts TIMESTAMP, s STRING) USING iceberg
      PARTITIONED BY (days(ts), bucket(4, id), truncate(2, s)) COMMENT 'all of it' LOCATION '${elsewhere}'
      TBLPROPERTIES ('write.format.default' = 'parquet', 'team' = 'me')`);
    const metadata = bench().metadata('full');
    expect(metadata).toMatchObject({ 'format-version': 2, location: elsewhere, 'last-partition-id': 1002, 'last-column-id': 3 });
    expect(metadata['current-snapshot-id'] ?? -1).toBe(-1);
    expect(metadata['properties']).toMatchObject({ team: 'me', comment: 'all of it', 'write.parquet.compression-codec': 'zstd' });
    expect(metadata['partition-specs']).toEqual([
      {
        'spec-id': 0,
        fields: [
          { name: 'ts_day', transform: 'day', 'source-id': 2, 'field-id': 1000 },
          { name: 'id_bucket', transform: 'bucket[4]', 'source-id': 1, 'field-id': 1001 },
          { name: 's_trunc', transform: 'truncate[2]', 'source-id': 3, 'field-id': 1002 },
        ],
      },
    ]);
    await sql('CREATE TABLE IF NOT EXISTS db.full (other INT) USING iceberg');
    expect(await bench().session.table('db.full').columns).toEqual(['id', 'ts', 's']);
    expect(await refusalOf(sql('CREATE TABLE db.full (other INT) USING iceberg'))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
      sqlState: '42P07',
      message: expect.stringMatching(/^Cannot create table or view .*`db`\.`full` because it already exists\./) as string,
    });
    await bench().agree('full');
  });

  it('A12: CREATE TABLE AS SELECT makes table and rows in one, an append', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.ctas USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v') AS SELECT id, id % 2 AS p FROM range(4)");
    expect(await bench().lastSnapshot('db.ctas')).toMatchObject({ operation: 'append', parent: null });
    expect(bench().dataFiles('ctas')).toHaveLength(2);
    expect(existsSync(join(bench().path('ctas'), 'metadata', 'v2.metadata.json'))).toBe(false);
    await bench().agree('ctas');
  });

  it('A12: CREATE OR REPLACE and REPLACE TABLE keep uuid and history', async () => {
    const { sql } = bench();
    await sql('CREATE OR REPLACE TABLE db.rtas USING iceberg AS SELECT 1 AS id');
    const before = bench().metadata('rtas');
    await sql('REPLACE TABLE db.rtas USING iceberg PARTITIONED BY (bucket(2, key)) AS SELECT 2 AS key, 3 AS other');
    expect(await sql('SELECT * FROM db.rtas')).toEqual([{ key: 2, other: 3 }]);
    await sql("CREATE OR REPLACE TABLE db.rtas (name STRING) USING iceberg TBLPROPERTIES ('x' = 'y')");
    expect(await sql('SELECT * FROM db.rtas')).toEqual([]);
    const after = bench().metadata('rtas');
    expect(after['table-uuid']).toBe(before['table-uuid']);
    expect(after['snapshots']).toHaveLength(2);
    expect(after['properties']).toMatchObject({ x: 'y' });
    expect((await refusalOf(sql('REPLACE TABLE db.nothing USING iceberg AS SELECT 1 AS id'))).errorClass).toBe('TABLE_OR_VIEW_NOT_FOUND');
    await bench().agree('rtas');
  });

  it('A12: DataFrames and SQL make the same partitioning', async () => {
    const { session } = bench();
    const frame = session.range(3).withColumn('ts', functions.expr("TIMESTAMP '2024-01-01 00:00:00'"));
    await frame
      .writeTo('db.framed')
      .using('iceberg')
      .partitionedBy(functions.bucket(4, col('id')), functions.days(col('ts')))
      .create();
    expect(bench().metadata('framed')['partition-specs']).toMatchObject([{ fields: [{ transform: 'bucket[4]' }, { transform: 'day' }] }]);
    await frame.write.format('iceberg').partitionBy('id').saveAsTable('db.saved');
    expect(bench().dataFiles('saved')).toHaveLength(3);
    await bench().agree('framed');
  });

  it('A12: WRITE ORDERED BY gives tables a sort order, which files and statements have', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.ordered (id INT, v STRING) USING iceberg');
    await sql('ALTER TABLE db.ordered WRITE ORDERED BY id DESC NULLS LAST, v');
    expect(bench().metadata('ordered')).toMatchObject({ 'default-sort-order-id': 1 });
    expect(bench().metadata('ordered')['sort-orders']).toEqual([
      { 'order-id': 0, fields: [] },
      {
        'order-id': 1,
        fields: [
          { transform: 'identity', 'source-id': 1, direction: 'desc', 'null-order': 'nulls-last' },
          { transform: 'identity', 'source-id': 2, direction: 'asc', 'null-order': 'nulls-first' },
        ],
      },
    ]);
    await sql("INSERT INTO db.ordered VALUES (1, 'a'), (3, 'c'), (NULL, 'n'), (2, 'b')");
    const [file] = await sql('SELECT file_path, sort_order_id FROM db.ordered.files');
    expect(file?.['sort_order_id']).toBe(1);
    const stored = await bench().session.read.parquet(textIn(file, 'file_path')).collect();
    expect(stored.map((row) => row['id'])).toEqual([3, 2, 1, null]);
    await bench().agree('ordered');
  });

  it('A12: CREATE TABLE … LIKE takes columns and partitions over', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.origin (id BIGINT NOT NULL, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')");
    await sql('CREATE TABLE db.likeness LIKE db.origin');
    expect(bench().metadata('likeness')).toMatchObject({ 'last-column-id': 2, properties: { k: 'v' } });
    expect(bench().metadata('likeness')['partition-specs']).toEqual(bench().metadata('origin')['partition-specs']);
  });

  it('A12: columns and places that no table can have are refused', async () => {
    const { sql } = bench();
    await refusalOf(sql('CREATE TABLE db.twice (a INT, A INT) USING iceberg'));
    await refusalOf(sql('CREATE TABLE db.part (a INT) USING iceberg PARTITIONED BY (nope)'));
    await expect(sql('CREATE TABLE db.part (a INT) USING iceberg PARTITIONED BY (bucket(0, a))')).rejects.toMatchObject({
      kind: 'invalid',
    });
    await refusalOf(sql("CREATE TABLE db.part (a INT) USING iceberg TBLPROPERTIES ('format-version' = '7')"));
    await refusalOf(sql('CREATE TABLE db.part (a INT) USING hive'));
    expect(await sql("SHOW TABLES IN db LIKE 'part'")).toEqual([]);
  });
});
