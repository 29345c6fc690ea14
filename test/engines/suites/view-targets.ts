import type { Outcome, RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Temporary views as what statements change. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0), for
 * Iceberg too.
 */

type Format = RestatedSuite['format'];

const made = (format: Format, view: string): readonly string[] => [
  `CREATE TABLE {t} (id INT, v INT, s STRUCT<a: INT, b: STRING>) USING ${format}`,
  "INSERT INTO {t} VALUES (1, 10, named_struct('a', 1, 'b', 'x')), (2, 20, named_struct('a', 2, 'b', 'y')), (3, 30, NULL)",
  `CREATE OR REPLACE TEMPORARY VIEW {v} AS ${view}`,
];

const read = 'SELECT * FROM {t}';

const merged = (first: string, second: string): string =>
  `MERGE INTO {v} t USING (SELECT 2 AS ${first}, 77 AS ${second} UNION ALL SELECT 9, 99) s ON t.${first} = s.${first} WHEN MATCHED THEN UPDATE SET t.${second} = s.${second} WHEN NOT MATCHED THEN INSERT (${first}, ${second}) VALUES (s.${first}, s.${second})`;

const changed = ['UPDATE {v} SET v = v + 1 WHERE id = 1', read, 'DELETE FROM {v} WHERE id = 3', read, merged('id', 'v'), read];

const rows = (...shown: readonly string[]): Outcome => ({ columns: ['id int', 'v int', 's struct<a:int,b:string>'], rows: shown });

const kept = 'Spark nulls the columns that the view does not show, in all rows of the files it rewrites';
const always = 'Spark refuses once a file is rewritten, and takes a condition that finds none';
const swapped = 'Spark finds no file by the names, or swaps the values of all rows in the files it rewrites';

/** DELETE through a view that is no plain one of an Iceberg table. */
function differingDeletes(...steps: readonly number[]): RestatedCase['differs'] {
  const difference = { ours: { refused: 'UNSUPPORTED_FEATURE.TABLE_OPERATION' }, because: 'Spark fails with INTERNAL_ERROR' };
  return Object.fromEntries(steps.map((step) => [step, difference]));
}

const notTables = (format: Format): readonly RestatedCase[] => [
  {
    of: 'DeltaInsertIntoTableSuite: insertInto a temp view of a path',
    title: 'rows are not inserted into views, nor are views altered as tables',
    steps: [
      ...made(format, 'SELECT * FROM {t}'),
      'INSERT INTO {v} VALUES (4, 40, NULL)',
      'INSERT INTO {v} SELECT * FROM {t}',
      'INSERT OVERWRITE {v} SELECT * FROM {t}',
      'TRUNCATE TABLE {v}',
      'ALTER TABLE {v} ADD COLUMNS (w INT)',
      'DESCRIBE HISTORY {v}',
      'DROP TABLE {v}',
      'OPTIMIZE {v}',
      read,
      'DESCRIBE DETAIL unknown_{v}',
      'UPDATE unknown_{v} SET a = 1',
      'DROP VIEW {v}',
      'DELETE FROM {v} WHERE id = 1',
    ],
  },
];

