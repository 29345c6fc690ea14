import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { functions } from '../../src/index.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Rows, schemas and plans of Iceberg tables; Parquet, CSV and JSON files on their way into one. */
describe('reading Iceberg tables', () => {
  const bench = icebergBench();

  it('A06: a table is read by format and name, by name, in SQL, and from another session', async () => {
    const { sql, session } = bench();
    await sql("CREATE TABLE db.read USING iceberg AS SELECT id, concat('v', id) AS v FROM range(3)");
    const expected = [0n, 1n, 2n].map((id) => ({ id, v: `v${id}` }));
    expect(await session.read.format('iceberg').load('db.read').orderBy('id').collect()).toEqual(expected);
    expect(await session.read.table('ice.db.read').orderBy('id').collect()).toEqual(expected);
    expect(await bench().another().table('db.read').orderBy('id').collect()).toEqual(expected);
    expect(await session.table('db.read').count()).toBe(3);
    const arrow = await session.table('db.read').toArrow();
    // The magic of an Arrow file, or the continuation of a stream.
    expect(arrow.byteLength).toBeGreaterThan(100);
    expect(await session.read.format('iceberg').load(bench().path('read')).orderBy('id').collect()).toEqual(expected);
    expect(await sql(`SELECT count(*) AS n FROM iceberg.\`${bench().path('read')}\``)).toEqual([{ n: 3n }]);
  });

  it('A06: printSchema prints the tree of the columns, show the rows', async () => {
    const { sql, session } = bench();
    await sql(`CREATE TABLE db.tree (id BIGINT NOT NULL, at TIMESTAMP_NTZ, seen TIMESTAMP, tags ARRAY<STRING>, m MAP<STRING, INT>,
      place STRUCT<lat: DOUBLE, lon: DOUBLE NOT NULL>, price DECIMAL(10,2), raw BINARY, day DATE) USING iceberg`);
    await session.table('db.tree').printSchema();
    expect(bench().printed()).toContain(
      [
        'root',
        ' |-- id: long (nullable = false)',
        ' |-- at: timestamp_ntz (nullable = true)',
        ' |-- seen: timestamp (nullable = true)',
        ' |-- tags: array (nullable = true)',
        ' |    |-- element: string (containsNull = true)',
        ' |-- m: map (nullable = true)',
        ' |    |-- key: string',
        ' |    |-- value: integer (valueContainsNull = true)',
        ' |-- place: struct (nullable = true)',
        ' |    |-- lat: double (nullable = true)',
        ' |    |-- lon: double (nullable = false)',
        ' |-- price: decimal(10,2) (nullable = true)',
        ' |-- raw: binary (nullable = true)',
        ' |-- day: date (nullable = true)',
      ].join('\n'),
    );
    await sql("CREATE TABLE db.shown USING iceberg AS SELECT 1 AS id, 'a' AS v");
    await session.table('db.shown').show();
    expect(bench().printed()).toContain('+---+---+\n| id|  v|\n+---+---+\n|  1|  a|\n+---+---+');
  });

  it('A06: what is no table is refused as Spark refuses it', async () => {
    const { session, directory } = bench();
    expect(await refusalOf(session.read.format('iceberg').load('ice.db.none').count())).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
      sqlState: '42P01',
    });
    await refusalOf(session.read.format('iceberg').load(join(directory, 'nope')).count());
  });

  it('A07: a filter over a partition reads its files alone, and explain names files and bytes', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.pruned (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p)');
    await sql("INSERT INTO db.pruned SELECT id, CASE id % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'b' WHEN 2 THEN 'c' END FROM range(40)");
    const frame = session.table('db.pruned').where("p = 'b'");
    const [read] = (await frame.explanation()).tables;
    expect(read).toMatchObject({ table: 'ice.db.pruned', filesConsidered: 4, filesSelected: 1 });
    expect(Number(read?.bytesSelected)).toBeGreaterThan(0);
    expect(Number(read?.bytesConsidered)).toBeGreaterThan(Number(read?.bytesSelected));
    expect(await frame.count()).toBe(10);
    const nulls = session.table('db.pruned').where('p IS NULL');
    expect((await nulls.explanation()).tables[0]).toMatchObject({ filesSelected: 1 });
    expect(await nulls.count()).toBe(10);
    await frame.explain();
    expect(bench().printed()).toContain('files: 4 considered, 3 pruned, 1 read');
  });

  it('A07: bounds, prefixes, nulls and transforms of partitions prune files too', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.bounded (id BIGINT, name STRING, ts TIMESTAMP) USING iceberg');
    for (const from of [0, 100, 200]) {
      await sql(`INSERT INTO db.bounded SELECT id, concat('n', lpad(CAST(id AS STRING), 4, '0')), CASE WHEN id < 100 THEN NULL ELSE timestamp_seconds(id * 86400) END
        FROM range(${from}, ${from + 10})`);
    }
    const filesRead = async (table: string, condition: string): Promise<unknown> =>
      (await session.table(table).where(condition).explanation()).tables[0]?.filesSelected;
    expect(await filesRead('db.bounded', 'id = 105')).toBe(1);
    expect(await filesRead('db.bounded', 'id BETWEEN 5 AND 105')).toBe(2);
    expect(await filesRead('db.bounded', "name LIKE 'n02%'")).toBe(1);
    expect(await filesRead('db.bounded', 'ts IS NULL')).toBe(1);
    expect(await filesRead('db.bounded', 'id > 1000')).toBe(0);
    await sql(
      'CREATE TABLE db.transformed (id BIGINT, ts TIMESTAMP, s STRING) USING iceberg PARTITIONED BY (bucket(8, id), days(ts), truncate(1, s))',
    );
    await sql("INSERT INTO db.transformed SELECT id, timestamp_seconds(id * 86400), concat(CAST(id AS STRING), 'x') FROM range(10)");
    expect(await filesRead('db.transformed', 'id = 3')).toBeLessThan(10);
    expect(await filesRead('db.transformed', "ts >= TIMESTAMP '1970-01-03' AND ts < TIMESTAMP '1970-01-05'")).toBe(2);
    expect(await filesRead('db.transformed', "s = '7x'")).toBe(1);
    expect(await session.table('db.transformed').where("s = '7x' AND id = 7").count()).toBe(1);
    await bench().agree('transformed');
  });

  it('A17: DESCRIBE TABLE shows columns and partitioning, EXTENDED what else is known', async () => {
    const { sql } = bench();
    await sql(`CREATE TABLE db.described (id BIGINT NOT NULL COMMENT 'the key', ts TIMESTAMP, p STRING) USING iceberg
      PARTITIONED BY (p, bucket(4, id)) COMMENT 'a table' TBLPROPERTIES ('k' = 'v')`);
    const rows = await sql('DESCRIBE TABLE db.described');
    expect(rows).toEqual([
      { col_name: 'id', data_type: 'bigint', comment: 'the key' },
      { col_name: 'ts', data_type: 'timestamp', comment: null },
      { col_name: 'p', data_type: 'string', comment: null },
      { col_name: '', data_type: '', comment: '' },
      { col_name: '# Partitioning', data_type: '', comment: '' },
      { col_name: 'Part 0', data_type: 'p', comment: '' },
      { col_name: 'Part 1', data_type: 'bucket(4, id)', comment: '' },
    ]);
    const extended: Readonly<Record<string, unknown>> = Object.fromEntries(
      (await sql('DESCRIBE TABLE EXTENDED db.described')).map((row) => [textIn(row, 'col_name'), row['data_type']]),
    );
    expect(extended).toMatchObject({
      Name: 'ice.db.described',
      Comment: 'a table',
      Location: bench().path('described'),
      Provider: 'iceberg',
      'Table Properties': '[current-snapshot-id=none,format=iceberg/parquet,format-version=2,k=v,write.parquet.compression-codec=zstd]',
    });
    await sql('CREATE TABLE db.byname (id INT, p STRING) USING iceberg PARTITIONED BY (p)');
    expect((await sql('DESCRIBE db.byname')).map((row) => row['col_name'])).toEqual([
      'id',
      'p',
      '# Partition Information',
      '# col_name',
      'p',
    ]);
  });

  it('A17: SHOW CREATE TABLE gives a statement that makes the same table', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE ice.db.empty (id INT, v STRING) USING iceberg');
    expect(await sql('SHOW CREATE TABLE ice.db.empty')).toEqual([
      {
        createtab_stmt: `CREATE TABLE ice.db.empty (\n  id INT,\n  v STRING)\nUSING iceberg\nLOCATION '${path('empty')}'\nTBLPROPERTIES (\n  'current-snapshot-id' = 'none',\n  'format' = 'iceberg/parquet',\n  'format-version' = '2',\n  'write.parquet.compression-codec' = 'zstd')\n`,
      },
    ]);
    await sql("INSERT INTO db.empty VALUES (1, 'a')");
    const [row] = await sql('SHOW CREATE TABLE db.empty');
    const { id } = await bench().lastSnapshot('db.empty');
    expect(textIn(row, 'createtab_stmt')).toContain(`'current-snapshot-id' = '${id}'`);
    expect(textIn(row, 'createtab_stmt')).toMatch(/^CREATE TABLE ice\.db\.empty \(/);
    await sql('DROP TABLE db.empty PURGE');
    // The shown properties that only tell about the table are no obstacle.
    await sql(textIn(row, 'createtab_stmt'));
    expect((await bench().session.table('db.empty').schema).fields.map(({ name }) => name)).toEqual(['id', 'v']);
  });

  it('A17: names that need quotes are shown with them', async () => {
    const { sql } = bench();
    await sql(
      'CREATE TABLE db.`odd table` (`a.b` INT, `x y` STRING, s STRUCT<`m n`: INT>) USING iceberg PARTITIONED BY (`x y`, bucket(4, s.`m n`))',
    );
    const [row] = await sql('SHOW CREATE TABLE db.`odd table`');
    const text = textIn(row, 'createtab_stmt');
    expect(text).toContain('CREATE TABLE ice.db.`odd table` (\n  `a.b` INT,\n  `x y` STRING,\n  s STRUCT<`m n`: INT>)');
    expect(text).toContain('PARTITIONED BY (`x y`, bucket(4, s.`m n`))');
    await sql("INSERT INTO db.`odd table` VALUES (1, 'a/b=c%', struct(2)), (2, '', NULL)");
    expect(await sql("SELECT `a.b` FROM db.`odd table` WHERE `x y` = 'a/b=c%' AND s.`m n` = 2")).toEqual([{ 'a.b': 1 }]);
    await bench().agree('odd table');
    await sql('DROP TABLE db.`odd table` PURGE');
    await sql(text);
    await sql('CREATE TABLE db.plain (`x y` STRING) USING iceberg PARTITIONED BY (`x y`)');
    expect((await sql('DESCRIBE db.plain')).map((shown) => shown['col_name'])).toEqual([
      'x y',
      '# Partition Information',
      '# col_name',
      'x y',
    ]);
  });

  it('A17: SHOW TBLPROPERTIES and SHOW COLUMNS', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.props (id INT, v STRING) USING iceberg TBLPROPERTIES ('a.b' = 'c')");
    expect(await sql('SHOW TBLPROPERTIES db.props')).toEqual([
      { key: 'a.b', value: 'c' },
      { key: 'current-snapshot-id', value: 'none' },
      { key: 'format', value: 'iceberg/parquet' },
      { key: 'format-version', value: '2' },
      { key: 'write.parquet.compression-codec', value: 'zstd' },
    ]);
    expect(await sql("SHOW TBLPROPERTIES db.props ('a.b')")).toEqual([{ key: 'a.b', value: 'c' }]);
    expect(await sql('SHOW COLUMNS IN db.props')).toEqual([{ col_name: 'id' }, { col_name: 'v' }]);
  });

  it('A18: a directory of Parquet files with nineteen columns becomes a table of the inferred schema', async () => {
    const { session, directory, sql } = bench();
    const place = join(directory, 'trips');
    const long = ['VendorID', 'PULocationID', 'DOLocationID', 'payment_type'];
    const time = ['tpep_pickup_datetime', 'tpep_dropoff_datetime'];
    const double = ['passenger_count', 'trip_distance', 'RatecodeID', 'fare_amount', 'extra', 'mta_tax', 'tip_amount', 'tolls_amount'];
    const more = ['improvement_surcharge', 'total_amount', 'congestion_surcharge', 'airport_fee'];
    const select = [
      ...long.map((name, index) => `id + ${index} AS ${name}`),
      ...time.map((name, index) => `CAST(timestamp_seconds(1700000000 + id * 60 + ${index * 600}) AS TIMESTAMP_NTZ) AS ${name}`),
      ...[...double, ...more].map((name, index) => `CAST(id * ${index} AS DOUBLE) / 4 AS ${name}`),
      "CASE WHEN id % 2 = 0 THEN 'Y' ELSE 'N' END AS store_and_fwd_flag",
    ];
    await session
      .range(1000)
      .selectExpr(...select)
      .write.format('parquet')
      .save(place);
    expect(readdirSync(place).some((name) => name.endsWith('.parquet'))).toBe(true);
    await session.read.parquet(place).writeTo('db.trips').using('iceberg').createOrReplace();
    const { fields } = await session.table('db.trips').schema;
    expect(fields).toHaveLength(19);
    expect(Object.fromEntries(fields.map(({ name, type }) => [name, type.kind]))).toEqual({
      ...Object.fromEntries(long.map((name) => [name, 'long'])),
      ...Object.fromEntries(time.map((name) => [name, 'timestamp_ntz'])),
      ...Object.fromEntries([...double, ...more].map((name) => [name, 'double'])),
      store_and_fwd_flag: 'string',
    });
    expect(fields.every(({ nullable }) => nullable)).toBe(true);
    expect(await sql('SELECT count(*) AS n, sum(total_amount) AS t, max(tpep_dropoff_datetime) AS d FROM db.trips')).toEqual([
      { n: 1000n, t: 1_123_875, d: '2023-11-15T15:02:20.000000' },
    ]);
    await bench().agree('trips');
  });

  it('A18: CSV and JSON files are read into tables too', async () => {
    const { session, directory } = bench();
    writeFileSync(join(directory, 'people.csv'), 'id,name,born\n1,ann,2001-02-03\n2,"bob, jr",\n');
    await session.read
      .option('header', true)
      .option('inferSchema', true)
      .csv(join(directory, 'people.csv'))
      .writeTo('db.fromcsv')
      .using('iceberg')
      .create();
    expect((await bench().rows('db.fromcsv')).map((row) => [Number(row['id']), row['name'], row['born']])).toEqual([
      [1, 'ann', '2001-02-03'],
      [2, 'bob, jr', null],
    ]);
    writeFileSync(join(directory, 'people.json'), '{"id":1,"tags":["a","b"],"at":{"x":1.5}}\n{"id":2,"tags":null}\n');
    await session.read
      .json(join(directory, 'people.json'))
      .withColumn('n', functions.lit(1))
      .writeTo('db.fromjson')
      .using('iceberg')
      .create();
    expect(await bench().rows('db.fromjson')).toEqual([
      expect.objectContaining({ id: 1n, tags: ['a', 'b'], at: { x: 1.5 } }) as unknown,
      expect.objectContaining({ id: 2n, tags: null, at: null }) as unknown,
    ]);
    await bench().agree('fromcsv');
    await bench().agree('fromjson');
  });
});
