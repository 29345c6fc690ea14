import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { col, count, expr, lit, rowNumber, struct, sum, when } from '../../../src/session/functions.ts';
import { Window } from '../../../src/session/window.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const people = [
  { id: 1, name: 'ann', team: 'a', score: 1.5 },
  { id: 2, name: 'bob', team: 'b', score: null },
  { id: 3, name: 'cyd', team: 'a', score: 4 },
];
const schema = 'id BIGINT NOT NULL, name STRING, team STRING, score DOUBLE';

describe('DataFrame', () => {
  it('gives values back exactly as the types say', async () => {
    await using made = await temporarySession();
    const row = {
      l: 9_007_199_254_740_993n,
      d: '-0.10',
      day: '2024-02-29',
      ts: '2024-01-01T10:00:00.000001Z',
      ntz: '1969-12-31T23:59:59.999999',
      bin: new Uint8Array([0, 255]),
      st: { x: 1, y: null },
      list: [1, null, 3],
      map: new Map([['k', 2n]]),
      f: 0.5,
      b: true,
    };
    const types =
      'l BIGINT, d DECIMAL(38,2), day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, bin BINARY, st STRUCT<x: INT, y: STRING>, list ARRAY<INT>, map MAP<STRING, BIGINT>, f FLOAT, b BOOLEAN';
    expect(await made.session.createDataFrame([row], types).collect()).toEqual([row]);
  });

  it('selects, filters, adds, renames, drops and sorts', async () => {
    await using made = await temporarySession();
    const frame = made.session
      .createDataFrame(people, schema)
      .where(col('id').gt(1).and(expr("team <> 'z'")))
      .withColumn('double', col('id').multiply(2))
      .withColumnRenamed('name', 'who')
      .drop('score', 'absent')
      .orderBy(col('id').desc());
    expect(await frame.collect()).toEqual([
      { id: 3n, who: 'cyd', team: 'a', double: 6n },
      { id: 2n, who: 'bob', team: 'b', double: 4n },
    ]);
    expect(await frame.columns).toEqual(['id', 'who', 'team', 'double']);
  });

  it('keeps the order of a sort through later projections and limits', async () => {
    await using made = await temporarySession();
    const frame = made.session.range(10_000).orderBy(col('id').desc()).select(col('id').plus(1).alias('n')).where('n > 0').limit(3);
    expect(await frame.collect()).toEqual([{ n: 10_000n }, { n: 9_999n }, { n: 9_998n }]);
  });

  it('aggregates under the names that Spark gives', async () => {
    await using made = await temporarySession();
    const grouped = made.session.createDataFrame(people, schema).groupBy('team');
    const rows = await grouped.agg(sum('id'), count('*'), count('score').alias('scores')).orderBy('team').collect();
    expect(rows).toEqual([
      { team: 'a', 'sum(id)': 4n, 'count(1)': 2n, scores: 2n },
      { team: 'b', 'sum(id)': 2n, 'count(1)': 1n, scores: 0n },
    ]);
    expect(await grouped.count().orderBy('team').collect()).toEqual([
      { team: 'a', count: 2n },
      { team: 'b', count: 1n },
    ]);
  });

  it('joins a DataFrame with itself by aliases and by its own columns', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(people, schema);
    const pairs = frame.alias('l').join(frame.alias('r'), expr('l.team = r.team AND l.id < r.id'));
    expect(await pairs.select('l.name', col('r.name').alias('other')).collect()).toEqual([{ name: 'ann', other: 'cyd' }]);
    const one = frame.select('id', 'team');
    const two = frame.select('id', 'name');
    expect(
      await one
        .join(two, one.col('id').eq(two.col('id')))
        .select(one.col('id'), two.col('name'))
        .count(),
    ).toBe(3);
    await expect(pairs.select('id').collect()).rejects.toMatchObject({ errorClass: 'AMBIGUOUS_REFERENCE' });
    await expect(pairs.collect()).rejects.toMatchObject({ errorClass: 'COLUMN_ALREADY_EXISTS' });
  });

  it.each([
    ['inner', 1],
    ['left', 2],
    ['right', 2],
    ['outer', 3],
    ['semi', 1],
    ['anti', 1],
    ['cross', 4],
  ])('joins %s', async (how, rows) => {
    await using made = await temporarySession();
    const left = made.session.createDataFrame([{ k: 1 }, { k: 2 }], 'k INT');
    const right = made.session.createDataFrame(
      [
        { k: 2, v: 'x' },
        { k: 3, v: 'y' },
      ],
      'k INT, v STRING',
    );
    const joined = how === 'cross' ? left.crossJoin(right) : left.join(right, 'k', how);
    expect(await joined.count()).toBe(rows);
  });

  it('gives the key of whichever side has one in an outer join by name', async () => {
    await using made = await temporarySession();
    const left = made.session.createDataFrame([{ k: 1 }], 'k INT');
    const right = made.session.createDataFrame([{ k: 2 }], 'k INT');
    expect(await left.join(right, 'k', 'outer').orderBy('k').collect()).toEqual([{ k: 1 }, { k: 2 }]);
  });

  it('unites by place and by name, intersects and excepts', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const one = session.createDataFrame([{ a: 1, b: 'x' }], 'a INT, b STRING');
    const two = session.createDataFrame(
      [
        { b: 'x', a: 1 },
        { b: 'y', a: 2 },
      ],
      'b STRING, a INT',
    );
    expect(await one.unionByName(two).distinct().count()).toBe(2);
    expect(await two.select('a', 'b').except(one).collect()).toEqual([{ a: 2, b: 'y' }]);
    expect(await one.intersect(two.select('a', 'b')).count()).toBe(1);
    expect(await one.unionByName(session.range(1), { allowMissingColumns: true }).collect()).toEqual([
      { a: 1, b: 'x', id: null },
      { a: null, b: null, id: 0n },
    ]);
    await expect(one.union(session.range(1)).collect()).rejects.toMatchObject({ errorClass: 'NUM_COLUMNS_MISMATCH' });
  });

  it("fills and drops nulls and NaN in columns of the value's kind", async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(
      [
        { n: null, d: Number.NaN, s: null },
        { n: 1, d: 2, s: 'x' },
      ],
      'n INT, d DOUBLE, s STRING',
    );
    expect(await frame.fillna(0).fillna('-').collect()).toEqual([
      { n: 0, d: 0, s: '-' },
      { n: 1, d: 2, s: 'x' },
    ]);
    expect(await frame.dropna().count()).toBe(1);
    expect(await frame.dropna({ thresh: 1, subset: ['n', 's'] }).count()).toBe(1);
  });

  it('computes windows over all rows even when rows are filtered above', async () => {
    await using made = await temporarySession();
    const numbered = made.session.range(5).withColumn('r', rowNumber().over(Window.orderBy(col('id').desc())));
    expect(await numbered.where('id = 1').collect()).toEqual([{ id: 1n, r: 4 }]);
  });

  it('shows rows and schema as Spark does', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(
      [
        { id: 1, v: null },
        { id: 22, v: 'a long text that goes on' },
      ],
      'id INT, v STRING',
    );
    expect(await frame.showString()).toBe(
      [
        '+---+--------------------+',
        '| id|                   v|',
        '+---+--------------------+',
        '|  1|                NULL|',
        '| 22|a long text that ...|',
        '+---+--------------------+',
        '',
      ].join('\n'),
    );
    expect(await frame.showString(1, false)).toContain('only showing top 1 row');
    await frame.printSchema();
    expect(made.printed).toEqual(['root\n |-- id: integer (nullable = true)\n |-- v: string (nullable = true)\n']);
  });

  it('streams rows in batches, and can be left early', async () => {
    await using made = await temporarySession();
    let rows = 0;
    for await (const batch of made.session.range(100_000).batches()) {
      expect(batch.length).toBeLessThanOrEqual(2048);
      rows += batch.length;
      if (rows > 10_000) break;
    }
    expect(rows).toBeGreaterThan(10_000);
    expect(await made.session.range(3).count()).toBe(3);
  });

  it('gives Arrow data that its own library reads', async () => {
    await using made = await temporarySession();
    const table = tableFromIPC(await made.session.createDataFrame(people, schema).toArrow());
    expect(table.numRows).toBe(3);
    expect(table.getChild('name')?.toArray()).toEqual(['ann', 'bob', 'cyd']);
  });

  it('keeps cached rows until they are let go', async () => {
    await using made = await temporarySession();
    const cached = await made.session.range(3).cache();
    expect(await cached.count()).toBe(3);
    await cached.unpersist();
    await expect(cached.count()).rejects.toThrow();
  });

  it('names unknown columns with the nearest ones', async () => {
    await using made = await temporarySession();
    await expect(made.session.createDataFrame(people, schema).select('nmae').collect()).rejects.toThrow(
      'A column, variable, or function parameter with name `nmae` cannot be resolved. Did you mean one of the following? [`name`, ',
    );
  });

  it('takes hostile names as names', async () => {
    await using made = await temporarySession();
    const names = ['"; DROP TABLE x; --', "a'b", 'a`b', 'a.b', '__proto__', 'x#1', 'semi;colon', '\u{1F600}'];
    const row = Object.fromEntries(names.map((name, index) => [name, index]));
    const fields = names.map((name) => ({ name, type: { kind: 'integer' } as const, nullable: true }));
    Object.defineProperty(row, '__proto__', { value: 4, enumerable: true });
    const frame = made.session.createDataFrame([row], { kind: 'struct', fields });
    const [found] = await frame.select(...names.map((name) => col(`\`${name.replaceAll('`', '``')}\``))).collect();
    expect(Object.keys(found ?? {})).toEqual(names);
    expect(await frame.where(col("`a'b`").eq(1)).count()).toBe(1);
    expect(await frame.where(col('x#1').cast('string').eq("'; SELECT 1 --")).count()).toBe(0);
  });

  it('chooses branches with when and otherwise', async () => {
    await using made = await temporarySession();
    const size = when(col('id').gt(1), 'big').when(col('id').eq(1), lit('one')).otherwise('none');
    expect(await made.session.range(3).select(size.alias('size')).collect()).toEqual([{ size: 'none' }, { size: 'one' }, { size: 'big' }]);
  });

  it('names the members of structs after their columns', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame([{ a: 1, b: 'x' }], 'a INT, b STRING');
    const nested = frame.select(struct('a', col('b').alias('c'), lit(true)).alias('s'));
    expect(await nested.collect()).toEqual([{ s: { a: 1, c: 'x', col3: true } }]);
    expect(await nested.select('s.*').columns).toEqual(['a', 'c', 'col3']);
    expect(await nested.selectExpr('s.a + 1 AS next', 's.c').collect()).toEqual([{ next: 2, c: 'x' }]);
  });

  it('is of no use after the session stopped', async () => {
    await using made = await temporarySession();
    const frame = made.session.range(1);
    await made.session.stop();
    await expect(frame.collect()).rejects.toMatchObject({ errorClass: 'SESSION_STOPPED' });
  });
});