const delta: readonly RestatedCase[] = [
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: test … on temp view - basic',
    title: 'a view of all columns',
    steps: [
      ...made('delta', 'SELECT * FROM {t}'),
      ...changed,
      'UPDATE {v} SET {v}.v = 5 WHERE {v}.id = 2',
      read,
      'UPDATE {v} AS o SET o.v = 6 WHERE o.id = 2',
      read,
      'UPDATE {v} SET s.a = 100 WHERE s.a = 1',
      read,
      'UPDATE {v} SET unknown = 1',
      'DELETE FROM {v} WHERE unknown = 1',
      'DELETE FROM {v}',
      read,
    ],
  },
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: test … on temp view - subset cols',
    title: 'a view of some columns',
    steps: [
      ...made('delta', 'SELECT id, v FROM {t}'),
      'UPDATE {v} SET v = v + 1 WHERE id = 1',
      'DELETE FROM {v} WHERE id = 3',
      'UPDATE {v} SET s = NULL',
      'DELETE FROM {v} WHERE s.a = 2',
      merged('id', 'v'),
      'MERGE INTO {v} t USING (SELECT 1 AS id, 5 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *',
      'MERGE INTO {v} t USING (SELECT 8 AS id, 5 AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *',
      read,
    ],
    differs: { 10: { ours: rows('{"id":1,"s":{"a":1,"b":"x"},"v":11}', '{"id":2,"s":{"a":2,"b":"y"},"v":20}'), because: kept } },
  },
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: test … on temp view - superset cols',
    title: 'a view with a computed column',
    steps: [
      ...made('delta', 'SELECT id, v, 1 AS one, v + 1 AS more FROM {t}'),
      ...changed,
      'UPDATE {v} SET one = 2',
      'UPDATE {v} SET v = one + more WHERE id = 1',
      'DELETE FROM {v} WHERE more = 21',
      'DELETE FROM {v} WHERE one = 2',
      read,
    ],
    differs: { 12: { ours: { refused: 'DELTA_CANNOT_RESOLVE_COLUMN' }, because: always } },
  },
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: test … on temp view - nontrivial projection',
    title: 'a view that swaps names',
    steps: [
      ...made('delta', 'SELECT v AS id, id AS v, s FROM {t}'),
      'UPDATE {v} SET v = 7 WHERE id = 10',
      'DELETE FROM {v} WHERE id = 20',
      read,
      'MERGE INTO {v} t USING (SELECT 30 AS id, 3 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v + 100',
    ],
    differs: {
      5: { ours: rows('{"id":3,"s":null,"v":30}', '{"id":7,"s":{"a":1,"b":"x"},"v":10}'), because: swapped },
      6: { ours: { refused: 'DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS' }, because: 'Spark fails with MISSING_ATTRIBUTES' },
    },
  },
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: test … on temp view - view with too many internal aliases',
    title: 'a view of a view, of aliases and of other order',
    steps: [
      ...made('delta', 'SELECT * FROM (SELECT * FROM {t} AS t1) AS t2'),
      ...changed,
      'CREATE OR REPLACE TEMPORARY VIEW {n} AS SELECT * FROM {v}',
      'UPDATE {n} SET v = 1 WHERE id = 1',
      read,
      'DELETE FROM {n} WHERE id = 1',
      read,
      'CREATE OR REPLACE TEMPORARY VIEW {n} AS SELECT v, id, s FROM {t}',
      'UPDATE {n} SET v = 2 WHERE id = 2',
      'DELETE FROM {n} WHERE v = 99',
      read,
      'CREATE OR REPLACE TEMPORARY VIEW {n} (x, y, z) AS SELECT * FROM {t}',
      'UPDATE {n} SET y = 3 WHERE x = 2',
      'DELETE FROM {n} WHERE x = 2',
      'CREATE OR REPLACE TEMPORARY VIEW {n} AS TABLE {t}',
      'UPDATE {n} SET v = 55 WHERE id = 2',
      read,
    ],
  },
  {
    of: 'UpdateSuiteBase, DeleteSuiteBase: temp view with filters, limits, joins',
    title: 'a view with a filter',
    steps: [
      ...made('delta', 'SELECT * FROM {t} WHERE id < 3'),
      'UPDATE {v} SET v = 0',
      'UPDATE {v} SET v = 0 WHERE id = 1',
      'DELETE FROM {v}',
      'DELETE FROM {v} WHERE id = 1',
      'MERGE INTO {v} t USING (SELECT 1 AS id, 5 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v',
      'MERGE INTO {v} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE',
      read,
    ],
  },
  ...[
    ['distinct rows', 'SELECT DISTINCT * FROM {t}'],
    ['aggregates', 'SELECT id, max(v) AS v FROM {t} GROUP BY id'],
    ['a limit', 'SELECT * FROM {t} LIMIT 2'],
    ['an order', 'SELECT * FROM {t} ORDER BY id'],
    ['a join', 'SELECT a.id, a.v FROM {t} a JOIN {t} b ON a.id = b.id'],
    ['a union', 'SELECT * FROM {t} UNION ALL SELECT * FROM {t}'],
    ['values', 'SELECT 1 AS id, 2 AS v'],
    ['windows', 'SELECT id, row_number() OVER (ORDER BY v) AS v FROM {t}'],
    ['generated rows', 'SELECT id, explode(array(v, v)) AS v FROM {t}'],
    ['named queries', 'WITH q AS (SELECT * FROM {t}) SELECT * FROM q'],
  ].map(
    ([what = '', view = '']): RestatedCase => ({
      of: 'UpdateSuiteBase, DeleteSuiteBase, MergeIntoSuiteBase: unsupported sources (DELTA_UNSUPPORTED_SOURCE)',
      title: `a view of ${what}`,
      steps: [
        ...made('delta', view),
        'UPDATE {v} SET v = 0 WHERE id = 1',
        'DELETE FROM {v} WHERE id = 2',
        'MERGE INTO {v} t USING (SELECT 3 AS id, 5 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v',
        'MERGE INTO {v} t USING (SELECT 3 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE',
        read,
      ],
      differs: what === 'values' ? differingDeletes(4) : undefined,
    }),
  ),
  ...notTables('delta'),
  {
    of: 'MergeIntoSuiteBase: merge into a dataset temp view; UpdateSuiteBase: update cached table, time travel targets',
    title: 'a view of an earlier version, and queries over the view that is changed',
    steps: [
      ...made('delta', 'SELECT * FROM {t}'),
      'MERGE INTO {v} t USING (SELECT id + 1 AS id, v FROM {v} WHERE id < 3) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v',
      read,
      'DELETE FROM {v} WHERE id IN (SELECT max(id) FROM {v})',
      read,
      'MERGE INTO {v} USING (SELECT 1 AS id, 1000 AS v) s ON {v}.id = s.id WHEN MATCHED THEN UPDATE SET {v}.v = s.v',
      read,
      'CREATE OR REPLACE TEMPORARY VIEW {n} AS SELECT id, s.a AS a, s.b FROM {t}',
      'UPDATE {n} SET a = 1 WHERE id = 1',
      'UPDATE {n} SET id = 100 WHERE a = 1',
      'DELETE FROM {n} WHERE a = 2',
      read,
    ],
  },
  {
    of: 'MergeIntoSchemaEvolutionSuite, DeltaTestUtilsForTempViews: schema of the view',
    title: 'a view over a table that got columns since',
    steps: [
      ...made('delta', 'SELECT * FROM {t}'),
      'ALTER TABLE {t} ADD COLUMNS (w INT)',
      'UPDATE {v} SET v = 11 WHERE id = 1',
      'UPDATE {v} SET w = 12 WHERE id = 1',
      'DELETE FROM {v} WHERE w = 12',
      read,
      'MERGE WITH SCHEMA EVOLUTION INTO {v} t USING (SELECT 2 AS id, 5 AS v, 6 AS extra) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *',
      read,
    ],
    differs: { 8: { ours: { refused: 'DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS' }, because: 'the view is looked at first' } },
  },
];

