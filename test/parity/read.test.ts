import { describe, expect, it } from 'vitest';
import { col, type DataFrame, lit } from '../../src/index.ts';
import { type DeltaBench, deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Reading tables, and which of their files are read for it. */

const columns = 'id BIGINT, v STRING, p STRING';
const all = Array.from({ length: 6 }, (_, index) => ({ id: BigInt(index), v: `v${index}`, p: index % 2 === 0 ? 'even' : 'odd' }));

describe('reading tables', () => {
  const bench = deltaBench();

  it('B05: a table is read by path, by name, by path in SQL, and with a table object alike', async () => {
    const { session, sql, path, at, agree } = bench();
    await sql(`CREATE TABLE named (${columns}) USING delta LOCATION '${path('located')}'`);
    await session.createDataFrame(all, columns).write.mode('append').saveAsTable('named');
    const frames = [
      session.read.format('delta').load(path('located')),
      session.read.load(`file:${path('located')}`),
      session.read.format('delta').option('path', path('located')).load(),
      session.read.delta(path('located')),
      session.read.table('named'),
      session.table('default.named'),
      session.table('spark_catalog.default.named'),
      session.table(at('located')),
      await session.sql('SELECT * FROM named'),
      await session.sql(`SELECT * FROM ${at('located')}`),
    ];
    for (const frame of frames) expect(await frame.orderBy('id').collect()).toEqual(all);
    await agree('located');
  });

  it('B05: printSchema prints the tree of the columns, nested ones too', async () => {
    const { sql, at, session, path, printed } = bench();
    await sql(`CREATE TABLE ${at('tree')} (id BIGINT NOT NULL, d DECIMAL(10, 2), ts TIMESTAMP, n TIMESTAMP_NTZ, s STRUCT<a: INT NOT NULL, b: STRING>,
      l ARRAY<STRUCT<x: DOUBLE>>, m MAP<STRING, FLOAT>, bin BINARY, ok BOOLEAN, day DATE, small SMALLINT, tiny TINYINT) USING delta`);
    const before = printed().length;
    await session.read.format('delta').load(path('tree')).printSchema();
    expect(printed().slice(before)).toBe(`root
 |-- id: long (nullable = false)
 |-- d: decimal(10,2) (nullable = true)
 |-- ts: timestamp (nullable = true)
 |-- n: timestamp_ntz (nullable = true)
 |-- s: struct (nullable = true)
 |    |-- a: integer (nullable = false)
 |    |-- b: string (nullable = true)
 |-- l: array (nullable = true)
 |    |-- element: struct (containsNull = true)
 |    |    |-- x: double (nullable = true)
 |-- m: map (nullable = true)
 |    |-- key: string
 |    |-- value: float (valueContainsNull = true)
 |-- bin: binary (nullable = true)
 |-- ok: boolean (nullable = true)
 |-- day: date (nullable = true)
 |-- small: short (nullable = true)
 |-- tiny: byte (nullable = true)
`);
  });

  it('B05: where and select in every form give the same rows', async () => {
    const { session, path, sql, at } = bench();
    await session.createDataFrame(all, columns).write.format('delta').partitionBy('p').save(path('forms'));
    const table = session.read.format('delta').load(path('forms'));
    const expected = [
      { id: 3n, twice: 'v3v3' },
      { id: 5n, twice: 'v5v5' },
    ];
    const frames: readonly DataFrame[] = [
      table.where("p = 'odd' AND id > 1").select(col('id'), lit('').as('none'), col('v')).selectExpr('id', 'concat(v, v) AS twice'),
      table.filter(col('p').eq('odd').and(col('id').gt(1n))).selectExpr('id', 'v || v AS twice'),
      table.where('id > 1').where("p = 'odd'").selectExpr('id', 'concat(v, v) twice'),
    ];
    for (const frame of frames) expect(await frame.orderBy('id').collect()).toEqual(expected);
    expect(await sql(`SELECT id, concat(v, v) AS twice FROM ${at('forms')} WHERE p = 'odd' AND id > 1 ORDER BY id`)).toEqual(expected);
    expect(await table.where("id IN (1, 4) OR v LIKE '%5'").select('id').orderBy('id').collect()).toEqual([
      { id: 1n },
      { id: 4n },
      { id: 5n },
    ]);
    expect(await table.where('p IS NULL').count()).toBe(0);
    expect(await table.select('p').distinct().orderBy('p').collect()).toEqual([{ p: 'even' }, { p: 'odd' }]);
  });

  it('B05: a filter over a partition column reads the files of that partition alone', async () => {
    const { session, path } = bench();
    await session.createDataFrame(all, columns).write.format('delta').partitionBy('p').save(path('pruned'));
    const table = session.read.format('delta').load(path('pruned'));
    expect(await filesOf(table)).toEqual({ considered: 2, read: 2 });
    expect(await filesOf(table.where("p = 'odd'"))).toEqual({ considered: 2, read: 1 });
    expect(await filesOf(table.where("p IN ('odd', 'none')"))).toEqual({ considered: 2, read: 1 });
    expect(await filesOf(table.where('p IS NULL'))).toEqual({ considered: 2, read: 0 });
    expect(await table.where("p = 'odd'").count()).toBe(3);
  });

  it('B05: a filter over bounds, prefixes and nulls skips the files that cannot hold a row', async () => {
    const { session, path, agree } = bench();
    const write = (from: number, until: number, day: string | null) =>
      session
        .range(from, until)
        .selectExpr(
          'id',
          "concat('name-', id) AS name",
          `CAST(${day === null ? 'NULL' : `'${day}'`} AS DATE) AS day`,
          "named_struct('n', id * 10) AS s",
        )
        .write.format('delta')
        .mode('append')
        .save(path('skipped'));
    await write(0, 100, '2024-01-01');
    await write(100, 200, '2024-01-02');
    await write(200, 300, null);
    const table = session.read.format('delta').load(path('skipped'));
    const read = async (condition: string) => (await filesOf(table.where(condition))).read;
    expect(await read('id = 150')).toBe(1);
    expect(await read('id >= 100')).toBe(2);
    expect(await read('id < 0')).toBe(0);
    expect(await read("day = DATE '2024-01-02'")).toBe(1);
    expect(await read('day IS NULL')).toBe(1);
    expect(await read('day IS NOT NULL')).toBe(2);
    expect(await read('s.n = 2500')).toBe(1);
    expect(await read('id = 50 OR id = 250')).toBe(2);
    expect(await read('id + 0 = 150')).toBe(3);
    expect(await table.where('id BETWEEN 90 AND 110').count()).toBe(21);
    await agree('skipped');
  });

  it('B05: explain names the files and bytes considered, pruned and read', async () => {
    const { session, path, printed } = bench();
    for (const id of [1, 2])
      await session
        .range(id, id + 1)
        .write.format('delta')
        .mode('append')
        .save(path('explained'));
    const filtered = session.read.format('delta').load(path('explained')).where('id = 2');
    const { tables } = await filtered.explanation();
    expect(tables).toHaveLength(1);
    expect(tables[0]).toMatchObject({ version: 1, filesConsidered: 2, filesSelected: 1 });
    expect(tables[0]?.bytesSelected).toBeLessThan(tables[0]?.bytesConsidered ?? 0);
    const before = printed().length;
    await filtered.explain();
    expect(printed().slice(before)).toMatch(
      /^== Physical Plan ==\n[\s\S]+== Tables ==\n.*explained version 1: files: 2 considered, 1 pruned, 1 read; bytes: \d+ considered, \d+ pruned, \d+ read\n$/,
    );
  });

  it('B05: a join prunes the files of each of its tables', async () => {
    const { session, sql, path, at } = bench();
    for (const id of [1, 2, 3]) {
      await session
        .range(id, id + 1)
        .write.format('delta')
        .mode('append')
        .save(path('left'));
      await session
        .range(id, id + 1)
        .selectExpr('id AS k')
        .write.format('delta')
        .mode('append')
        .save(path('right'));
    }
    const text = `SELECT l.id, r.k FROM ${at('left')} l JOIN ${at('right')} r ON l.id = r.k WHERE l.id > 1 AND r.k < 3`;
    expect(await sql(text)).toEqual([{ id: 2n, k: 2n }]);
    const { tables } = await (await session.sql(text)).explanation();
    expect(tables.map(({ filesConsidered, filesSelected }) => [filesConsidered, filesSelected])).toEqual([
      [3, 2],
      [3, 2],
    ]);
  });

  it('B05: what is not there is refused as Spark refuses it', async () => {
    const { session, sql, path, at } = bench();
    const absent = await refusalOf(session.read.format('delta').load(path('nothing')).collect());
    expect(absent).toMatchObject({ errorClass: 'PATH_NOT_FOUND', sqlState: '42K03' });
    expect(absent.message).toBe(`Path does not exist: ${path('nothing')}.`);
    expect(await refusalOf(sql(`SELECT * FROM ${at('nothing')}`))).toMatchObject({ errorClass: 'PATH_NOT_FOUND', sqlState: '42K03' });
    const table = await refusalOf(session.table('no_such_table').collect());
    expect(table).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND', sqlState: '42P01' });
    expect(table.message).toMatch(
      /^The table or view `no_such_table` cannot be found\. Verify the spelling and correctness of the schema and catalog\./,
    );
    await session.createDataFrame(all, columns).write.format('delta').save(path('there'));
    const column = await refusalOf(session.read.format('delta').load(path('there')).select('nope').collect());
    expect(column).toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION', sqlState: '42703' });
    expect(column.message).toMatch(
      /^A column, variable, or function parameter with name `nope` cannot be resolved\. Did you mean one of the following\? \[`/,
    );
    const schema = await refusalOf(async () => session.read.format('delta').schema('id BIGINT').load(path('there')).collect());
    expect(schema).toMatchObject({ errorClass: 'DELTA_UNSUPPORTED_SCHEMA_DURING_READ', sqlState: '0AKDC' });
    const option = await refusalOf(async () => session.read.format('delta').option('versionAsOff', 1).load(path('there')).collect());
    expect(option).toMatchObject({ errorClass: 'UNKNOWN_OPTION', hint: 'did you mean "versionAsOf"?' });
  });

  it('B05: show prints the rows as Spark does', async () => {
    const { session, path } = bench();
    await showTable(bench());
    const table = session.read.format('delta').load(path('shown')).orderBy('id');
    expect(await table.showString()).toBe(
      [
        '+---+--------------------+',
        '| id|                   v|',
        '+---+--------------------+',
        '|  1|                 ann|',
        '|  2|a text that is ve...|',
        '|  3|                NULL|',
        '+---+--------------------+',
        '',
      ].join('\n'),
    );
    expect(await table.showString(1, false)).toBe(
      ['+---+---+', '|id |v  |', '+---+---+', '|1  |ann|', '+---+---+', 'only showing top 1 row', ''].join('\n'),
    );
  });
});

async function showTable({ session, path }: DeltaBench): Promise<void> {
  const rows = [{ id: 1, v: 'ann' }, { id: 2, v: 'a text that is very long' }, { id: 3 }];
  await session.createDataFrame(rows, 'id INT, v STRING').write.format('delta').save(path('shown'));
}

async function filesOf(frame: DataFrame): Promise<{ readonly considered: number; readonly read: number }> {
  const [table] = (await frame.explanation()).tables;
  return { considered: table?.filesConsidered ?? -1, read: table?.filesSelected ?? -1 };
}
