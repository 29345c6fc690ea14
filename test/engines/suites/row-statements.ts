import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * DELETE, UPDATE and MERGE as statements: what their conditions may ask, what they may be aimed at, and what they refuse. Cases of
 * delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta`, and of apache/iceberg,
 * `spark/v4.0/spark-extensions/src/test/java/org/apache/iceberg/spark/extensions` (both Apache-2.0), each for both formats.
 */

type Format = 'delta' | 'iceberg';

const tables = (format: Format): readonly string[] => [
  `CREATE TABLE {t} (id INT, dep STRING) USING ${format}`,
  "INSERT INTO {t} VALUES (0, 'hr'), (1, 'hr'), (2, 'hardware'), (NULL, 'hr')",
  `CREATE TABLE {s} (id INT, dep STRING) USING ${format}`,
  "INSERT INTO {s} VALUES (0, 'hr'), (1, 'x'), (NULL, 'y')",
];

const read = 'SELECT * FROM {t}';

/** Each statement on its own, the table read after it. */
const alone = (format: Format, statements: readonly string[]): readonly string[] => [
  ...tables(format),
  ...statements.flatMap((statement, place) => [
    // Names of Delta's tables are paths, which cannot be dropped.
    ...(place === 0 ? [] : [`DELETE FROM {t}`, "INSERT INTO {t} VALUES (0, 'hr'), (1, 'hr'), (2, 'hardware'), (NULL, 'hr')"]),
    statement,
    read,
  ]),
];

const conditions: readonly {
  readonly of: string;
  readonly title: string;
  readonly conditions: readonly string[];
  readonly only?: Format;
}[] = [
  {
    of: 'TestDelete: testDeleteWithInSubquery; DeleteSuiteBase: do not support non-EXISTS subquery test',
    title: 'IN a query',
    conditions: [
      'id IN (SELECT id FROM {s})',
      'id IN (SELECT id + 2 FROM {s})',
      "id IS NULL OR id IN (SELECT id + 2 FROM {s} WHERE dep = 'hr')",
      'id IN (SELECT id FROM {s}) AND dep = (SELECT max(dep) FROM {t})',
    ],
  },
  {
    of: 'TestDelete: testDeleteWithInSubquery',
    title: 'IN a query of a column that is not there',
    conditions: ['id IN (SELECT missing FROM {s})'],
    only: 'iceberg',
  },
  {
    of: 'TestDelete: testDeleteWithMultiColumnInSubquery',
    title: 'columns IN a query',
    only: 'delta',
    conditions: ['(id, dep) IN (SELECT id, dep FROM {s})', '(id, dep) IN (SELECT id, dep FROM {t} WHERE id > 0)'],
  },
  {
    of: 'TestDelete: testDeleteWithNotInSubquery',
    title: 'NOT IN a query',
    conditions: [
      'id NOT IN (SELECT id FROM {s})',
      'id NOT IN (SELECT id FROM {s} WHERE id IS NOT NULL)',
      "id NOT IN (SELECT id FROM {s} WHERE id IS NOT NULL) OR dep IN ('software', 'hr')",
    ],
  },
  {
    of: 'TestDelete: testDeleteWithExistSubquery; DeleteSuiteBase: delete with correlated EXISTS subquery',
    title: 'EXISTS',
    conditions: [
      'EXISTS (SELECT 1 FROM {s} s WHERE {q}.id = s.id)',
      'EXISTS (SELECT 1 FROM {s} s WHERE s.id = 17)',
      'EXISTS (SELECT 1 FROM {s})',
      "EXISTS (SELECT 1 FROM {s} s WHERE {q}.id = s.id) AND {q}.dep = 'hr'",
      'EXISTS (SELECT 1 FROM {s} s WHERE {q}.id = s.id + 2) OR id IS NULL',
    ],
  },
  {
    of: 'TestDelete: testDeleteWithNotExistsSubquery; DeleteSuiteBase: delete with correlated NOT EXISTS subquery',
    title: 'NOT EXISTS',
    conditions: [
      'NOT EXISTS (SELECT 1 FROM {s} s WHERE {q}.id = s.id)',
      'NOT EXISTS (SELECT 1 FROM {s} s WHERE {q}.id = s.id + 2) AND id IS NOT NULL',
    ],
  },
  {
    of: 'TestDelete: testDeleteWithScalarSubquery',
    title: 'a value of a query',
    conditions: ['id <= (SELECT min(id) FROM {s})', 'id = (SELECT max(id) FROM {t})'],
  },
];

const subqueries = (format: Format): readonly RestatedCase[] =>
  conditions
    .filter(({ only = format }) => only === format)
    .flatMap(({ of, title, conditions: asked }): readonly RestatedCase[] => [
      {
        of,
        title: `DELETE WHERE ${title}`,
        steps: alone(
          format,
          asked.map((where) => `DELETE FROM {t} AS q WHERE ${where.replaceAll('{q}', 'q')}`),
        ),
      },
      {
        of: of.replaceAll('Delete', 'Update').replaceAll('delete', 'update'),
        title: `UPDATE WHERE ${title}`,
        steps: alone(
          format,
          asked.map((where) => `UPDATE {t} AS q SET id = -1 WHERE ${where.replaceAll('{q}', 'q')}`),
        ),
      },
    ]);

const inConditions = (format: Format): readonly RestatedCase[] => [
  {
    of: 'TestMerge: testMergeWithSubqueriesInConditions; MergeIntoSuiteBase: subqueries in conditions',
    title: 'conditions of MERGE ask no query',
    steps: [
      ...tables(format),
      'MERGE INTO {t} t USING {s} s ON t.id = s.id AND t.id < (SELECT max(id) FROM {t}) WHEN MATCHED THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED AND t.id < (SELECT max(id) FROM {t}) THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED AND t.id IN (SELECT id FROM {t}) THEN UPDATE SET dep = s.dep',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN NOT MATCHED AND s.id NOT IN (SELECT id FROM {t}) THEN INSERT *',
      read,
    ],
  },
  {
    of: 'TestMerge: testMergeWithAggregateExpressions, testMergeWithNonDeterministicConditions; MergeIntoSuiteBase: aggregates and random values in conditions',
    title: 'conditions of MERGE neither aggregate nor are random',
    steps: [
      ...tables(format),
      'MERGE INTO {t} t USING {s} s ON t.id = s.id AND max(t.id) = 1 WHEN MATCHED THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED AND sum(t.id) < 1 THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED AND sum(t.id) < 1 THEN UPDATE SET dep = s.dep',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN NOT MATCHED AND sum(s.id) < 1 THEN INSERT *',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND sum(t.id) < 1 THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id AND rand() < 0.5 WHEN MATCHED THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED AND rand() < 0.5 THEN DELETE',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN NOT MATCHED AND rand() < 0.5 THEN INSERT *',
      read,
    ],
  },
  {
    of: 'TestUpdate: testUpdateWithConflictingAssignments, testUpdateWithInvalidUpdates; TestMerge: testMergeWithConflictingUpdates, testMergeWithInvalidUpdates',
    title: 'assignments that conflict',
    steps: [
      `CREATE TABLE {t} (id INT, c STRUCT<n1: INT, n2: STRUCT<dn1: INT, dn2: INT>>, a ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRING>) USING ${format}`,
      `CREATE TABLE {s} (c1 INT, c2 STRUCT<n1: INT>) USING ${format}`,
      'UPDATE {t} SET id = 1, c.n1 = 2, id = 2',
      'UPDATE {t} SET c.n1 = 1, id = 2, c.n1 = 2',
      "UPDATE {t} SET c.n2 = named_struct('dn1', 1, 'dn2', 2), c.n2.dn1 = 4",
      'UPDATE {t} SET a.x = 2',
      "UPDATE {t} SET m.key = 'new'",
      'UPDATE {t} SET id.x = 2',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN MATCHED THEN UPDATE SET t.id = 1, t.c.n1 = 2, t.id = 2',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN MATCHED THEN UPDATE SET t.c.n1 = 1, t.id = 2, t.c.n1 = 2',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN MATCHED THEN UPDATE SET t.a.x = s.c2',
      "MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN MATCHED THEN UPDATE SET t.m.key = 'new'",
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN NOT MATCHED THEN INSERT (c.n1, id) VALUES (1, 2)',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN NOT MATCHED THEN INSERT (id, id) VALUES (1, 2)',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN NOT MATCHED THEN INSERT (id, c) VALUES (1)',
      'MERGE INTO {t} t USING {s} s ON t.id = s.c1 WHEN NOT MATCHED THEN INSERT (id) VALUES (1, 2)',
      read,
    ],
  },
];

const evolving = (format: Format): readonly RestatedCase[] => [
  {
    of: 'MergeIntoSchemaEvolutionSuite: new column; TestMerge: schema evolution',
    title: 'MERGE WITH SCHEMA EVOLUTION adds columns',
    steps: [
      `CREATE TABLE {t} (id INT, dep STRING) USING ${format}`,
      "INSERT INTO {t} VALUES (1, 'hr'), (2, 'hw')",
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, 'new' AS dep, 5 AS more) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 3 AS id, 'ins' AS dep, 6 AS more, true AS flag) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 2 AS id, 'x' AS other) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET dep = s.other",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 2 AS id, 'x' AS named) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET named = s.named",
      read,
      'MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 4 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *',
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 2 AS id, 'gone' AS extra) s ON t.id = s.id WHEN MATCHED THEN DELETE",
      read,
      "MERGE INTO {t} t USING (SELECT 1 AS id, 'new' AS dep, 5 AS unknown) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET dep = s.dep",
      read,
    ],
  },
  {
    of: 'MergeIntoSchemaEvolutionSuite: new column; TestMerge: schema evolution',
    title: 'MERGE WITH SCHEMA EVOLUTION adds members and widens',
    steps: [
      `CREATE TABLE {t} (id INT, dep STRUCT<a: INT>) USING ${format}`,
      "INSERT INTO {t} VALUES (1, named_struct('a', 1))",
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, named_struct('a', 2, 'b', 3) AS dep, 5 AS more) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 2 AS id, named_struct('a', 2) AS dep) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, named_struct('a', 2) AS dep) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
      read,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, named_struct('a', 2) AS dep) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET dep = s.dep",
      read,
    ],
  },
];

const named = (format: Format): readonly RestatedCase[] => [
  {
    of: 'TestMerge: testMergeWithSourceCTE; MergeIntoSuiteBase: merge with CTE',
    title: 'names of queries before and in MERGE',
    steps: [
      ...tables(format),
      "WITH c AS (SELECT id, 'cte' AS dep FROM {s}) MERGE INTO {t} t USING c ON t.id = c.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
      read,
      "WITH a AS (SELECT 1 AS id), c AS (SELECT id, 'two' AS dep FROM a) MERGE INTO {t} t USING c AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET dep = s.dep",
      read,
      'WITH c AS (SELECT 1 AS id) MERGE INTO {t} t USING (SELECT id FROM c) s ON t.id = s.id WHEN MATCHED THEN DELETE',
      read,
      "MERGE INTO {t} t USING (WITH c AS (SELECT 0 AS id) SELECT * FROM c) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET dep = 'in'",
      read,
      'WITH c AS (SELECT 1 AS id) DELETE FROM {t} WHERE id IN (SELECT id FROM c)',
      'WITH c AS (SELECT 1 AS id) UPDATE {t} SET id = 5',
      "WITH c AS (SELECT 9 AS id, 'w' AS dep) INSERT INTO {t} SELECT * FROM c",
      read,
    ],
  },
];

/** How many snapshots statements leave that find no row. */
const nothing: readonly RestatedCase[] = [
  {
    of: 'TestDelete: testDeleteNonExistingRecords, testDeleteFromEmptyTable, testDeleteWithFalseCondition',
    title: 'snapshots of statements that find no row',
    steps: ['copy-on-write', 'merge-on-read'].flatMap((mode, place) => {
      const table = place === 0 ? '{t}' : '{u}';
      const operations = `SELECT operation FROM ${table}.snapshots ORDER BY committed_at`;
      return [
        `CREATE TABLE ${table} (id INT, dep STRING) USING iceberg PARTITIONED BY (dep) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = '${mode}', 'write.update.mode' = '${mode}', 'write.merge.mode' = '${mode}')`,
        `DELETE FROM ${table} WHERE id = 1`,
        operations,
        `DELETE FROM ${table}`,
        operations,
        `UPDATE ${table} SET id = 2 WHERE id = 1`,
        operations,
        `INSERT INTO ${table} VALUES (1, 'hr'), (2, 'hw')`,
        operations,
        `DELETE FROM ${table} WHERE id > 10`,
        operations,
        `DELETE FROM ${table} WHERE id = 1 AND id = 2`,
        operations,
        `DELETE FROM ${table} WHERE false`,
        operations,
        `DELETE FROM ${table} WHERE dep = 'none'`,
        operations,
        `UPDATE ${table} SET id = 2 WHERE id > 10`,
        operations,
        `UPDATE ${table} SET id = 2 WHERE id = 1 AND dep = 'hw'`,
        operations,
        `UPDATE ${table} SET id = 2 WHERE false`,
        operations,
        `MERGE INTO ${table} t USING (SELECT 17 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE`,
        operations,
        `MERGE INTO ${table} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED AND t.dep = 'x' THEN DELETE`,
        operations,
        `MERGE INTO ${table} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (5)`,
        operations,
        `MERGE INTO ${table} t USING (SELECT 1 AS id WHERE false) s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (5)`,
        operations,
        `DELETE FROM ${table} WHERE dep = 'hr'`,
        operations,
        `TRUNCATE TABLE ${table}`,
        operations,
        `TRUNCATE TABLE ${table}`,
        operations,
        `DELETE FROM ${table}`,
        operations,
      ];
    }),
  },
];

export const rowStatements: RestatedSuite = {
  name: 'row-statements',
  format: 'delta',
  cases: [...subqueries('delta'), ...named('delta'), ...evolving('delta'), ...inConditions('delta')],
};

export const rowStatementsIceberg: RestatedSuite = {
  name: 'row-statements-iceberg',
  format: 'iceberg',
  cases: [...subqueries('iceberg'), ...named('iceberg'), ...evolving('iceberg'), ...inConditions('iceberg'), ...nothing],
};
