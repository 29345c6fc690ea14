import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Clauses of MERGE, for both formats. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0): `MergeIntoSuiteBase`,
 * `MergeIntoSQLSuite`, `MergeIntoNotMatchedBySourceSuite`; and of apache/iceberg (Apache-2.0), `spark/v4.0/spark-extensions`: `TestMerge`.
 */

type Format = 'delta' | 'iceberg';

interface Given {
  readonly of: string;
  readonly title: string;
  /** Behind `MERGE INTO {t} t USING {s} s ON`; each over the rows that the one before left. */
  readonly merges: readonly string[];
  readonly target?: string;
  readonly source?: string;
  /** Columns of both tables. */
  readonly columns?: string;
  /** By the place of the step, for Delta tables. */
  readonly differs?: RestatedCase['differs'];
}

const filter = { ours: { refused: 'DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN' }, because: 'conditions of all clauses are refused by one name' };
const setDefault = 'DEFAULT is the default of a column in MERGE too';
const kAndV = ['k int', 'v int'];
const changed = ['{"k":101,"v":11}', '{"k":102,"v":22}', '{"k":103,"v":90}', '{"k":51,"v":null}', '{"k":52,"v":null}', '{"k":53,"v":null}'];
const withDefaults = {
  ours: { columns: kAndV, rows: [...changed, '{"k":61,"v":null}', '{"k":62,"v":null}', '{"k":63,"v":null}'] },
  because: setDefault,
};

const on = 'ON t.k = s.k';
const everyClause =
  'WHEN MATCHED AND s.v = 0 THEN DELETE WHEN MATCHED AND s.v > 10 THEN UPDATE SET v = s.v WHEN NOT MATCHED AND s.v > 0 THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.v > 1 THEN UPDATE SET v = -t.v WHEN NOT MATCHED BY SOURCE THEN DELETE';

