import type { RestatedSuite } from './restated-case.ts';

/*
 * Subtotals, and functions that make rows, in FROM. Cases of apache/spark (Apache-2.0), `sql/core/src/test`: `DataFrameAggregateSuite`, `group-analytics.sql`,
 * `table-valued-functions.sql`, `GeneratorFunctionSuite`.
 */

const t = 'VALUES (1, 2, 3), (1, 3, 4), (2, 2, 5) AS t(a, b, c)';

const mixedStack = "SELECT stack(2, 1, 'a')";

const queries: readonly (readonly [of: string, sql: string])[] = [
  ['group-analytics.sql: GROUPING and GROUPING_ID', `SELECT a, b, grouping_id(), sum(c) FROM ${t} GROUP BY ROLLUP(a, b)`],
  ['group-analytics.sql: GROUPING and GROUPING_ID', `SELECT a, grouping(a), grouping(b), grouping_id(a, b) FROM ${t} GROUP BY CUBE(a, b)`],
  ['group-analytics.sql: GROUPING in order by clause', `SELECT a, b FROM ${t} GROUP BY CUBE(a, b) ORDER BY grouping_id(), a, b LIMIT 3`],
  ['group-analytics.sql: GROUPING in filter', `SELECT a, b FROM ${t} GROUP BY CUBE(a, b) HAVING grouping(a) = 1 AND grouping_id() > 1`],
  ['group-analytics.sql: GROUPING_ID of sets', `SELECT a, b, grouping_id() FROM ${t} GROUP BY GROUPING SETS ((a, b), (b), ())`],
  ['group-analytics.sql: mixed grouping', `SELECT a, b, grouping_id() AS g FROM ${t} GROUP BY a, ROLLUP(b)`],
  ['group-analytics.sql: WITH ROLLUP', `SELECT a, grouping_id() + 1 AS g, count(*) FROM ${t} GROUP BY a WITH ROLLUP`],
  ['group-analytics.sql: keys by place', `SELECT a + 1 AS k, grouping_id() FROM ${t} GROUP BY ROLLUP(1)`],
  ['group-analytics.sql: keys that are computed', `SELECT grouping(a + b), sum(c) FROM ${t} GROUP BY CUBE(a + b)`],
  ['group-analytics.sql: GROUPING_ID of other columns', `SELECT grouping_id(b, a) FROM ${t} GROUP BY CUBE(a, b)`],
  ['group-analytics.sql: GROUPING_ID of other columns', `SELECT grouping_id(a) FROM ${t} GROUP BY CUBE(a, b)`],
  ['group-analytics.sql: GROUPING of no key', `SELECT grouping(c) FROM ${t} GROUP BY CUBE(a, b)`],
  ['group-analytics.sql: GROUPING without sets', `SELECT grouping(a) FROM ${t} GROUP BY a`],
  ['group-analytics.sql: GROUPING_ID without sets', `SELECT grouping_id(a) FROM ${t} GROUP BY a`],
  ['group-analytics.sql: GROUPING in filter', `SELECT a FROM ${t} GROUP BY a HAVING grouping_id() > 1`],
  ['DataFrameAggregateSuite: grouping without GROUP BY', `SELECT grouping_id() FROM ${t}`],
  ['table-valued-functions.sql: stack', 'SELECT * FROM stack(2, 1, 2, 3)'],
  ['table-valued-functions.sql: stack', "SELECT s.k, s.v FROM stack(2, 'a', 1, 'b', 2) AS s(k, v)"],
  ['table-valued-functions.sql: lateral stack', 'SELECT t.a, s.* FROM VALUES (1, 2) AS t(a, b), LATERAL stack(2, t.a, t.b) AS s(x)'],
  ['table-valued-functions.sql: json_tuple', `SELECT * FROM json_tuple('{"a": 1, "b": "x"}', 'a', 'b', 'c') AS j(a, b, c)`],
  ['GeneratorFunctionSuite: stack', 'SELECT stack(3, 1, 1.5, 2, NULL, 3, 2.5)'],
  ['GeneratorFunctionSuite: stack', mixedStack],
  ['GeneratorFunctionSuite: stack', 'SELECT stack(0, 1)'],
  [
    'GeneratorFunctionSuite: stack in lateral view',
    "SELECT k, v FROM VALUES (1) AS t(id) LATERAL VIEW stack(2, 'a', id, 'b', id + 1) s AS k, v",
  ],
];

export const subtotals: RestatedSuite = {
  name: 'subtotals',
  format: 'delta',
  cases: queries.map(([of, sql]) => ({
    of,
    title: sql,
    steps: [sql],
    ...(sql === mixedStack ? { differs: { 0: { ours: { refused: 'INVALID_QUERY' }, because: 'the engine finds it, and tells it' } } } : {}),
  })),
};
