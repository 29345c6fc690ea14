import type { Difference, RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Forms of queries. Cases of apache/spark, `sql/core/src/test/resources/sql-tests/inputs` (Apache-2.0).
 */

const names: readonly RestatedCase[] = [
  {
    of: 'identifier-clause.sql: table and column references',
    title: 'IDENTIFIER names tables, columns, aliases and functions by constant texts',
    steps: [
      "CREATE OR REPLACE TEMPORARY VIEW {v} AS SELECT 1 AS c1, 2 AS `a b`, named_struct('x', 3) AS s",
      "SELECT IDENTIFIER('c1') FROM IDENTIFIER('{v}')",
      "SELECT IDENTIFIER('c' || '1'), IDENTIFIER('`a b`') FROM IDENTIFIER('{v}') AS t",
      "SELECT t.c1, IDENTIFIER('t.c1') AS other FROM IDENTIFIER(concat('{v}')) AS t WHERE IDENTIFIER('t.s.x') = 3",
      "SELECT IDENTIFIER('abs')(-1), IDENTIFIER('COUNT')(1) FROM {v} GROUP BY IDENTIFIER('c1') ORDER BY IDENTIFIER('c1')",
      "SELECT IDENTIFIER('a' || ' b') FROM {v}",
      "SELECT IDENTIFIER('nope') FROM {v}",
      "SELECT * FROM IDENTIFIER('nope')",
      "SELECT IDENTIFIER('no_such_function')(1)",
      "SELECT * FROM IDENTIFIER('ran' || 'ge')(0, 2)",
      'SELECT IDENTIFIER(c1) FROM {v}',
      'SELECT IDENTIFIER(1) FROM {v}',
      'SELECT IDENTIFIER(CAST(NULL AS STRING)) FROM {v}',
      "SELECT IDENTIFIER('') FROM {v}",
      'SELECT identifier FROM (SELECT 1 AS identifier)',
    ],
    differs: { 8: { ours: { refused: 'UNRESOLVED_ROUTINE' }, because: 'a function is named as anywhere else' } },
  },
];

const targets: readonly RestatedCase[] = [
  {
    of: 'identifier-clause.sql: DML',
    title: 'IDENTIFIER names the targets of statements',
    steps: [
      "CREATE TABLE IDENTIFIER('{t}') (id INT, v STRING) USING iceberg",
      "INSERT INTO IDENTIFIER('{t}') VALUES (1, 'a'), (2, 'b'), (3, 'c')",
      "UPDATE IDENTIFIER('{t}') SET v = 'z' WHERE IDENTIFIER('id') = 1",
      "DELETE FROM IDENTIFIER('{t}') WHERE id = 2",
      "MERGE INTO IDENTIFIER('{t}') AS t USING (SELECT 3 AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'm'",
      "SELECT * FROM IDENTIFIER('{t}')",
      "ALTER TABLE IDENTIFIER('{t}') ADD COLUMN w INT",
      'SELECT * FROM {t}',
      "INSERT INTO IDENTIFIER('nope') VALUES (1)",
      "DROP TABLE IDENTIFIER('nope')",
    ],
  },
];

export const identifierClause: RestatedSuite = { name: 'identifier-clause', format: 'delta', cases: names };

export const identifierClauseIceberg: RestatedSuite = { name: 'identifier-clause-iceberg', format: 'iceberg', cases: targets };

const numbers = 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10)';

/** Queries that stand by themselves, each a case. */
const alone = (
  of: string,
  texts: readonly string[],
  differs: Readonly<Record<string, Difference | undefined>> = {},
): readonly RestatedCase[] =>
  texts.map((text) => {
    const different = differs[text];
    return { of, title: text, steps: [text], ...(different === undefined ? {} : { differs: { 0: different } }) };
  });

export const recursiveQueries: RestatedSuite = {
  name: 'recursive-queries',
  format: 'delta',
  cases: alone('cte-recursion.sql', [
    `${numbers} SELECT * FROM t`,
    `${numbers} SELECT sum(n), count(*) FROM t`,
    `${numbers} SELECT a.n, b.n FROM t a JOIN t b ON a.n = b.n + 8`,
    'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n * 2 FROM t ORDER BY n DESC LIMIT 2',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT max(n) FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 101) SELECT max(n) FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 102) SELECT max(n) FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 103) SELECT max(n) FROM t',
    'WITH RECURSIVE t(n) MAX RECURSION LEVEL 5 AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t LIMIT 5',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 EXCEPT SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT n + 1 FROM t) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT n + 1 FROM t WHERE n < 3 UNION ALL SELECT 1) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1) SELECT * FROM t',
    'WITH RECURSIVE t(n, m) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1.5 FROM t WHERE n < 3) SELECT * FROM t',
    "WITH RECURSIVE t(n) AS (SELECT 'a' UNION ALL SELECT n || 'b' FROM t WHERE length(n) < 3) SELECT * FROM t",
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1L FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT DISTINCT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3 LIMIT 2) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT a.n + 1 FROM t a JOIN t b ON a.n = b.n WHERE a.n < 3) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n IN (SELECT n FROM t)) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT t.n + 1 FROM (SELECT 1 AS x) o LEFT JOIN t ON o.x = t.n) SELECT * FROM t',
    "WITH RECURSIVE e AS (SELECT * FROM VALUES (1, CAST(NULL AS INT), 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 1, 'd') AS e(id, boss, name)), chain AS (SELECT id, name, 0 AS depth FROM e WHERE boss IS NULL UNION ALL SELECT e.id, e.name, depth + 1 FROM e JOIN chain ON e.boss = chain.id) SELECT * FROM chain",
    'WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3), b(m) AS (SELECT n FROM a UNION ALL SELECT m * 10 FROM b WHERE m < 50) SELECT * FROM b',
    'SELECT * FROM (WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t)',
    'WITH t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT count(*) FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t UNION ALL SELECT n + 2 FROM t) SELECT * FROM t',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT 5 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
  ]),
};

