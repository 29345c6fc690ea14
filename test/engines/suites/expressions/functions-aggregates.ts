import type { ExpressionSuite } from './expression-suite.ts';

const tables = {
  ints: "VALUES (1, 'a'), (2, 'b'), (2, 'b'), (NULL, NULL), (-5, 'c') AS t(v, k)",
  empty: 'VALUES (1) AS t(v) WHERE v > 1',
  nulls: 'VALUES (CAST(NULL AS INT)), (NULL) AS t(v)',
  one: 'VALUES (7) AS t(v)',
  longs: 'VALUES (9223372036854775807L), (1L) AS t(v)',
  decimals: 'VALUES (1.25), (2.50), (NULL), (-0.75) AS t(v)',
  doubles: "VALUES (1.5D), (double('NaN')), (-0.0D), (NULL) AS t(v)",
  bytes: 'VALUES (127Y), (1Y) AS t(v)',
  texts: "VALUES ('b'), ('a'), (''), (NULL) AS t(v)",
  numbersAsText: "VALUES ('1'), ('2.5') AS t(v)",
  dates: "VALUES (DATE '2024-01-01'), (DATE '1969-12-31'), (NULL) AS t(v)",
  flags: 'VALUES (true), (false), (NULL) AS t(v)',
} as const;
type Table = keyof typeof tables;
const numeric: readonly Table[] = ['ints', 'empty', 'nulls', 'one', 'decimals', 'doubles', 'bytes', 'numbersAsText', 'texts'];

function over(call: string, given: readonly Table[]): readonly string[] {
  return given.map((table) => `${call} FROM ${tables[table]}`);
}

function named(names: string, given: readonly Table[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, over(`${name}(v)`, given)]));
}

const pairs = 'VALUES (1, 2D), (2, 4D), (3, 7D), (NULL, 1D) AS t(x, y)';
const ranked = "VALUES (1, 'a', 10), (2, 'a', 20), (3, 'a', 20), (4, 'b', NULL), (5, 'b', 5) AS t(id, g, v)";

