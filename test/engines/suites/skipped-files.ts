import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Files that conditions rule out by statistics lose no row. Cases of delta-io/delta (Apache-2.0): `DataSkippingDeltaTests` (its `testSkipping`, with
 * what is found in the place of what is opened); and of apache/iceberg (Apache-2.0), `spark/v4.0`: `TestFilterPushDown`, `TestAggregatePushDown`.
 */

type Format = 'delta' | 'iceberg';

interface Skipping {
  readonly of: string;
  readonly columns: string;
  /** Each in a file of its own. */
  readonly files: readonly string[];
  readonly conditions: readonly string[];
  readonly properties?: string;
  readonly partitions?: string;
}

const a = 'a INT';
const nested = 'a INT, b STRUCT<c: STRUCT<d: INT, e: INT>, l: INT>';
const long = (letter: string): string => `repeat('${letter}', 1000)`;

const skipped: readonly Skipping[] = [
  {
    of: 'top level, single 1',
    columns: a,
    files: ['1', '2', 'NULL'],
    conditions: [
      'a = 1',
      'a <=> 1',
      'a >= 1',
      'a <= 1',
      '1 = a',
      '1 <=> a',
      '2 > a',
      'NOT a <=> 2',
      'NOT a = 1',
      'NOT a <=> 1',
      'a = 5',
      'a != 1',
      'a < 1',
      '2 <= a',
      '0 >= a',
    ],
  },
  {
    of: 'nested, single 1; double nested, single 1',
    columns: nested,
    files: ['1, struct(struct(2, 3), 4)', '10, struct(struct(20, NULL), 40)', '5, NULL', '6, struct(NULL, 7)'],
    conditions: [
      'b.l = 4',
      'b.c.d >= 20',
      'b.c.d < 2',
      'b.c.e = 3',
      'b.c.e IS NULL',
      'b IS NULL',
      'b.c IS NULL',
      'b.c IS NOT NULL AND b.l > 4',
      'b = struct(struct(2, 3), 4)',
    ],
  },
  {
    of: 'long strings - long min, long max',
    columns: 'a STRING',
    files: [long('A'), "'B'", "'C'", long('C'), "'A'"],
    conditions: [
      "a LIKE 'A%'",
      "a LIKE 'C%'",
      `a = ${long('A')}`,
      `a = ${long('C')}`,
      "a > 'BA'",
      "a < 'AB'",
      "a < 'AA'",
      "a > 'CC'",
      "a > 'CD'",
      "a >= 'D'",
    ].map((condition) => `${condition} AND length(a) > 0`),
  },
  {
    of: 'long strings with characters beyond the basic plane at the cut',
    columns: 'a STRING',
    files: ["concat(repeat('x', 31), '😀', 'tail')", "concat(repeat('x', 15), '\\uFFFF', repeat('y', 40))", "repeat('ü', 40)", "''"],
    conditions: [
      "a > repeat('x', 31)",
      "a > concat(repeat('x', 31), '😀')",
      "a > concat(repeat('x', 15), '\\uFFFE')",
      "a LIKE 'ü%'",
      "a = ''",
      "a > 'zzz'",
      "a < 'a'",
    ],
  },
  {
    of: 'starts with',
    columns: 'a STRING',
    files: ["'apple'", "'microsoft'", "''", 'NULL'],
    conditions: [
      "a LIKE 'a%'",
      "a LIKE 'ap%'",
      "a LIKE 'mic%'",
      "a LIKE '%'",
      "a LIKE 'xyz%'",
      "a LIKE '%soft'",
      "a NOT LIKE 'a%'",
      "startswith(a, 'app')",
      "startswith(a, '')",
      "a LIKE 'a_ple'",
      "a LIKE 'ap\\\\%%'",
    ],
  },
  {
    of: 'and statements, or statements, not statements',
    columns: 'a INT, b STRING',
    files: ["1, '2017-09-01'", "2, '2017-08-31'", "10, 'x'", 'NULL, NULL'],
    conditions: [
      'a > 0 AND a < 3',
      'a < 0 AND a > -2',
      "a > 0 AND b = '2017-09-01'",
      "a >= 2 AND b LIKE '2017-08-%'",
      'a % 100 < 10 AND a < 10',
      'a > 5 OR a < -2',
      "a < 0 OR b = '2017-09-01'",
      "a % 100 < 2 OR b > '2017-08'",
      'NOT a < 0',
      'NOT (a >= 10 AND a % 100 <= 20)',
      "NOT (a < 2 OR b > '2017')",
      "NOT (a % 100 >= 2 OR b <= '2017')",
      'a IN (1, 10, NULL)',
      'a NOT IN (1, 10)',
      'a NOT IN (1, NULL)',
      'a BETWEEN 2 AND 10',
      'a NOT BETWEEN 2 AND 10',
    ],
  },
  {
    of: 'boolean comparisons',
    columns: 'a BOOLEAN',
    files: ['false', 'true', 'NULL'],
    conditions: [
      '!a',
      'a',
      'a = false',
      'NOT a = false',
      'a > false',
      'a <= false',
      'true = a',
      'a IS NOT TRUE',
      'a IS FALSE',
      'a <=> NULL',
      'a OR a IS NULL',
    ],
  },
  {
    of: 'nulls - only null in file, null + not-null in same file',
    columns: a,
    files: ['NULL', '1'],
    conditions: [
      'a IS NULL',
      'a = NULL',
      'NOT a = NULL',
      'a <=> NULL',
      'NOT a <=> NULL',
      'NULL AND a = 1',
      'NOT a <=> 1',
      '(a > 1) IS NULL',
      '(a > 1 AND a > 0) IS NULL',
      '(a > 1 OR a < 0) IS NULL',
      'NOT ((a > 1) IS NULL)',
      'a <> 1',
      'coalesce(a, 5) = 5',
      'isnull(a)',
    ],
  },
  {
    of: 'data skipping by dates, timestamps and decimals; timestamps with sub-milliseconds',
    columns: 'd DATE, ts TIMESTAMP, n DECIMAL(20, 5)',
    files: [
      "DATE '2017-09-01', TIMESTAMP '2017-09-01 12:00:00.123456', 1.5",
      "DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999', -1.00001",
      "DATE '9999-12-31', TIMESTAMP '9999-12-31 23:59:59.999999', 999999999999999.99999",
      'NULL, NULL, NULL',
    ],
    conditions: [
      "d = '2017-09-01'",
      "d < DATE '1970-01-01'",
      "d > TIMESTAMP '2017-09-01 12:00:00'",
      "ts > '2017-09-01 12:00:00.123'",
      "ts = TIMESTAMP '2017-09-01 12:00:00.123456'",
      "ts >= TIMESTAMP '9999-12-31 23:59:59.999999'",
      "ts < DATE '1970-01-01'",
      "CAST(ts AS DATE) = '2017-09-01'",
      'year(ts) = 1969',
      'n = 1.5',
      'n > 999999999999999.9999',
      'n < -1',
      'n = 1.50001',
      'n > 1e14',
      "n = '1.5'",
    ],
  },
  {
    of: 'integers beside other numbers and text',
    columns: 'i INT, l BIGINT, b TINYINT',
    files: [
      '1, 9007199254740993, 1',
      '2147483647, 9223372036854775807, 127',
      '-2147483648, -9223372036854775808, -128',
      'NULL, NULL, NULL',
    ],
    conditions: [
      'i > 0.5',
      'i = 1.0D',
      'i < 1.5',
      "i = '1'",
      'l = 9007199254740993',
      'l > 9007199254740992D',
      'l = 9223372036854775807',
      'l > 9223372036854775806',
      'b > 126.5',
      'b = 1L',
      'i = 3000000000',
      'l < -1e18',
      'i % 2 = 1',
    ],
  },
  {
    of: 'support case insensitivity for partitioning filters',
    columns: 'Year INT, P STRING, Y INT',
    partitions: 'Year',
    files: ["1999, 'a1', 1990", "1989, 'a2', 1990", "NULL, 'a3', 1990"],
    conditions: [
      'year > 1990',
      "year > 1990 AND p = 'a1'",
      "p = 'a1'",
      'year < y',
      'YEAR IS NULL',
      'year IN (1989, 5)',
      'year + 1 = 2000',
      "year = '1999'",
    ],
  },
  {
    of: 'partition values of text that begin alike, are empty or hold separators',
    columns: 'k INT, p STRING',
    partitions: 'p',
    files: ["1, 'a'", "2, 'a b/c=d%20'", "3, 'ab'", '4, NULL', "5, '__HIVE_DEFAULT'"],
    conditions: [
      "p = 'a'",
      "p LIKE 'a%'",
      "p = 'a b/c=d%20'",
      'p IS NULL',
      "p > 'a'",
      "p <> 'a'",
      "p IN ('ab', 'zz')",
      "upper(p) = 'AB'",
      "p = '__HIVE_DEFAULT'",
    ],
  },
];