export const viewTargets: RestatedSuite = {
  name: 'view-targets',
  format: 'delta',
  cases: [
    ...delta,
    {
      of: 'DeleteSuiteBase, UpdateSuiteBase: time travel targets',
      title: 'a view of a version of the table',
      steps: [
        ...made('delta', 'SELECT * FROM {t} VERSION AS OF 1'),
        'UPDATE {v} SET v = 0 WHERE id = 1',
        'DELETE FROM {v} WHERE id = 2',
        'MERGE INTO {v} t USING (SELECT 3 AS id, 5 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v',
        read,
      ],
    },
  ],
};

/** Spark's Iceberg changes no rows through views, but for files that a DELETE takes out as a whole. */
const iceberg: readonly RestatedCase[] = [
  {
    of: 'TestDelete, TestUpdate, TestMerge: targets that are views',
    title: 'a view of all columns',
    steps: [
      ...made('iceberg', 'SELECT * FROM {t}'),
      'INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (4, 40, NULL), (5, 50, NULL)',
      'UPDATE {v} SET v = v + 1 WHERE id = 1',
      'DELETE FROM {v} WHERE id = 5',
      merged('id', 'v'),
      'UPDATE {v} SET s.a = 100 WHERE s.a = 1',
      read,
      'DELETE FROM {v}',
      read,
    ],
  },
  ...[
    ['a computed column', 'SELECT id, v, v + 1 AS more FROM {t}'],
    ['swapped names', 'SELECT v AS id, id AS v, s FROM {t}'],
    ['a filter', 'SELECT * FROM {t} WHERE id < 3'],
    ['distinct rows', 'SELECT DISTINCT * FROM {t}'],
    ['aggregates', 'SELECT id, max(v) AS v FROM {t} GROUP BY id'],
    ['a limit', 'SELECT * FROM {t} LIMIT 2'],
    ['values', 'SELECT 1 AS id, 2 AS v'],
  ].map(
    ([what = '', view = '']): RestatedCase => ({
      of: 'TestDelete, TestUpdate, TestMerge: targets that are views',
      title: `a view of ${what}`,
      steps: [
        ...made('iceberg', view),
        'UPDATE {v} SET v = 0 WHERE id = 1',
        'DELETE FROM {v} WHERE id = 2',
        'MERGE INTO {v} t USING (SELECT 3 AS id, 5 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v',
        read,
      ],
      differs: differingDeletes(4),
    }),
  ),
];

export const viewTargetsIceberg: RestatedSuite = {
  name: 'view-targets-iceberg',
  format: 'iceberg',
  cases: [...iceberg, ...notTables('iceberg')],
};