const p = "FROM (SELECT * FROM VALUES (1, 'x', 10), (2, 'y', 20), (2, 'z', 5) AS t(id, name, v))";

export const pipeSyntax: RestatedSuite = {
  name: 'pipe-syntax',
  format: 'delta',
  cases: alone(
    'pipe-operators.sql',
    [
      `${p} |> SELECT id, v + 1 AS w`,
      `${p} |> SELECT *`,
      `${p} |> SELECT id AS a, a + 1 AS b`,
      `${p} |> SELECT sum(v)`,
      `${p} |> SELECT DISTINCT id`,
      `${p} |> WHERE id = 2 |> SELECT name`,
      `${p} |> WHERE sum(v) = 2`,
      `${p} |> WHERE nope = 2`,
      `${p} |> EXTEND v * 2 AS w, id + 1`,
      `${p} |> EXTEND v * 2 AS w, w + 1 AS u`,
      `${p} |> EXTEND sum(v) AS s`,
      `${p} |> EXTEND sum(v) OVER (PARTITION BY id) AS s`,
      `${p} |> SET v = v + 1, id = id * 10`,
      `${p} |> SET v = v + 1, v = v * 10`,
      `${p} |> SET nope = 1`,
      `${p} |> SET v = sum(v)`,
      `${p} |> DROP name, id`,
      `${p} |> DROP nope`,
      `${p} |> DROP id, id`,
      `${p} |> AS u |> SELECT u.id`,
      `${p} |> AS u |> WHERE u.v > 5 |> SELECT u.name`,
      `${p} |> AGGREGATE sum(v) AS s GROUP BY id`,
      `${p} |> AGGREGATE sum(v), count(*) AS n GROUP BY id, name`,
      `${p} |> AGGREGATE sum(v)`,
      `${p} |> AGGREGATE count(*) GROUP BY id + 1 AS k`,
      `${p} |> AGGREGATE GROUP BY id`,
      `${p} |> AGGREGATE id GROUP BY id`,
      `${p} |> AGGREGATE v GROUP BY id`,
      `${p} |> AGGREGATE v`,
      `${p} |> AGGREGATE sum(v) GROUP BY 1`,
      `${p} |> AGGREGATE sum(v) AS s GROUP BY ROLLUP (id)`,
      `${p} |> AGGREGATE`,
      `${p} |> ORDER BY v |> LIMIT 1`,
      `${p} |> ORDER BY v DESC LIMIT 1 OFFSET 1`,
      `${p} |> LIMIT 1 |> AGGREGATE count(*)`,
      `${p} |> OFFSET 2 |> AGGREGATE count(*)`,
      `${p} |> AS l |> JOIN (SELECT 2 AS id, 'q' AS tag) r ON l.id = r.id`,
      `${p} |> JOIN (SELECT 2 AS id, 'q' AS tag) USING (id)`,
      `${p} |> LEFT JOIN (SELECT 2 AS id, 'q' AS tag) r USING (id) |> SELECT id, tag`,
      `${p} |> CROSS JOIN (SELECT 7 AS k)`,
      `${p} |> SELECT id |> UNION ALL SELECT 9`,
      `${p} |> SELECT id |> UNION SELECT 2 |> ORDER BY id`,
      `${p} |> SELECT id |> UNION ALL VALUES (8), (9)`,
      `${p} |> SELECT id |> EXCEPT SELECT 1`,
      `${p} |> SELECT id |> INTERSECT ALL SELECT 2`,
      `${p} |> SELECT id |> UNION ALL (FROM VALUES (5) AS f(id) |> SELECT id + 1)`,
      `${p} |> PIVOT (sum(v) FOR name IN ('x', 'y'))`,
      `${p} |> SELECT id, v |> UNPIVOT (u FOR n IN (id, v))`,
      `${p} |> SELECT id, row_number() OVER w AS r WINDOW w AS (ORDER BY v)`,
      'SELECT 1 AS a |> SELECT a + 1 AS b',
      'VALUES (1), (2) |> SELECT col1 + 1',
      'SELECT 3 AS a UNION ALL SELECT 1 |> WHERE a > 1',
      'WITH q AS (SELECT 1 AS a) SELECT a FROM q |> EXTEND 2 AS b',
      'SELECT * FROM (FROM VALUES (1), (2) AS t(a) |> WHERE a > 1) AS s',
      'SELECT (FROM VALUES (1), (2) AS t(a) |> AGGREGATE max(a)) AS m',
      `${p} |> WHERE id IN (SELECT 2)`,
      `${p} |> NOPE`,
      `${p} |> SELECT id GROUP BY id`,
      `${p} |> LATERAL VIEW explode(array(1, 2)) e AS x |> SELECT id, x`,
      `${p} |> AGGREGATE sum(v) AS s GROUP BY id |> WHERE s > 10 |> ORDER BY s`,
      `${p} |> SELECT`,
      `${p} |> DISTINCT`,
      `${p} |> WHERE id = 2 |> WHERE v > 5 |> SELECT id, name |> DROP id`,
    ],
    {
      [`${p} |> AGGREGATE`]: { ours: { refused: 'PARSE_SYNTAX_ERROR' }, because: 'what is lacking is told as anywhere else' },
    },
  ),
};

