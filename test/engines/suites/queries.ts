import { type Column, type DataFrame, functions as f, Window } from '../../../src/index.ts';
import type { Difference, RestatedSuite } from './restated-case.ts';

/** The relations of the queries, `a` and `b`; ids and names are in both, and in each of them twice and not at all. */
export const relations = {
  a: "SELECT * FROM VALUES (1, 'x', 10.5D), (2, 'y', NULL), (2, 'z', -3D), (NULL, 'x', 4D) AS t(id, name, v)",
  b: "SELECT * FROM VALUES (1, 'x', true), (3, NULL, false), (2, 'q', NULL) AS t(id, name, flag)",
  n: "SELECT 1 AS k, array(3, 1) AS xs, map('m', 1) AS kv, named_struct('p', 7, 'Q', 'w') AS s",
} as const;

type Frames = Readonly<Record<keyof typeof relations, DataFrame>>;

/** A query over the relations, as text and as calls: both give the same, which is what Spark gives. */
export interface BothWays {
  readonly sql: string;
  /** What ours gives instead, and why. */
  readonly differs?: Difference | undefined;
  readonly frame: (frames: Frames) => DataFrame;
}

const { col, expr, lit } = f;
const c = (name: string): Column => col(name);

const selections: readonly BothWays[] = [
  { sql: 'SELECT * FROM a', frame: ({ a }) => a },
  { sql: 'SELECT id, NAME FROM a', frame: ({ a }) => a.select('id', 'NAME') },
  { sql: 'SELECT id AS i, id AS I2, v + 1 FROM a', frame: ({ a }) => a.select(c('id').as('i'), c('id').as('I2'), c('v').plus(1)) },
  { sql: 'SELECT a.* FROM a', frame: ({ a }) => a.alias('a').select('a.*') },
  { sql: 'SELECT a.name FROM a', frame: ({ a }) => a.alias('a').select('a.name') },
  { sql: 'SELECT s.p, s.q, s.* FROM n', frame: ({ n }) => n.select('s.p', 's.q', 's.*') },
  { sql: "SELECT kv['m'], kv.m, xs[0] FROM n", frame: ({ n }) => n.select(expr("kv['m']"), expr('kv.m'), expr('xs[0]')) },
  { sql: 'SELECT s FROM n', frame: ({ n }) => n.select('s') },
  {
    sql: "SELECT 'c', 1, 2.50, true, NULL FROM n",
    differs: {
      ours: {
        columns: ['c string', '1 int', '2.50 decimal(3,2)', 'true boolean', 'NULL int'],
        rows: ['{"1":1,"2.50":"2.50","NULL":null,"c":"c","true":true}'],
      },
      because: 'a column of which only NULL is known has a type that tables have',
    },
    frame: ({ n }) => n.selectExpr("'c'", '1', '2.50', 'true', 'NULL'),
  },
  { sql: "SELECT concat(name, 'x'), upper(name) FROM a", frame: ({ a }) => a.selectExpr("concat(name, 'x')", 'upper(name)') },
  {
    sql: 'SELECT CAST(id AS STRING), CAST(id + 1 AS STRING) FROM a',
    frame: ({ a }) => a.select(c('id').cast('string'), c('id').plus(1).cast('string')),
  },
  {
    sql: 'SELECT -id, NOT (id = 1), id IS NULL FROM a',
    frame: ({ a }) => a.select(c('id').negate(), c('id').eq(1).not(), c('id').isNull()),
  },
  {
    sql: "SELECT CASE WHEN id = 1 THEN 'one' ELSE 'many' END FROM a",
    frame: ({ a }) => a.select(f.when(c('id').eq(1), 'one').otherwise('many')),
  },
  {
    sql: "SELECT id IN (1, 3), name LIKE 'x%', v BETWEEN 0 AND 5 FROM a",
    frame: ({ a }) => a.selectExpr('id IN (1, 3)', "name LIKE 'x%'", 'v BETWEEN 0 AND 5'),
  },
  { sql: 'SELECT id, explode(xs) FROM n, a', frame: ({ n, a }) => n.crossJoin(a).selectExpr('id', 'explode(xs)') },
  { sql: 'SELECT explode(kv) FROM n', frame: ({ n }) => n.selectExpr('explode(kv)') },
  { sql: 'SELECT posexplode(xs) AS (i, x) FROM n', frame: ({ n }) => n.selectExpr('posexplode(xs) AS (i, x)') },
  { sql: 'SELECT transform(xs, x -> x + k) FROM n', frame: ({ n }) => n.selectExpr('transform(xs, x -> x + k)') },
  { sql: 'SELECT DISTINCT name FROM a', frame: ({ a }) => a.select('name').distinct() },
];

