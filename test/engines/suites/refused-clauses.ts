import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Clauses that cannot be. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0), for Iceberg too.
 */

const casesOf = (format: 'delta' | 'iceberg'): readonly RestatedCase[] => [
  {
    of: 'DeltaInsertIntoTableSuite: static PARTITION clause fails with non-partition column',
    title: 'PARTITION of a column that is none',
    steps: [
      `CREATE TABLE {t} (id INT, v INT, p INT) USING ${format} PARTITIONED BY (p)`,
      'INSERT INTO {t} PARTITION (id = 1) SELECT 2, 3',
      'INSERT INTO {t} PARTITION (id) SELECT 1, 2, 3',
      'INSERT OVERWRITE {t} PARTITION (v = 1) SELECT 2, 3',
      'INSERT INTO {t} PARTITION (unknown = 1) SELECT 2, 3',
      'INSERT INTO {t} PARTITION (p = 1) SELECT 2, 3',
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'DeltaInsertIntoTableSuite: static partition column name should not be used in the column list',
    title: 'a column with a value in PARTITION is not listed',
    steps: [
      `CREATE TABLE {t} (id INT, p INT) USING ${format} PARTITIONED BY (p)`,
      'INSERT INTO {t} PARTITION (p = 1) (id, p) SELECT 2, 3',
      'INSERT INTO {t} PARTITION (p = 1) (id) SELECT 2',
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'DeltaTableCreationSuite: CTAS with a schema',
    title: 'CREATE TABLE AS SELECT has no list of columns',
    steps: [`CREATE TABLE {t} (a INT, b INT) USING ${format} AS SELECT 1 AS x, 2 AS y`, 'SELECT * FROM {t}'],
  },
];

const overSeveralRows: RestatedCase = {
  of: 'UpdateSuiteBase: window functions',
  title: 'window functions compute no new values',
  steps: [
    'CREATE TABLE {t} (id INT, v INT) USING delta',
    'INSERT INTO {t} VALUES (1, 1)',
    'UPDATE {t} SET v = row_number() OVER (ORDER BY id)',
    'UPDATE {t} SET v = sum(id)',
    'MERGE INTO {t} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = row_number() OVER (ORDER BY s.id)',
    'DELETE FROM {t} WHERE row_number() OVER (ORDER BY id) = 1',
    'SELECT * FROM {t}',
  ],
};

export const refusedClauses: RestatedSuite = { name: 'refused-clauses', format: 'delta', cases: [...casesOf('delta'), overSeveralRows] };

export const refusedClausesIceberg: RestatedSuite = { name: 'refused-clauses-iceberg', format: 'iceberg', cases: casesOf('iceberg') };