const rows = "(SELECT * FROM VALUES (1, 'x'), (2, 'y'), (3, 'z') AS t(id, name)) AS t";

const ownClass = 'a class without a name of its own says nothing';

export const sparkOrderings: RestatedSuite = {
  name: 'orders-and-samples',
  format: 'delta',
  cases: alone(
    'sort-by.sql, distribute by, table samples',
    [
      `SELECT * FROM ${rows} SORT BY id DESC`,
      `SELECT * FROM ${rows} DISTRIBUTE BY id`,
      `SELECT * FROM ${rows} DISTRIBUTE BY id SORT BY name, id DESC NULLS LAST`,
      `SELECT * FROM ${rows} CLUSTER BY name, id`,
      `SELECT id FROM ${rows} CLUSTER BY name`,
      `SELECT id FROM ${rows} SORT BY name LIMIT 5`,
      `SELECT * FROM ${rows} SORT BY nope`,
      `SELECT * FROM ${rows} DISTRIBUTE BY nope`,
      `SELECT * FROM ${rows} CLUSTER BY nope`,
      `SELECT * FROM ${rows} ORDER BY id SORT BY id`,
      `SELECT * FROM ${rows} SORT BY id ORDER BY id`,
      `SELECT * FROM ${rows} CLUSTER BY id SORT BY id`,
      `SELECT * FROM ${rows} DISTRIBUTE BY map(1, 2)`,
      `SELECT * FROM ${rows} SORT BY map(1, 2)`,
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (100 PERCENT)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (0 PERCENT)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (7 ROWS)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (7 ROWS) AS t',
      'SELECT t.id FROM (SELECT * FROM range(2)) TABLESAMPLE (100 PERCENT) REPEATABLE (5) AS t',
      'SELECT count(*) FROM (SELECT * FROM range(10)) TABLESAMPLE (100.0 PERCENT) s JOIN range(3) r ON s.id = r.id',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (101 PERCENT)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (-1 PERCENT)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (-1 ROWS)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (BUCKET 4 OUT OF 4)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (3)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE SYSTEM (100 PERCENT)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (1 + 2 ROWS)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (10B)',
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE ()',
    ],
    {
      [`SELECT * FROM ${rows} DISTRIBUTE BY map(1, 2)`]: {
        ours: { refused: 'DATATYPE_MISMATCH.INVALID_ORDERING_TYPE' },
        because: 'rows are distributed by their order',
      },
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (BUCKET 4 OUT OF 4)': {
        ours: { refused: 'UNSUPPORTED_FEATURE' },
        because: 'tables have no buckets',
      },
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (10B)': { ours: { refused: 'UNSUPPORTED_FEATURE' }, because: ownClass },
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE (3)': { ours: { refused: 'PARSE_SYNTAX_ERROR' }, because: ownClass },
      'SELECT count(*) FROM (SELECT * FROM range(100)) TABLESAMPLE ()': { ours: { refused: 'PARSE_SYNTAX_ERROR' }, because: ownClass },
    },
  ),
};

export const shownPartitions: RestatedSuite = {
  name: 'shown-partitions',
  format: 'delta',
  cases: [
    {
      of: 'ShowPartitionsSuiteBase: filter by partitions',
      title: 'SHOW PARTITIONS of some partitions',
      steps: [
        'CREATE TABLE {t} (id INT, p INT, q STRING) USING delta PARTITIONED BY (p, q)',
        "INSERT INTO {t} VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a')",
        'SHOW PARTITIONS {t}',
        'SHOW PARTITIONS {t} PARTITION (p = 1)',
        "SHOW PARTITIONS {t} PARTITION (p = 1, q = 'b')",
        'SHOW PARTITIONS {t} PARTITION (id = 1)',
      ],
    },
  ],
};