const conditions: readonly BothWays[] = [
  { sql: 'SELECT * FROM a WHERE id = 2', frame: ({ a }) => a.where(c('id').eq(2)) },
  { sql: "SELECT * FROM a WHERE id = '2'", frame: ({ a }) => a.where("id = '2'") },
  { sql: 'SELECT * FROM a WHERE a.id > 1 AND v IS NOT NULL', frame: ({ a }) => a.alias('a').where('a.id > 1 AND v IS NOT NULL') },
  { sql: 'SELECT name FROM a WHERE v < 0', frame: ({ a }) => a.where('v < 0').select('name') },
  { sql: 'SELECT * FROM a WHERE true', frame: ({ a }) => a.where(lit(true)) },
  { sql: 'SELECT * FROM a WHERE NULL', frame: ({ a }) => a.where('NULL') },
  { sql: 'SELECT * FROM a LIMIT 0', frame: ({ a }) => a.limit(0) },
  { sql: 'SELECT id FROM a ORDER BY v DESC NULLS LAST LIMIT 2', frame: ({ a }) => a.orderBy(c('v').descNullsLast()).limit(2).select('id') },
  {
    sql: 'SELECT name, id FROM a ORDER BY id, name LIMIT 2 OFFSET 1',
    frame: ({ a }) => a.orderBy('id', 'name').offset(1).limit(2).select('name', 'id'),
  },
];

const groups: readonly BothWays[] = [
  { sql: 'SELECT count(*), count(1), count(id) FROM a', frame: ({ a }) => a.selectExpr('count(*)', 'count(1)', 'count(id)') },
  { sql: 'SELECT sum(id), avg(v), min(name), max(v) FROM a', frame: ({ a }) => a.selectExpr('sum(id)', 'avg(v)', 'min(name)', 'max(v)') },
  { sql: 'SELECT name, count(*) FROM a GROUP BY name', frame: ({ a }) => a.groupBy('name').agg(expr('count(*)')) },
  { sql: 'SELECT name, count(1) AS count FROM a GROUP BY name', frame: ({ a }) => a.groupBy('name').count() },
  { sql: 'SELECT name, sum(v) FROM a GROUP BY name', frame: ({ a }) => a.groupBy('name').sum('v') },
  { sql: 'SELECT id % 2, max(v) AS m FROM a GROUP BY id % 2', frame: ({ a }) => a.groupBy(c('id').mod(2)).agg(f.max('v').as('m')) },
  {
    sql: 'SELECT name, id, count(DISTINCT v) FROM a GROUP BY name, id',
    frame: ({ a }) => a.groupBy('name', 'id').agg(f.countDistinct('v')),
  },
  { sql: 'SELECT sum(DISTINCT id) FROM a', frame: ({ a }) => a.agg(f.sumDistinct('id')) },
  {
    sql: 'SELECT name, sum(v) + 1, count(*) > 1 FROM a GROUP BY name',
    frame: ({ a }) => a.groupBy('name').agg(expr('sum(v) + 1'), expr('count(*) > 1')),
  },
  {
    sql: 'SELECT name, count(*) AS n FROM a GROUP BY name HAVING count(*) > 1',
    frame: ({ a }) => a.groupBy('name').agg(expr('count(*) AS n')).where('n > 1'),
  },
  {
    sql: 'SELECT name, sum(v) FILTER (WHERE id = 2) FROM a GROUP BY name',
    frame: ({ a }) => a.groupBy('name').agg(expr('sum(v) FILTER (WHERE id = 2)')),
  },
  { sql: 'SELECT count(*) FROM a WHERE false', frame: ({ a }) => a.where('false').agg(expr('count(*)')) },
  { sql: 'SELECT upper(name), count(*) FROM a GROUP BY upper(name)', frame: ({ a }) => a.groupBy(f.upper('name')).agg(expr('count(*)')) },
];

