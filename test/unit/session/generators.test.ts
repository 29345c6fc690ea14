import { describe, expect, it } from 'vitest';
import { col, explode, explodeOuter, expr, fromJson, inline, lit, posexplode, struct, toJson } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const schema = 'id BIGINT, list ARRAY<INT>, pairs ARRAY<STRUCT<x: INT, y: STRING>>, map MAP<STRING, INT>';
const rows = [
  { id: 1, list: [10, null], pairs: [{ x: 1, y: 'a' }], map: new Map([['k', 5]]) },
  { id: 2, list: [], pairs: [], map: new Map<string, number>() },
  { id: 3, list: null, pairs: null, map: null },
];

describe('functions that make rows, in a DataFrame', () => {
  it('makes a row of each element and drops rows without any', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema);
    expect(await frame.select('id', explode('list')).collect()).toEqual([
      { id: 1n, col: 10 },
      { id: 1n, col: null },
    ]);
    expect(await frame.select(explode('list').alias('n'), col('id').plus(1).alias('next')).collect()).toEqual([
      { n: 10, next: 2n },
      { n: null, next: 2n },
    ]);
  });

  it('keeps rows without elements when it is outer', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema);
    expect(await frame.select('id', explodeOuter('list').alias('n')).collect()).toEqual([
      { id: 1n, n: 10 },
      { id: 1n, n: null },
      { id: 2n, n: null },
      { id: 3n, n: null },
    ]);
  });

  it('adds or replaces a column with the elements', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema).select('id', 'list');
    expect(await frame.withColumn('list', explode('list')).collect()).toEqual([
      { id: 1n, list: 10 },
      { id: 1n, list: null },
    ]);
    expect(await frame.withColumn('n', explode('list')).columns).toEqual(['id', 'list', 'n']);
  });

  it('names places, keys, values and members as Spark does, or as it is told', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema);
    expect(await frame.select(posexplode('list')).collect()).toEqual([
      { pos: 0, col: 10 },
      { pos: 1, col: null },
    ]);
    expect(await frame.select(posexplode('list').alias('p', 'v')).columns).toEqual(['p', 'v']);
    expect(await frame.selectExpr('posexplode(list) AS (p, v)', 'id').where('p = 1').collect()).toEqual([{ p: 1, v: null, id: 1n }]);
    expect(await frame.select(explode('map')).collect()).toEqual([{ key: 'k', value: 5 }]);
    expect(await frame.select(inline('pairs')).collect()).toEqual([{ x: 1, y: 'a' }]);
  });

  it('does not confuse the made columns with those of the input', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame([{ col: 7, list: [1] }], 'col INT, list ARRAY<INT>');
    expect(await frame.select(explode('list').alias('n'), col('col')).collect()).toEqual([{ n: 1, col: 7 }]);
  });

  it('joins the rows of several generators', async () => {
    await using made = await temporarySession();
    const frame = made.session.range(1).select(explode(expr('array(1, 2)')).alias('a'), explode(expr('array(3, 4)')).alias('b'));
    expect(await frame.orderBy('a', 'b').collect()).toEqual([
      { a: 1, b: 3 },
      { a: 1, b: 4 },
      { a: 2, b: 3 },
      { a: 2, b: 4 },
    ]);
  });

  it('takes conditions on the made column after it is made', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema).withColumn('n', explode('list'));
    expect(await frame.where('n > 5 AND id = 1').select('id', 'n').collect()).toEqual([{ id: 1n, n: 10 }]);
  });

  it('refuses a generator inside of an expression and a wrong number of names', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, schema);
    await expect(frame.select(explode('list').plus(1)).collect()).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS',
      sqlState: '42K0E',
      message: 'The generator is not supported: nested in expressions "(explode(list) + 1)".',
    });
    await expect(frame.select(posexplode('list').alias('p')).collect()).rejects.toMatchObject({ errorClass: 'UDTF_ALIAS_NUMBER_MISMATCH' });
    await expect(frame.withColumn('p', posexplode('list')).collect()).rejects.toMatchObject({ errorClass: 'UDTF_ALIAS_NUMBER_MISMATCH' });
    await expect(frame.select(explode('id')).collect()).rejects.toMatchObject({ errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE' });
  });

  it('keeps the row of an outer generator in a query without FROM', async () => {
    await using made = await temporarySession();
    const frame = await made.session.sql('SELECT explode_outer(CAST(NULL AS ARRAY<INT>)) AS n, 5 AS k');
    expect(await frame.collect()).toEqual([{ n: null, k: 5 }]);
  });
});

describe('JSON text of rows', () => {
  it('prints all columns of a row and reads them back', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame([{ id: 1, v: 'a"b', w: null }], 'id BIGINT, v STRING, w DOUBLE');
    const json = frame.select(toJson(struct('*')).alias('value'));
    expect(await json.collect()).toEqual([{ value: '{"id":1,"v":"a\\"b"}' }]);
    const read = json.select(fromJson('value', 'id BIGINT, v STRING, w DOUBLE').alias('r')).select('r.*');
    expect(await read.collect()).toEqual([{ id: 1n, v: 'a"b', w: null }]);
    frame.createOrReplaceTempView('t');
    expect(await (await made.session.sql('SELECT to_json(struct(*, 2 AS n)) AS value FROM t')).collect()).toEqual([
      { value: '{"id":1,"v":"a\\"b","n":2}' },
    ]);
    const both = await made.session.sql('SELECT to_json(struct(a.*)) AS value FROM t a JOIN t b ON a.id = b.id');
    expect(await both.collect()).toEqual([{ value: '{"id":1,"v":"a\\"b"}' }]);
  });

  it('joins aliased DataFrames on a condition and prints one side', async () => {
    await using made = await temporarySession();
    const left = made.session.createDataFrame([{ id: 1, v: 'x' }], 'id INT, v STRING').alias('a');
    const right = made.session.createDataFrame([{ id: 1, v: 'y' }], 'id INT, v STRING').alias('b');
    const joined = left.join(
      right,
      col('a.id')
        .eq(col('b.id'))
        .and(col('b.v').neq(lit('z'))),
    );
    expect(await joined.select(toJson(struct('b.*')).alias('j'), 'a.v').collect()).toEqual([{ j: '{"id":1,"v":"y"}', v: 'x' }]);
  });
});