function cases(format: Format): readonly RestatedCase[] {
  return skipped.map(({ of, columns, files, conditions, partitions }) => ({
    of: `DataSkippingDeltaTests: ${of}`,
    title: of,
    steps: [
      `CREATE TABLE {t} (id INT, ${columns}) USING ${format}${partitions === undefined ? '' : ` PARTITIONED BY (${partitions})`}`,
      ...files.map((file, place) => `INSERT INTO {t} SELECT ${place + 1}, ${file}`),
      ...conditions.map((condition) => `SELECT id FROM {t} WHERE ${condition}`),
      'SELECT count(*) FROM {t}',
    ],
  }));
}

const aggregates = 'SELECT count(*), count(a), min(a), max(a), min(s), max(s), min(d), max(d) FROM {t}';

function toldByMetadata(format: Format): readonly RestatedCase[] {
  return [
    {
      of: 'TestAggregatePushDown: testDifferentDataTypesAggregatePushDownInPartitionedTable, testAllNull, testAllNaN, testInfinity, testAggregatePushDownForTimeTravel',
      title: 'counts, least and greatest values that metadata knows',
      steps: [
        `CREATE TABLE {t} (id INT, a DOUBLE, s STRING, d DATE) USING ${format}`,
        aggregates,
        "INSERT INTO {t} VALUES (1, 1.5, 'x', DATE '2024-01-01'), (2, NULL, NULL, NULL)",
        aggregates,
        "INSERT INTO {t} VALUES (3, double('NaN'), repeat('z', 100), DATE '2023-01-01')",
        aggregates,
        "INSERT INTO {t} VALUES (4, double('-Infinity'), repeat('a', 100), NULL), (5, double('Infinity'), '', NULL)",
        aggregates,
        'SELECT min(id), max(id), count(id) FROM {t} WHERE id > 1',
        'SELECT min(id), max(id) + 1, count(*) FROM {t}',
        'DELETE FROM {t} WHERE id IN (1, 5)',
        aggregates,
        'UPDATE {t} SET id = 100 WHERE id = 2',
        'SELECT min(id), max(id), count(*), count(DISTINCT id) FROM {t}',
        'DELETE FROM {t}',
        aggregates,
        'INSERT INTO {t} (id) VALUES (7)',
        aggregates,
      ],
    },
    {
      of: 'TestAggregatePushDown: testAggregationPushdownStructInteger, testAggregatePushDownInDeleteCopyOnWrite; DataSkippingDeltaTests: subqueries',
      title: 'queries beside conditions on what files hold',
      steps: [
        `CREATE TABLE {t} (i INT, p STRING, s STRUCT<c: INT>) USING ${format} PARTITIONED BY (i)`,
        "INSERT INTO {t} VALUES (1, 'a1', struct(5)), (2, 'a2', struct(NULL)), (3, 'a3', NULL), (NULL, 'a4', struct(7))",
        `CREATE TABLE {s} (j INT, q STRING) USING ${format}`,
        "INSERT INTO {s} VALUES (1, 'b1'), (2, 'b2'), (NULL, 'b3')",
        "SELECT i FROM {t} JOIN {s} ON i + 2 = j + 1 WHERE q = 'b2'",
        "SELECT p FROM {t} WHERE i IN (SELECT j FROM {s} WHERE q = 'b1')",
        'SELECT p FROM {t} WHERE i NOT IN (SELECT j FROM {s})',
        'SELECT p FROM {t} WHERE i = (SELECT max(j) FROM {s})',
        'SELECT p FROM {t} WHERE EXISTS (SELECT 1 FROM {s} WHERE j = i)',
        'SELECT min(s.c), max(s.c), count(s.c), count(s), min(i), max(i), count(i) FROM {t}',
        'SELECT i, count(*) FROM {t} GROUP BY i',
        'SELECT DISTINCT i FROM {t} WHERE i > 1',
        'SELECT max(i) FROM {t} WHERE p = (SELECT min(p) FROM {t})',
      ],
    },
  ];
}

export const skippedFiles: RestatedSuite = {
  name: 'skipped-files',
  format: 'delta',
  cases: [...cases('delta'), ...toldByMetadata('delta')],
};

export const skippedFilesIceberg: RestatedSuite = {
  name: 'skipped-files-iceberg',
  format: 'iceberg',
  cases: [...cases('iceberg'), ...toldByMetadata('iceberg')],
};