const windows: readonly BothWays[] = [
  {
    sql: 'SELECT id, name, row_number() OVER (PARTITION BY name ORDER BY v) AS r FROM a',
    frame: ({ a }) => a.select('id', 'name', f.rowNumber().over(Window.partitionBy('name').orderBy('v')).as('r')),
  },
  { sql: 'SELECT id, sum(v) OVER (PARTITION BY name) FROM a', frame: ({ a }) => a.selectExpr('id', 'sum(v) OVER (PARTITION BY name)') },
  { sql: 'SELECT id, lag(v) OVER (ORDER BY id, name) FROM a', frame: ({ a }) => a.selectExpr('id', 'lag(v) OVER (ORDER BY id, name)') },
];

const unnamedWindows: readonly BothWays[] = [
  'row_number() OVER (PARTITION BY name ORDER BY id DESC)',
  'cume_dist() OVER (ORDER BY id)',
  'ntile(2) OVER (ORDER BY id, name)',
  'lead(v, 2, 0D) OVER (ORDER BY id, name)',
  'sum(v) OVER (ORDER BY id)',
  'max(name) OVER ()',
  'count(*) OVER (ORDER BY id, name ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)',
  'first_value(name) OVER (PARTITION BY id ORDER BY name)',
].map((window) => ({ sql: `SELECT id, ${window} FROM a`, frame: ({ a }) => a.selectExpr('id', window) }));

const otherMembers: Difference = {
  ours: { refused: 'INCOMPATIBLE_COLUMN_TYPE' },
  because: 'members of other names are not taken for one another',
};

const moreSets: readonly BothWays[] = [
  ['2.5', '1'],
  ["DATE '2024-01-01'", "TIMESTAMP '2024-01-01 10:00:00'"],
  ["'7'", '1.25'],
  ["'true'", 'true'],
  ["'2024-01-01'", "DATE '2024-01-02'"],
  ['NULL', "'x'"],
  ['true', '1'],
  ["DATE '2024-01-01'", '1'],
  ['array(1)', 'array(2L)'],
  ['array(1)', "array('x')"],
  ["named_struct('p', 1)", "named_struct('P', 2L)"],
  ["named_struct('p', 1)", "named_struct('q', 2)"],
  ['3Y', '4S'],
  ['1.5D', '2.25'],
  ["X'01'", "'x'"],
].map(([one = '', other = '']) => ({
  sql: `SELECT ${one} AS c FROM n UNION ALL SELECT ${other} FROM n`,
  frame: ({ n }) => n.selectExpr(`${one} AS c`).union(n.selectExpr(other)),
  ...(other === "named_struct('q', 2)" ? { differs: otherMembers } : {}),
}));

const joins: readonly BothWays[] = [
  {
    sql: 'SELECT * FROM a JOIN b ON a.id = b.id',
    frame: ({ a, b }) => a.join(b, a.col('id').eq(b.col('id'))).select(a.col('id'), a.col('name'), 'v', b.col('id'), b.col('name'), 'flag'),
  },
  { sql: 'SELECT * FROM a JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id') },
  { sql: 'SELECT * FROM a LEFT JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id', 'left') },
  { sql: 'SELECT * FROM a RIGHT JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id', 'right') },
  { sql: 'SELECT * FROM a FULL JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id', 'outer') },
  { sql: 'SELECT * FROM a JOIN b USING (id, name)', frame: ({ a, b }) => a.join(b, ['id', 'name']) },
  { sql: 'SELECT * FROM a LEFT SEMI JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id', 'left_semi') },
  { sql: 'SELECT * FROM a LEFT ANTI JOIN b USING (id)', frame: ({ a, b }) => a.join(b, 'id', 'left_anti') },
  {
    sql: 'SELECT a.id, b.flag FROM a JOIN b ON a.id < b.id',
    frame: ({ a, b }) => a.alias('a').join(b.alias('b'), expr('a.id < b.id')).select('a.id', 'b.flag'),
  },
  { sql: 'SELECT a.v, b.flag FROM a CROSS JOIN b', frame: ({ a, b }) => a.crossJoin(b).select('v', 'flag') },
  {
    sql: 'SELECT x.id, y.v FROM a x JOIN a y ON x.id = y.id',
    frame: ({ a }) => a.alias('x').join(a.alias('y'), expr('x.id = y.id')).select('x.id', 'y.v'),
  },
  {
    sql: 'SELECT a.id FROM a LEFT JOIN b ON a.id = b.id AND b.flag',
    frame: ({ a, b }) => a.alias('a').join(b.alias('b'), expr('a.id = b.id AND b.flag'), 'left').select('a.id'),
  },
];