/** Aggregates, those of distinct and filtered values, and functions of windows. */
export const functionsAggregates: ExpressionSuite = {
  name: 'functions-aggregates',
  groups: {
    ...named('sum avg mean try_sum try_avg', [...numeric, 'longs', 'dates', 'flags']),
    ...named('min max', [...numeric, 'dates', 'flags']),
    ...named('count', ['ints', 'empty', 'nulls', 'texts']),
    ...named('stddev std stddev_samp stddev_pop variance var_samp var_pop skewness kurtosis median', numeric.slice(0, 6)),
    ...named('bit_and bit_or bit_xor', ['ints', 'empty', 'longs', 'bytes', 'decimals']),
    ...named('bool_and every bool_or some any count_if', ['flags', 'empty', 'texts']),
    mode: over('mode(v)', ['one', 'empty', 'nulls']),
    'mode of several': ['mode(v) FROM VALUES (1), (2), (2) AS t(v)', 'mode(v, true) FROM VALUES (3), (1), (3), (1) AS t(v)'],
    counts: [
      'count(*) FROM VALUES (1), (NULL) AS t(v)',
      'count(DISTINCT v) FROM VALUES (1), (1), (NULL) AS t(v)',
      'count(DISTINCT v, k) FROM VALUES (1, 2), (1, 2), (1, NULL) AS t(v, k)',
      'count(v, k) FROM VALUES (1, 2), (1, NULL) AS t(v, k)',
      'count(1) FROM VALUES (NULL) AS t(v)',
      'approx_count_distinct(v) FROM VALUES (1), (1), (2) AS t(v)',
    ],
    distinct: [
      `sum(DISTINCT v) FROM ${tables.ints}`,
      `avg(DISTINCT v) FROM ${tables.ints}`,
      `sort_array(collect_list(DISTINCT v)) FROM ${tables.ints}`,
      `max(DISTINCT k) FROM ${tables.ints}`,
    ],
    filter: [
      `sum(v) FILTER (WHERE v > 1) FROM ${tables.ints}`,
      `count(*) FILTER (WHERE k = 'b') FROM ${tables.ints}`,
      `collect_list(v) FILTER (WHERE v < 0) FROM ${tables.ints}`,
      `max(v) FILTER (WHERE false) FROM ${tables.ints}`,
      `first(k) FILTER (WHERE v = 2) FROM ${tables.ints}`,
      `count(DISTINCT v) FILTER (WHERE v > 0) FROM ${tables.ints}`,
    ],
    collect: [
      `sort_array(collect_list(v)) FROM ${tables.ints}`,
      `sort_array(collect_set(v)) FROM ${tables.ints}`,
      `collect_list(v) FROM ${tables.empty}`,
      `collect_set(v) FROM ${tables.nulls}`,
      `array_agg(v) FROM ${tables.one}`,
    ],
    'first and last': [
      `first(v) FROM ${tables.one}`,
      `first(v) FROM ${tables.empty}`,
      `first(v, true) FROM VALUES (NULL), (3) AS t(v)`,
      'first(v) IGNORE NULLS FROM VALUES (NULL), (3) AS t(v)',
      `last(v) FROM ${tables.one}`,
      `any_value(v) FROM ${tables.one}`,
      'first_value(v) FROM VALUES (4) AS t(v)',
      'last_value(v, true) FROM VALUES (4), (NULL) AS t(v)',
    ],
    by: [
      "max_by(k, v) FROM VALUES ('a', 1), ('b', 3), ('c', NULL) AS t(k, v)",
      "min_by(k, v) FROM VALUES ('a', 1), (NULL, 0) AS t(k, v)",
      "max_by(k, v) FROM VALUES ('a', CAST(NULL AS INT)) AS t(k, v)",
    ],
    two: [
      'corr',
      'covar_pop',
      'covar_samp',
      'regr_count',
      'regr_slope',
      'regr_intercept',
      'regr_avgx',
      'regr_avgy',
      'regr_sxx',
      'regr_syy',
      'regr_sxy',
      'regr_r2',
    ].map((name) => `round(${name}(y, x), 9) FROM ${pairs}`),
    percentile: ['0.5', '0', '1', '0.3', 'array(0.25, 0.75)'].flatMap((share) => [
      `percentile(v, ${share}) FROM ${tables.ints}`,
      `percentile_approx(v, ${share}) FROM ${tables.ints}`,
    ]),
    percentiles: [
      `approx_percentile(v, 0.5, 100) FROM ${tables.decimals}`,
      `percentile(v, 0.5) FROM ${tables.empty}`,
      `percentile_approx(v, 2.0) FROM ${tables.ints}`,
      `percentile(v, 0.5) FROM ${tables.doubles}`,
      `percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM ${tables.ints}`,
    ],
    listagg: [
      "listagg(v) FROM VALUES ('a'), (NULL) AS t(v)",
      "string_agg(v, ',') FROM VALUES ('a') AS t(v)",
      `listagg(v, ',') FROM ${tables.empty}`,
      "listagg(v, ',') WITHIN GROUP (ORDER BY v DESC) FROM VALUES ('a'), ('b') AS t(v)",
    ],
    grouping: [
      "k, grouping(k), count(*) FROM VALUES ('a'), ('a'), ('b') AS t(k) GROUP BY CUBE(k)",
      "k, g, grouping_id(), grouping_id(k, g) FROM VALUES ('a', 1) AS t(k, g) GROUP BY ROLLUP(k, g)",
      "grouping(k) FROM VALUES ('a') AS t(k) GROUP BY k",
    ],
    'in groups': [
      "k, sum(v), avg(v), min(v), count(v) FROM VALUES ('a', 1), ('a', NULL), ('b', NULL) AS t(k, v) GROUP BY k",
      "k FROM VALUES ('a', 1), ('b', 2) AS t(k, v) GROUP BY k HAVING max(v) > 1",
    ],
    windows: [
      'row_number()',
      'rank()',
      'dense_rank()',
      'percent_rank()',
      'cume_dist()',
      'ntile(2)',
      'lag(v)',
      'lag(v, 1, -1)',
      'lead(v, 2)',
      'lead(v, 1, 0)',
      'sum(v)',
      'avg(v)',
      'count(*)',
      'first_value(v)',
      'last_value(v)',
      'nth_value(v, 2)',
      'max(v)',
      'collect_list(v)',
      'lag(v) IGNORE NULLS',
      'min(g)',
    ].map((call) => `id, ${call} OVER (PARTITION BY g ORDER BY v, id) AS w FROM ${ranked}`),
    frames: [
      `id, sum(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS w FROM ${ranked}`,
      `id, sum(v) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM ${ranked}`,
      `id, last_value(v) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS w FROM ${ranked}`,
      `id, rank() OVER (ORDER BY v DESC) AS w FROM ${ranked}`,
      `id, count(*) OVER () AS w FROM ${ranked}`,
      `id, first_value(v, true) OVER (ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS w FROM ${ranked}`,
    ],
  },
};
