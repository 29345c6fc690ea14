import { describe, expect, it } from 'vitest';
import { sum } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

const rows = [
  { g: 1, id: 1, v: 10 },
  { g: 1, id: 2, v: 20 },
  { g: 2, id: 3, v: 5 },
];
const order = ['g', 'id'] as const;

describe('subtotals of DataFrames are those of SQL', () => {
  it.each([
    ['rollup', 'ROLLUP (g, id)'],
    ['cube', 'CUBE (g, id)'],
  ] as const)('%s', async (method, groups) => {
    await using made = await temporarySession();
    const { session } = made;
    const frame = session.createDataFrame(rows, 'g INT NOT NULL, id INT NOT NULL, v INT');
    frame.createOrReplaceTempView('t');
    const called = frame[method]('g', 'id').agg(sum('v').alias('s'));
    const asked = await session.sql(`SELECT g, id, sum(v) AS s FROM t GROUP BY ${groups}`);
    const found = await called.orderBy(...order).collect();
    expect(found).toEqual(await asked.orderBy(...order).collect());
    expect(found).toContainEqual({ g: null, id: null, s: 35n });
    expect((await called.schema).fields.map(({ nullable }) => nullable)).toEqual([true, true, true]);
    expect(await asked.schema).toEqual(await called.schema);
  });

  it('groupingSets', async () => {
    await using made = await temporarySession();
    const frame = made.session.createDataFrame(rows, 'g INT NOT NULL, id INT NOT NULL, v INT');
    const grouped = frame.groupingSets([['g'], ['id'], []], 'g', 'id').count();
    expect(await grouped.orderBy(...order).collect()).toEqual([
      { g: null, id: null, count: 3n },
      { g: null, id: 1, count: 1n },
      { g: null, id: 2, count: 1n },
      { g: null, id: 3, count: 1n },
      { g: 1, id: null, count: 2n },
      { g: 2, id: null, count: 1n },
    ]);
    await expect(
      frame
        .groupingSets([['v']], 'g')
        .count()
        .collect(),
    ).rejects.toMatchObject({ errorClass: 'MISSING_AGGREGATION' });
    await expect(
      frame
        .groupingSets([['g']], 'g', 'id')
        .count()
        .collect(),
    ).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    expect(() => frame.rollup('g').pivot('id', [1])).toThrow(/not supported/u);
  });
});

describe('what stands beside aggregates is grouped by', () => {
  it.each([
    ['SELECT g + 1, count(*) FROM t GROUP BY g + 1', undefined],
    ['SELECT g + 1 + id, count(*) FROM t GROUP BY g + 1, id', undefined],
    ['SELECT upper(s.a), count(*) FROM t GROUP BY s', undefined],
    ['SELECT (SELECT max(v) FROM t), count(*) FROM t', undefined],
    ['SELECT g, sum(sum(v)) OVER (ORDER BY g) FROM t GROUP BY g', undefined],
    ['SELECT transform(array(1), x -> x + g), count(*) FROM t GROUP BY g', undefined],
    ['SELECT g AS k, count(*) FROM t GROUP BY k ORDER BY g', undefined],
    ['SELECT count(*) FROM t HAVING max(v) > 1', undefined],
    ['SELECT g, count(*) FROM t GROUP BY g + 1', 'MISSING_AGGREGATION'],
    ['SELECT s, count(*) FROM t GROUP BY s.a', 'MISSING_AGGREGATION'],
    ['SELECT g, count(*) FROM t GROUP BY g HAVING v > 1', 'MISSING_AGGREGATION'],
    ['SELECT g, count(*) FROM t GROUP BY g ORDER BY v', 'MISSING_AGGREGATION'],
    ['SELECT g, row_number() OVER (ORDER BY v) FROM t GROUP BY g', 'MISSING_AGGREGATION'],
    ['SELECT count(*), s.a FROM t', 'MISSING_GROUP_BY'],
  ])('%s', async (text, errorClass) => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql("CREATE TEMPORARY VIEW t AS SELECT 1 AS g, 2 AS id, 3 AS v, named_struct('a', 'x', 'b', 'y') AS s");
    const asked = session.sql(text).then((frame) => frame.collect());
    if (errorClass === undefined) expect(await asked).toHaveLength(1);
    else await expect(asked).rejects.toMatchObject({ errorClass, sqlState: '42803' });
  });
});

describe('grouping and grouping_id', () => {
  const t = 'VALUES (1, 2, 3), (1, 3, 4) AS t(a, b, c)';

  it('tell which keys a row is not grouped by, of all keys without being told them', async () => {
    await using made = await temporarySession();
    const text = `SELECT a, b, sum(c) AS s, grouping(b) AS one, grouping_id() AS all, grouping_id(a, b) AS told FROM ${t} GROUP BY ROLLUP(a, b) HAVING grouping_id() < 9 ORDER BY grouping_id(), b`;
    expect(await (await made.session.sql(text)).collect()).toEqual([
      { a: 1, b: 2, s: 3n, one: 0, all: 0n, told: 0n },
      { a: 1, b: 3, s: 4n, one: 0, all: 0n, told: 0n },
      { a: 1, b: null, s: 7n, one: 1, all: 1n, told: 1n },
      { a: null, b: null, s: 7n, one: 1, all: 3n, told: 3n },
    ]);
  });

  it.each([
    [`SELECT grouping_id(b, a) FROM ${t} GROUP BY CUBE(a, b)`, 'GROUPING_ID_COLUMN_MISMATCH'],
    [`SELECT grouping(c) FROM ${t} GROUP BY CUBE(a, b)`, 'GROUPING_COLUMN_MISMATCH'],
    [`SELECT grouping(a) FROM ${t} GROUP BY a`, 'UNSUPPORTED_GROUPING_EXPRESSION'],
    [`SELECT grouping_id() FROM ${t}`, 'UNSUPPORTED_GROUPING_EXPRESSION'],
  ])('are refused of what is no key: %s', async (text, errorClass) => {
    await using made = await temporarySession();
    await expect(made.session.sql(text)).rejects.toMatchObject({ errorClass });
  });
});

it('stack and json_tuple make rows in FROM, of columns beside them too', async () => {
  await using made = await temporarySession();
  const rows = async (text: string): Promise<unknown> => (await made.session.sql(text)).collect();
  expect(await rows('SELECT * FROM stack(2, 1, 2, 3)')).toEqual([
    { col0: 1, col1: 2 },
    { col0: 3, col1: null },
  ]);
  expect(await rows('SELECT s.x FROM VALUES (1, 2) AS v(a, b), LATERAL stack(2, v.a, v.b) AS s(x) ORDER BY x')).toEqual([
    { x: 1 },
    { x: 2 },
  ]);
  expect(await rows(`SELECT * FROM json_tuple('{"a": 1}', 'a', 'b') AS j(a, b)`)).toEqual([{ a: '1', b: null }]);
});