const sets: readonly BothWays[] = [
  {
    sql: 'SELECT id, name FROM a UNION ALL SELECT id, name FROM b',
    frame: ({ a, b }) => a.select('id', 'name').union(b.select('id', 'name')),
  },
  {
    sql: 'SELECT id, name FROM a UNION SELECT id, name FROM b',
    frame: ({ a, b }) => a.select('id', 'name').union(b.select('id', 'name')).distinct(),
  },
  { sql: 'SELECT id FROM a INTERSECT SELECT id FROM b', frame: ({ a, b }) => a.select('id').intersect(b.select('id')) },
  { sql: 'SELECT id FROM a EXCEPT SELECT id FROM b', frame: ({ a, b }) => a.select('id').except(b.select('id')) },
  { sql: 'SELECT id FROM a EXCEPT ALL SELECT id FROM b', frame: ({ a, b }) => a.select('id').exceptAll(b.select('id')) },
  { sql: 'SELECT id AS k FROM a UNION ALL SELECT v FROM a', frame: ({ a }) => a.select(c('id').as('k')).union(a.select('v')) },
  { sql: "SELECT id FROM a UNION ALL SELECT 'text'", frame: ({ a, n }) => a.select('id').union(n.selectExpr("'text'")) },
];

const refusals: readonly BothWays[] = [
  { sql: 'SELECT nothing FROM a', frame: ({ a }) => a.select('nothing') },
  { sql: 'SELECT b.id FROM a', frame: ({ a }) => a.alias('a').select('b.id') },
  { sql: 'SELECT s.nothing FROM n', frame: ({ n }) => n.select('s.nothing') },
  { sql: 'SELECT id.x FROM a', frame: ({ a }) => a.select('id.x') },
  { sql: 'SELECT nothing(id) FROM a', frame: ({ a }) => a.selectExpr('nothing(id)') },
  { sql: 'SELECT upper(id, name) FROM a', frame: ({ a }) => a.selectExpr('upper(id, name)') },
  { sql: 'SELECT id FROM a JOIN b ON a.id = b.id', frame: ({ a, b }) => a.alias('a').join(b.alias('b'), expr('a.id = b.id')).select('id') },
  { sql: 'SELECT * FROM a JOIN b USING (nothing)', frame: ({ a, b }) => a.join(b, 'nothing') },
  { sql: 'SELECT * FROM a WHERE count(*) > 1', frame: ({ a }) => a.where('count(*) > 1') },
  { sql: 'SELECT * FROM a WHERE sum(v) > 1', frame: ({ a }) => a.where(f.sum('v').gt(1)) },
  { sql: 'SELECT * FROM a WHERE id', frame: ({ a }) => a.where('id') },
  { sql: "SELECT * FROM a WHERE 'x'", frame: ({ a }) => a.where("'x'") },
  { sql: 'SELECT * FROM a WHERE v + 1', frame: ({ a }) => a.where('v + 1') },
  { sql: 'SELECT * FROM a WHERE row_number() OVER (ORDER BY id) = 1', frame: ({ a }) => a.where('row_number() OVER (ORDER BY id) = 1') },
  { sql: 'SELECT name, v FROM a GROUP BY name', frame: ({ a }) => a.groupBy('name').agg(c('v')) },
  { sql: 'SELECT id, count(*) FROM a', frame: ({ a }) => a.selectExpr('id', 'count(*)') },
  { sql: 'SELECT sum(count(*)) FROM a', frame: ({ a }) => a.selectExpr('sum(count(*))') },
  { sql: 'SELECT sum(count(id)) FROM a GROUP BY name', frame: ({ a }) => a.groupBy('name').agg(expr('sum(count(id))')) },
  { sql: 'SELECT count(*) FROM a GROUP BY sum(v)', frame: ({ a }) => a.groupBy(f.sum('v')).agg(expr('count(*)')) },
  { sql: 'SELECT * FROM a ORDER BY nothing', frame: ({ a }) => a.orderBy('nothing') },
  { sql: 'SELECT * FROM n ORDER BY kv', frame: ({ n }) => n.orderBy('kv') },
  { sql: 'SELECT DISTINCT kv FROM n', frame: ({ n }) => n.select('kv').distinct() },
  { sql: 'SELECT kv, count(*) FROM n GROUP BY kv', frame: ({ n }) => n.groupBy('kv').agg(expr('count(*)')) },
  { sql: 'SELECT kv = kv FROM n', frame: ({ n }) => n.select(c('kv').eq(c('kv'))) },
  { sql: 'SELECT xs + 1 FROM n', frame: ({ n }) => n.select(c('xs').plus(1)) },
  { sql: 'SELECT id, name FROM a UNION ALL SELECT id FROM b', frame: ({ a, b }) => a.select('id', 'name').union(b.select('id')) },
  { sql: 'SELECT xs FROM n UNION ALL SELECT k FROM n', frame: ({ n }) => n.select('xs').union(n.select('k')) },
  { sql: 'SELECT kv FROM n INTERSECT SELECT kv FROM n', frame: ({ n }) => n.select('kv').intersect(n.select('kv')) },
  { sql: 'SELECT * FROM a LIMIT -1', frame: ({ a }) => a.limit(-1) },
  { sql: 'SELECT explode(explode(xs)) FROM n', frame: ({ n }) => n.selectExpr('explode(explode(xs))') },
  { sql: 'SELECT explode(k) FROM n', frame: ({ n }) => n.selectExpr('explode(k)') },
  { sql: 'SELECT explode(xs) + 1 FROM n', frame: ({ n }) => n.selectExpr('explode(xs) + 1') },
  { sql: 'SELECT * FROM a JOIN b ON a.id', frame: ({ a, b }) => a.alias('a').join(b.alias('b'), expr('a.id')) },
  { sql: 'SELECT * FROM a JOIN b ON sum(a.id) > 1', frame: ({ a, b }) => a.alias('a').join(b.alias('b'), expr('sum(a.id) > 1')) },
  { sql: 'SELECT CASE WHEN id THEN 1 END FROM a', frame: ({ a }) => a.select(f.when(c('id'), 1)) },
  { sql: 'SELECT if(name, 1, 2) FROM a', frame: ({ a }) => a.selectExpr('if(name, 1, 2)') },
  { sql: 'SELECT sum(name) FROM n, b', frame: ({ n, b }) => n.crossJoin(b).selectExpr('sum(name)') },
  { sql: 'SELECT sum(flag) FROM b', frame: ({ b }) => b.agg(f.sum('flag')) },
  { sql: 'SELECT row_number() FROM a', frame: ({ a }) => a.selectExpr('row_number()') },
  { sql: 'SELECT row_number() OVER () FROM a', frame: ({ a }) => a.selectExpr('row_number() OVER ()') },
];

