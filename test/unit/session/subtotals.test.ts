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
