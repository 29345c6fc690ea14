import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * How values of several types are compared and brought together. Cases of apache/spark (Apache-2.0), `sql/catalyst`: `AnsiTypeCoercionSuite`,
 * `TypeCoercionSuite`, `PredicateSuite`, `ConditionalExpressionSuite`; and of delta-io/delta (Apache-2.0): `DataSkippingDeltaTests`.
 */

const tenth = 'FROM VALUES (CAST(0.1 AS FLOAT)) AS v(f)';
const large = 'FROM VALUES (CAST(16777216 AS FLOAT)) AS v(f)';
const row = 'FROM VALUES (1, 2, CAST(16777216 AS FLOAT)) AS v(a, b, f)';

const expressions: readonly RestatedCase[] = [
  {
    of: 'AnsiTypeCoercionSuite: implicit type cast - FloatType; PredicateSuite: BinaryComparison: lessThan, EqualTo double/float',
    title: 'a FLOAT beside another number is compared as a DOUBLE',
    steps: [
      `SELECT f = 0.1, f > 0.1, f >= 0.1, f < 0.1, f <=> 0.1, f <> 0.1, f IS DISTINCT FROM 0.1 ${tenth}`,
      `SELECT f IN (0.1), f IN (0.1, 1), f NOT IN (0.1), f BETWEEN 0.1 AND 0.2, f BETWEEN 0 AND 0.1 ${tenth}`,
      `SELECT f = 16777217, f = 16777217L, f = CAST(16777217 AS DECIMAL(10, 0)), f = 16777217D, f = '16777217', f < 16777217 ${large}`,
      'SELECT f = CAST(1 AS SMALLINT), f = CAST(1 AS TINYINT) FROM VALUES (CAST(1 AS FLOAT)) AS v(f)',
      "SELECT float('NaN') = 'NaN', float('NaN') = double('NaN'), float('inf') > 1e308, float('NaN') > 1e308",
      `SELECT f + 0.1 = 0.2 AS a, f * 2 > 0.2 AS b, -f < -0.1 AS c, abs(f) > 0.1 AS d, f % 1 > 0.1 AS e ${tenth}`,
      `SELECT nullif(f, 0.1) AS a, equal_null(f, 0.1) AS b, if(f > 0.1, 1, 0) AS c, greatest(f, 16777217) AS d, coalesce(f, 0.1) AS e ${tenth}`,
      `SELECT sum(CASE WHEN f > 0.1 THEN 1 ELSE 0 END) AS a, count_if(f > 0.1) AS b, count(*) FILTER (WHERE f > 0.1) AS c ${tenth}`,
      `SELECT filter(array(f), x -> x > 0.1) AS a, exists(array(f), x -> x > 0.1) AS b, forall(array(f), x -> x = 0.1) AS c ${tenth}`,
      `SELECT count(*) ${large} HAVING max(f) = 16777217`,
      `SELECT f, count(*) ${tenth} GROUP BY f HAVING f > 0.1`,
    ],
  },
  {
    of: 'AnsiTypeCoercionSuite: implicit type cast - FloatType, in joins and subqueries',
    title: 'a FLOAT that is joined with other numbers',
    steps: [
      'SELECT a.f, b.d FROM VALUES (CAST(0.1 AS FLOAT)) AS a(f) JOIN VALUES (0.1D) AS b(d) ON a.f = b.d',
      'SELECT * FROM VALUES (CAST(0.1 AS FLOAT)) AS a(f) JOIN VALUES (0.1) AS b(f) USING (f)',
      'SELECT * FROM VALUES (CAST(16777216 AS FLOAT)) AS a(f) JOIN VALUES (16777217) AS b(f) USING (f)',
      'SELECT * FROM VALUES (CAST(16777216 AS FLOAT)) AS a(f) NATURAL JOIN VALUES (16777217) AS b(f)',
      `SELECT f IN (SELECT 0.1) AS x ${tenth}`,
      `SELECT f IN (SELECT 16777217) AS x ${large}`,
      `SELECT (f, 1) IN (SELECT 16777217, 1) AS x ${large}`,
      `SELECT f = (SELECT 16777217) AS x ${large}`,
      'SELECT a NOT IN (SELECT CAST(16777217 AS FLOAT)) AS x FROM VALUES (16777217) AS v(a)',
      'SELECT 1 IN (SELECT true) AS x',
      "SELECT DATE '2024-01-01' IN (SELECT TIMESTAMP '2024-01-01 00:00:00') AS x",
    ],
  },
  {
    of: 'TypeCoercionSuite: WidenSetOperationTypes for union, except, intersect; inline tables: ResolveInlineTablesSuite: type widening',
    title: 'a FLOAT in one column with other numbers is a DOUBLE',
    steps: [
      'SELECT * FROM VALUES (CAST(0.1 AS FLOAT)), (0.1) AS v(f)',
      'SELECT * FROM VALUES (CAST(16777216 AS FLOAT)), (16777217), (NULL) AS v(f)',
      'SELECT CAST(0.1 AS FLOAT) AS f UNION SELECT 0.1',
      'SELECT CAST(0.1 AS FLOAT) AS f INTERSECT SELECT 0.1',
      'SELECT CAST(16777217 AS INT) AS f UNION SELECT CAST(16777216 AS FLOAT)',
      'SELECT CAST(16777217 AS INT) AS f EXCEPT SELECT CAST(16777216 AS FLOAT)',
      'SELECT if(true, CAST(0.1 AS FLOAT), 0.1) AS x, coalesce(CAST(NULL AS FLOAT), 16777217) AS y, CASE WHEN true THEN 16777217 ELSE CAST(0.1 AS FLOAT) END AS z',
      'SELECT * FROM VALUES (CAST(0.1 AS FLOAT), 1) AS v(f, k) PIVOT (sum(k) FOR f IN (0.1))',
      "SELECT * FROM VALUES (1, 1), (2, 5) AS v(f, k) PIVOT (sum(k) FOR f IN ('1', '2'))",
    ],
  },
  {
    of: 'SQLQuerySuite: columns named after an empty text',
    title: 'a column of an empty name',
    steps: ["SELECT ''", "SELECT * FROM (SELECT '', 1 AS x)", "SELECT '' UNION ALL SELECT 'x'", "SELECT count(*) FROM (SELECT '') t"],
  },
  {
    of: 'ConditionalExpressionSuite: case key when; decode',
    title: 'CASE x WHEN y compares as = does, decode as <=> does',
    steps: [
      `SELECT CASE f WHEN 0.1 THEN 'same' ELSE 'other' END AS x ${tenth}`,
      "SELECT CASE 1 WHEN '1' THEN 'same' ELSE 'other' END AS x, CASE '01' WHEN 1 THEN 'same' ELSE 'other' END AS y",
      "SELECT CASE DATE '2024-01-01' WHEN TIMESTAMP '2024-01-01 00:00:00' THEN 'same' ELSE 'other' END AS x",
      "SELECT CASE 'x' WHEN 1 THEN 'same' ELSE 'other' END AS x",
      "SELECT CASE true WHEN 'true' THEN 'same' ELSE 'other' END AS x",
      "SELECT CASE 1 WHEN true THEN 'same' ELSE 'other' END AS x",
      "SELECT CASE array(1) WHEN array(1L) THEN 'same' ELSE 'other' END AS x",
      "SELECT CASE NULL WHEN 1 THEN 'a' WHEN NULL THEN 'b' ELSE 'c' END AS x",
      "SELECT CASE map(1, 1) WHEN map(1, 1) THEN 'a' END AS x",
      'SELECT CASE 1 WHEN array(1) THEN 2 END AS x',
      `SELECT CASE a WHEN 1 THEN 'one' WHEN '2' THEN 'two' END AS x, CASE a > 0 WHEN true THEN 'y' END AS y ${row}`,
      `SELECT decode(f, 0.1, 'x', 'y') AS c ${tenth}`,
      "SELECT decode(1, '1', 'a', 'b') AS x, decode(NULL, NULL, 'n', 'o') AS y, decode(2, 1, 10, 2.5) AS z",
      "SELECT decode(DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', 1, 0) AS x",
    ],
  },
  {
    of: 'PredicateSuite: EqualTo/LessThan on complex type; AnsiTypeCoercionSuite: SPARK-10995 nested types, ImplicitTypeCasts for arrays and structs',
    title: 'structs and lists are compared by place, member by member',
    steps: [
      `SELECT (a, b) = (1, 2) AS x, (a, b) < (1, 3) AS y, (a, b) <=> (1, 2) AS z ${row}`,
      `SELECT (a, b) = (1L, 2) AS x ${row}`,
      `SELECT (a, b) IN ((1, 2), (3, 4)) AS x ${row}`,
      `SELECT (a, b) IN ((1L, 2), (3, 4)) AS x ${row}`,
      `SELECT struct(a) = struct(b) AS x, struct(a AS q) = struct(b AS Q) AS y ${row}`,
      `SELECT named_struct('q', f) = named_struct('q', 16777217) AS x, named_struct('q', f) < named_struct('q', 16777217) AS y ${row}`,
      `SELECT array(f) = array(16777217) AS x, array(f) IN (array(16777217)) AS y ${row}`,
      `SELECT struct(a, b) BETWEEN struct(0, 0) AND struct(5, 5) AS x, CASE struct(a, b) WHEN struct(1, 2) THEN 'y' ELSE 'n' END AS y ${row}`,
      `SELECT struct(struct(a), b) = struct(struct(b), a) AS x, struct(array(struct(a))) = struct(array(struct(1))) AS y ${row}`,
      'SELECT array() = array(1) AS x, array(NULL) = array(1) AS y, array(NULL) <=> array(CAST(NULL AS INT)) AS z',
      "SELECT named_struct('a', NULL) = named_struct('a', 1) AS x, array(1) IN (array(1L), NULL) AS y",
    ],
  },
  {
    of: 'AnsiTypeCoercionSuite: binary comparison with string promotion, InConversion; PredicateSuite: INSET and IN of mixed types',
    title: 'what cannot be compared is refused, text is read as what it stands beside',
    steps: [
      'SELECT 1 = array(1) AS x',
      'SELECT struct(1) = 1 AS x',
      'SELECT array(1) = struct(1) AS x',
      'SELECT 1 IN (array(1)) AS x',
      "SELECT X'01' = 1 AS x",
      "SELECT X'31' = '1' AS x, true = 'true' AS y, 1 BETWEEN '0' AND '5' AS z",
      "SELECT true = 'nope' AS y",
      "SELECT '1.0' = 1 AS x",
      "SELECT '1.0' = 1.0 AS x, '1.5' IN (1, 1.5) AS y, '1' IN (1L, 1.5D) AS z, 2 IN (1, '2', 2.5) AS w",
      "SELECT '2' IN (2, TIMESTAMP '2024-01-01') AS x",
      'SELECT INTERVAL 1 DAY = INTERVAL 24 HOUR AS x',
    ],
  },
];