const pivots: readonly BothWays[] = [
  {
    sql: "SELECT * FROM (SELECT id, name, v FROM a) PIVOT (sum(v) FOR name IN ('x', 'y', 'nope'))",
    frame: ({ a }) => a.select('id', 'name', 'v').groupBy('id').pivot('name', ['x', 'y', 'nope']).agg(f.sum('v')),
  },
  {
    sql: "SELECT * FROM a PIVOT (sum(v) AS s, count(*) AS n FOR name IN ('x' AS ex, 'y'))",
    frame: ({ a }) =>
      a
        .withColumn('name', expr("CASE WHEN name = 'x' THEN 'ex' ELSE name END"))
        .groupBy('id')
        .pivot('name', ['ex', 'y'])
        .agg(f.sum('v').as('s'), f.count('*').as('n')),
  },
  {
    sql: 'SELECT * FROM (SELECT id, v FROM a) PIVOT (max(v) FOR id IN (1, 2, 3))',
    frame: ({ a }) => a.groupBy().pivot('id', [1, 2, 3]).max('v'),
  },
];

const laterAliases: readonly BothWays[] = [
  {
    sql: 'SELECT id + 1 AS next, next * 2 AS twice, twice FROM a',
    frame: ({ a }) => a.select(c('id').plus(1).as('next'), expr('next * 2').as('twice'), c('twice')),
  },
  { sql: 'SELECT v AS id, id FROM a', frame: ({ a }) => a.selectExpr('v AS id', 'id') },
  { sql: 'SELECT later, id AS later FROM a', frame: ({ a }) => a.selectExpr('later', 'id AS later') },
  {
    sql: 'SELECT name, sum(v) AS s, s + 1 AS more FROM a GROUP BY name',
    frame: ({ a }) => a.groupBy('name').agg(f.sum('v').as('s'), expr('s + 1').as('more')),
  },
];