const given: readonly Given[] = [
  {
    of: 'MergeIntoSuiteBase: extended syntax - conditional update + conditional delete + conditional insert; TestMerge: testMergeWithAllClauses',
    title: 'every clause with conditions',
    target: '(1, 1), (2, 2), (3, 3), (4, 1), (5, 4)',
    source: '(1, 0), (2, 20), (3, 5), (8, 8), (9, 0)',
    merges: [`${on} ${everyClause}`],
  },
  {
    of: 'MergeIntoSuiteBase: extended syntax - conditional delete + conditional update (order matters)',
    title: 'the first clause that holds counts',
    merges: [
      `${on} WHEN MATCHED AND s.v < 20 THEN DELETE WHEN MATCHED AND s.v < 30 THEN UPDATE SET v = 100 WHEN MATCHED THEN UPDATE SET v = s.v`,
      `${on} WHEN NOT MATCHED AND s.k > 3 THEN INSERT (k, v) VALUES (s.k, 1) WHEN NOT MATCHED AND s.k > 2 THEN INSERT (k, v) VALUES (s.k, 2) WHEN NOT MATCHED THEN INSERT *`,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: error on multiple insert / update / delete clauses without condition; TestMerge: testMergeWithMultipleNotMatchedActions',
    title: 'only the last clause of a kind may go without a condition',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET v = 1 WHEN MATCHED THEN DELETE`,
      `${on} WHEN MATCHED THEN DELETE WHEN MATCHED AND s.v > 1 THEN UPDATE SET v = 1`,
      `${on} WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED THEN INSERT *`,
      `${on} WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0`,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: Negative case - basic syntax analysis; MergeIntoSQLSuite: Negative case - basic syntax analysis SQL',
    title: 'clauses that cannot be',
    differs: { 40: filter },
    merges: [
      on,
      `${on} WHEN MATCHED THEN INSERT *`,
      `${on} WHEN NOT MATCHED THEN UPDATE SET v = 1`,
      `${on} WHEN NOT MATCHED THEN DELETE`,
      `${on} WHEN NOT MATCHED BY SOURCE THEN INSERT *`,
      `${on} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.v`,
      `${on} WHEN NOT MATCHED BY SOURCE AND s.v > 1 THEN DELETE`,
      `${on} WHEN MATCHED THEN UPDATE SET`,
      `${on} WHEN MATCHED THEN UPDATE SET nope = 1`,
      `${on} WHEN MATCHED THEN UPDATE SET v = nope`,
      `${on} WHEN MATCHED THEN UPDATE SET s.v = 1`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, nope) VALUES (s.k, 1)`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, t.v)`,
      `${on} WHEN NOT MATCHED AND t.v > 1 THEN INSERT *`,
      'ON t.k = s.nope WHEN MATCHED THEN DELETE',
      'ON k = 1 WHEN MATCHED THEN DELETE',
      `${on} WHEN MATCHED AND v = 1 THEN DELETE`,
      'ON t.k WHEN MATCHED THEN DELETE',
      `${on} WHEN MATCHED AND s.v THEN DELETE`,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: basic case - null handling; TestMerge: testMergeWithNullsInTargetAndSource, testMergeWithNullSafeEquals, testMergeWithNullCondition',
    title: 'keys that are NULL',
    differs: { 12: { ours: 'done', because: 'a condition that is NULL finds no row, in every statement' } },
    target: '(1, 1), (NULL, 2)',
    source: '(1, 10), (NULL, 20)',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (5, s.v)`,
      'ON t.k <=> s.k WHEN MATCHED THEN UPDATE SET v = s.v + 1 WHEN NOT MATCHED THEN INSERT *',
      'ON t.k = s.k AND NULL WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (6, s.v)',
      'ON t.k = s.k OR t.k IS NULL AND s.k IS NULL WHEN MATCHED THEN DELETE',
      `${on} WHEN MATCHED AND NULL THEN DELETE WHEN NOT MATCHED AND NULL THEN INSERT *`,
      `${on} WHEN NOT MATCHED BY SOURCE AND t.v = NULL THEN DELETE`,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: Negative case - more than one source rows match the same target row; TestMerge: testMergeWithMultipleUpdatesForTargetRow',
    title: 'several source rows for one row',
    target: '(1, 1), (2, 2)',
    source: '(1, 10), (1, 11), (3, 30), (3, 31)',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET v = s.v`,
      `${on} WHEN MATCHED AND s.v = 11 THEN UPDATE SET v = s.v`,
      `${on} WHEN MATCHED AND t.k = 1 THEN DELETE`,
      `${on} WHEN NOT MATCHED THEN INSERT *`,
      `${on} WHEN MATCHED THEN DELETE`,
      `${on} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *`,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: More than one target rows match the same source row',
    title: 'one source row for several rows',
    target: '(1, 1), (1, 2), (2, 3)',
    source: '(1, 10)',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET v = s.v + t.v`,
      'ON true WHEN MATCHED AND t.k = 2 THEN DELETE',
      'ON false WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *',
      'ON t.v > 100 WHEN NOT MATCHED BY SOURCE AND t.v = 10 THEN DELETE',
    ],
  },
  {
    of: 'MergeIntoSuiteBase: basic case - columns are specified in wrong order, not all columns are specified in update, multiple inserts; TestMerge: testMergeWithMissingOptionalColumnsInInsert',
    title: 'lists of columns in any order and with some left out',
    differs: {
      10: { ours: 'done', because: setDefault },
      11: withDefaults,
      12: { ours: 'done', because: setDefault },
      13: withDefaults,
    },
    merges: [
      `${on} WHEN NOT MATCHED THEN INSERT (v, k) VALUES (s.v * 2, s.k)`,
      `${on} WHEN MATCHED THEN UPDATE SET t.v = t.v + s.v, K = t.k + 100`,
      'ON t.k = s.k + 1000 WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k + 50)',
      'ON t.k = s.k + 1000 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k + 60, DEFAULT)',
      'ON t.k = 160 AND s.k = 2 WHEN MATCHED THEN UPDATE SET v = DEFAULT',
    ],
  },
  {
    of: 'MergeIntoSuiteBase: Source is a query, order by + limit in source query; TestMerge: testMergeWithSourceFromSetOps',
    title: 'sources that are queries',
    merges: [`${on} WHEN MATCHED THEN UPDATE SET v = s.v`, 'ON t.k = -1 WHEN NOT MATCHED AND s.k = 4 THEN INSERT *'],
  },
  {
    of: 'MergeIntoSuiteBase: Merge table using different data types - implicit casting; TestMerge: testMergeWithInferredCasts, testMergeWithInvalidAssignmentsAnsi',
    title: 'values of other types',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET v = '7'`,
      `${on} WHEN MATCHED THEN UPDATE SET v = 1.9D`,
      `${on} WHEN MATCHED THEN UPDATE SET v = CAST(5 AS BIGINT)`,
      `${on} WHEN MATCHED THEN UPDATE SET v = 3000000000`,
      `${on} WHEN MATCHED THEN UPDATE SET v = 'seven'`,
      `${on} WHEN MATCHED THEN UPDATE SET v = true`,
      `${on} WHEN MATCHED THEN UPDATE SET v = DATE '2024-01-01'`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, v) VALUES ('12', 1)`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, NULL)`,
    ],
  },
  {
    of: 'TestMerge: testMergeWithTableWithNonNullableColumn, testMergeWithInvalidColumnsInInsert',
    title: 'a column that must not be NULL',
    columns: 'k INT NOT NULL, v INT',
    merges: [
      `${on} WHEN MATCHED THEN UPDATE SET k = NULL`,
      `${on} WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, v) VALUES (NULL, s.v)`,
      `${on} WHEN NOT MATCHED THEN INSERT (k, v) VALUES (nullif(s.k, 3), s.v)`,
      `${on} WHEN NOT MATCHED THEN INSERT *`,
    ],
  },
  {
    of: 'MergeIntoNotMatchedBySourceSuite: only not matched by source, with all clauses; TestMerge: testMergeWithOneNotMatchedBySourceClause',
    title: 'rows that the source lacks',
    target: '(1, 1), (2, 2), (3, 3), (4, 4)',
    source: '(1, 10)',
    merges: [
      `${on} WHEN NOT MATCHED BY SOURCE AND t.k = 2 THEN UPDATE SET v = 0`,
      `${on} WHEN NOT MATCHED BY SOURCE AND k = 3 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = v + 1`,
      `${on} AND s.v > 100 WHEN NOT MATCHED BY SOURCE AND t.k = 4 THEN DELETE`,
      `${on} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY TARGET THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE`,
    ],
  },
];

const sourceQueries: Readonly<Record<string, string>> = {
  'sources that are queries': '(SELECT k, max(v) AS v FROM {s} GROUP BY k UNION ALL SELECT 4, 44 ORDER BY k DESC LIMIT 3)',
};

function merged({ of, title, merges, columns = 'k INT, v INT', differs, ...rows }: Given, format: Format): RestatedCase {
  const { target = '(1, 1), (2, 2)', source = '(1, 10), (2, 20), (3, 30)' } = rows;
  return {
    of,
    title,
    ...(format === 'delta' && differs !== undefined ? { differs } : {}),
    steps: [
      `CREATE TABLE {t} (${columns}) USING ${format}`,
      `CREATE TABLE {s} (k INT, v INT) USING ${format}`,
      `INSERT INTO {t} VALUES ${target}`,
      `INSERT INTO {s} VALUES ${source}`,
      ...merges.flatMap((merge) => [`MERGE INTO {t} t USING ${sourceQueries[title] ?? '{s}'} s ${merge}`, 'SELECT * FROM {t}']),
    ],
  };
}

const read = 'SELECT * FROM {t}';
const insertAll = 'WHEN NOT MATCHED THEN INSERT *';
const updateAll = 'WHEN MATCHED THEN UPDATE SET *';

const others = (format: Format): readonly RestatedCase[] => [
  {
    of: 'MergeIntoSuiteBase: star expansion - multiples columns and extra columns in source; TestMerge: testMergeWithExtraColumnsInSource, testMergeResolvesColumnsByName',
    title: 'stars go by name, and pass over columns more',
    steps: [
      `CREATE TABLE {t} (id INT, a STRING, b INT) USING ${format}`,
      "INSERT INTO {t} VALUES (1, 'a', 1)",
      `MERGE INTO {t} t USING (SELECT 5 AS b, 1 AS id, 'x' AS more, 'A' AS a) s ON t.id = s.id ${updateAll} ${insertAll}`,
      read,
      `MERGE INTO {t} t USING (SELECT 6 AS B, 2 AS ID, 'B' AS a) s ON t.id = s.id ${updateAll} ${insertAll}`,
      read,
      `MERGE INTO {t} t USING (SELECT 1 AS id, 'c' AS a) s ON t.id = s.id ${updateAll}`,
      `MERGE INTO {t} t USING (SELECT 7 AS id, 'c' AS a) s ON t.id = s.id ${insertAll}`,
      read,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: self merge; TestMerge: testSelfMerge, testMergeWithSourceAsSelfSubquery',
    title: 'a table merged with itself',
    steps: [
      `CREATE TABLE {t} (k INT, v INT) USING ${format}`,
      'INSERT INTO {t} VALUES (1, 1), (2, 2), (3, 3)',
      'MERGE INTO {t} t USING {t} s ON t.k = s.k AND t.v < 3 WHEN MATCHED THEN UPDATE SET v = s.v + 10 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, -1)',
      read,
      'MERGE INTO {t} t USING (SELECT k + 1 AS k, v FROM {t}) s ON t.k = s.k WHEN MATCHED AND s.k = 2 THEN DELETE WHEN NOT MATCHED THEN INSERT *',
      read,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: merge on partitioned table with special chars; TestMerge: testMergeIntoPartitionedAndOrderedTable, testMergeWithIdentityTransform',
    title: 'a table with partitions',
    steps: [
      `CREATE TABLE {t} (id INT, part STRING) USING ${format} PARTITIONED BY (part)`,
      "INSERT INTO {t} VALUES (1, 'a b'), (2, 'a=b'), (3, NULL), (4, 'ü/%')",
      `MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 'a b'), (2, 'ü/%'), (5, 'new') AS v(id, part)) s ON t.part = s.part AND t.id = s.id WHEN MATCHED THEN DELETE ${insertAll}`,
      read,
      "MERGE INTO {t} t USING (SELECT * FROM VALUES (4, 'moved'), (3, 'moved') AS v(id, part)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET part = s.part",
      read,
      "MERGE INTO {t} t USING (SELECT * FROM VALUES (2) AS v(id)) s ON t.id = s.id AND t.part = 'a=b' WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.part = 'new' THEN DELETE",
      read,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: basic case - both source and target are empty; TestMerge: testMergeEmptyTable, testMergeIntoEmptyTargetInsertAllNonMatchingRows',
    title: 'tables without rows',
    steps: [
      `CREATE TABLE {t} (k INT, v INT) USING ${format}`,
      `CREATE TABLE {s} (k INT, v INT) USING ${format}`,
      `MERGE INTO {t} t USING {s} s ON t.k = s.k ${updateAll} ${insertAll}`,
      read,
      'INSERT INTO {s} VALUES (1, 1), (1, 2)',
      `MERGE INTO {t} t USING {s} s ON t.k = s.k ${updateAll} ${insertAll}`,
      read,
      'MERGE INTO {t} t USING (SELECT * FROM {s} WHERE false) s ON t.k = s.k WHEN NOT MATCHED BY SOURCE AND t.v = 1 THEN DELETE',
      read,
    ],
  },
  {
    of: 'MergeIntoSuiteBase: basic case - merge to Delta table by path; same column names in source and target',
    title: 'names of the target and the source',
    steps: [
      `CREATE TABLE {t} (k INT, v INT) USING ${format}`,
      `CREATE TABLE {s} (k INT, w INT) USING ${format}`,
      'INSERT INTO {t} VALUES (1, 1)',
      'INSERT INTO {s} VALUES (1, 10), (2, 20)',
      'MERGE INTO {t} AS trg USING {s} AS src ON trg.k = src.k WHEN MATCHED THEN UPDATE SET v = w WHEN NOT MATCHED THEN INSERT (k, v) VALUES (k, w)',
      read,
      'MERGE INTO {t} USING {s} AS s ON s.k = v WHEN MATCHED THEN DELETE',
      'MERGE INTO {t} t USING {s} t ON t.k = t.k WHEN MATCHED THEN DELETE',
      'MERGE INTO {t} t USING nowhere s ON t.k = s.k WHEN MATCHED THEN DELETE',
      'MERGE INTO {u} t USING {s} s ON t.k = s.k WHEN MATCHED THEN DELETE',
      read,
    ],
  },
  {
    of: 'MergeIntoSQLSuite: allow nondeterministic update / insert / updateNotMatched action in merge',
    title: 'random values may be set',
    steps: [
      `CREATE TABLE {t} (k INT, v DOUBLE) USING ${format}`,
      'INSERT INTO {t} VALUES (1, -1), (2, -1)',
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (1), (3) AS v(k)) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = rand() WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, rand()) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = rand()',
      'SELECT k, v BETWEEN 0 AND 1 AS within FROM {t}',
    ],
  },
];

const suite = (name: string, format: Format): RestatedSuite => ({
  name,
  format,
  cases: [...given.map((each) => merged(each, format)), ...others(format)],
});

export const mergeClauses: RestatedSuite = suite('merge-clauses', 'delta');
export const mergeClausesIceberg: RestatedSuite = suite('merge-clauses-iceberg', 'iceberg');