const conditions = [
  'f = 0.1',
  'f > 0.1',
  'f >= 0.1D AND f < 1',
  'f = CAST(0.1 AS FLOAT)',
  'f IN (0.1F, 5)',
  'f IN (0.1, 5)',
  'f < 16777217',
  'f = 16777217',
  'f = 16777216',
  'f <= -0.3',
  'f < -0.3',
  'f > -0.3',
  "f > '0.1'",
  "f = '0.1'",
];

/** NaN is left out: Iceberg prunes by bounds that do not show it, and loses such rows. */
function inTables(format: 'delta' | 'iceberg'): readonly RestatedCase[] {
  const cases = ['', ' PARTITIONED BY (f)'].map(
    (partitions): RestatedCase => ({
      of: 'DataSkippingDeltaTests: data skipping with different data types, on FLOAT; DeltaSuite: partition pruning of fractional columns',
      title: `a FLOAT column${partitions} is found by other numbers`,
      steps: [
        `CREATE TABLE {t} (id INT, f FLOAT) USING ${format}${partitions}`,
        'INSERT INTO {t} VALUES (1, CAST(0.1 AS FLOAT))',
        'INSERT INTO {t} VALUES (2, CAST(16777216 AS FLOAT)), (3, NULL)',
        'INSERT INTO {t} VALUES (5, CAST(-0.3 AS FLOAT))',
        ...conditions.map((condition) => `SELECT id FROM {t} WHERE ${condition}`),
        'DELETE FROM {t} WHERE f = 0.1',
        'UPDATE {t} SET id = 9 WHERE f > 16777215.5',
        'DELETE FROM {t} WHERE f = 16777217',
        'SELECT id FROM {t}',
        'MERGE INTO {t} t USING (SELECT 16777217 AS k) s ON t.f = s.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (7)',
        'SELECT id FROM {t}',
      ],
    }),
  );
  return cases;
}

export const comparedValues: RestatedSuite = { name: 'compared-values', format: 'delta', cases: [...expressions, ...inTables('delta')] };

export const comparedValuesIceberg: RestatedSuite = { name: 'compared-values-iceberg', format: 'iceberg', cases: inTables('iceberg') };