/** Every query, by its text. */
export const bothWays: readonly BothWays[] = [
  selections,
  conditions,
  groups,
  windows,
  unnamedWindows,
  joins,
  sets,
  moreSets,
  refusals,
  pivots,
  laterAliases,
].flat();

/** What calls have no words for. */
const texts: readonly string[] = [
  'SELECT id, name FROM a ORDER BY ALL',
  'SELECT id, name FROM a ORDER BY ALL DESC NULLS LAST',
  'SELECT id AS `all`, name FROM a ORDER BY ALL',
  'SELECT id FROM a UNION SELECT id FROM b ORDER BY ALL',
  "SELECT * FROM a PIVOT (sum(v) FOR (id, name) IN ((1, 'x') AS one, (2, 'y') AS two))",
  "SELECT * FROM a PIVOT (v FOR name IN ('x'))",
  'SELECT * FROM a PIVOT (sum(v) FOR name IN (nope))',
  'SELECT * FROM a PIVOT (sum(v) FOR name IN (id))',
  'SELECT * FROM a PIVOT (sum(v) FOR id IN (1 + 1, CAST(NULL AS INT)))',
  'SELECT * FROM (SELECT 1 AS k, 10 AS p, 20 AS q) UNPIVOT (v FOR n IN (p, q))',
  'SELECT * FROM (SELECT 1 AS k, NULL AS p, 20 AS q) UNPIVOT (v FOR n IN (p, q))',
  'SELECT * FROM (SELECT 1 AS k, CAST(NULL AS INT) AS p, 20L AS q) UNPIVOT INCLUDE NULLS (v FOR n IN (p AS `first`, q)) AS u ORDER BY u.n',
  'SELECT * FROM (SELECT 1 AS k, 1 AS a1, 2 AS b1, 3 AS a2, 4 AS b2) UNPIVOT ((x, y) FOR n IN ((a1, b1) AS one, (a2, b2)))',
  "SELECT * FROM (SELECT 1 AS k, 'x' AS p, 20 AS q) UNPIVOT (v FOR n IN (p, q))",
  'SELECT * FROM (SELECT 1 AS k, 10 AS p) UNPIVOT (v FOR n IN (nope))',
  'SELECT id FROM a WHERE (id, name) IN (SELECT id, name FROM b WHERE b.id = a.id)',
  'SELECT id FROM a WHERE (id, name) NOT IN (SELECT id, name FROM b WHERE name IS NOT NULL)',
  'SELECT id FROM a WHERE id IN (SELECT id, name FROM b)',
  'SELECT id FROM a WHERE (id, name, v) IN (SELECT id, name FROM b)',
  'SELECT (SELECT id FROM b)',
];

const unknownIsNull =
  'a row of which a value is not known may be among the others: NULL, where Spark says that it is neither in nor not in them';

const textsOnly: readonly Omit<BothWays, 'frame'>[] = [
  ...texts.map((sql) => ({ sql })),
  {
    sql: 'SELECT id, name, (id, name) IN (SELECT id, name FROM b) AS found FROM a',
    differs: {
      ours: {
        columns: ['id int', 'name string', 'found boolean'],
        rows: [
          '{"found":false,"id":2,"name":"y"}',
          '{"found":false,"id":2,"name":"z"}',
          '{"found":null,"id":null,"name":"x"}',
          '{"found":true,"id":1,"name":"x"}',
        ],
      },
      because: unknownIsNull,
    },
  },
  {
    sql: 'SELECT id, name, (id, name) NOT IN (SELECT id, name FROM b) AS lacking FROM a',
    differs: {
      ours: {
        columns: ['id int', 'name string', 'lacking boolean'],
        rows: [
          '{"id":1,"lacking":false,"name":"x"}',
          '{"id":2,"lacking":true,"name":"y"}',
          '{"id":2,"lacking":true,"name":"z"}',
          '{"id":null,"lacking":null,"name":"x"}',
        ],
      },
      because: unknownIsNull,
    },
  },
];

const withs = Object.entries(relations).map(([name, text]) => `${name} AS (${text})`);

/** The texts of the queries. */
export const queries: RestatedSuite = {
  name: 'queries',
  format: 'delta',
  cases: [...bothWays, ...textsOnly].map(({ sql, differs }) => ({
    of: 'queries that are calls of a DataFrame too',
    title: sql,
    steps: [`WITH ${withs.join(', ')} ${sql}`],
    ...(differs === undefined ? {} : { differs: { 0: differs } }),
  })),
};
