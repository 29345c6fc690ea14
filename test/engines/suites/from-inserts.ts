import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * `FROM rows INSERT … SELECT … INSERT … SELECT …`. Cases of apache/spark (Apache-2.0): `PlanParserSuite: multi insert`, `SQLQuerySuite: multi-insert`;
 * and of delta-io/delta (Apache-2.0): `DeltaInsertIntoSQLSuite`.
 */

function cases(format: 'delta' | 'iceberg'): readonly RestatedCase[] {
  const tables = [`CREATE TABLE {t} (id INT) USING ${format}`, `CREATE TABLE {s} (a INT, b STRING) USING ${format}`];
  return [
    {
      of: 'PlanParserSuite: multi insert; SQLQuerySuite: multi-insert with lateral view',
      title: 'rows go into several tables',
      steps: [
        ...tables,
        "FROM VALUES (1), (2) AS v(id) INSERT INTO {t} SELECT id WHERE id = 1 INSERT INTO {s} SELECT id, 'x' WHERE id = 2",
        'SELECT * FROM {t}',
        'SELECT * FROM {s}',
        "FROM (SELECT 7 AS k) q LATERAL VIEW explode(array(1, 2)) x AS e INSERT INTO {s} SELECT e, 'lv' INSERT INTO {s} SELECT max(e), 'm' GROUP BY k",
        'SELECT * FROM {s}',
        'WITH q AS (SELECT 5 AS id) FROM q INSERT INTO {t} SELECT id INSERT INTO {t} SELECT id + 1',
        'SELECT * FROM {t}',
        "FROM {t} INSERT OVERWRITE {s} SELECT id, 'over' INSERT INTO {s} (b, a) SELECT 'listed', id ORDER BY id LIMIT 1 INSERT INTO {s} BY NAME SELECT 'named' AS b, 1 AS a",
        'SELECT * FROM {s}',
      ],
    },
    {
      of: 'PlanParserSuite: multi insert; SQLQuerySuite: unsupported multi-insert',
      title: 'what stands behind FROM … INSERT',
      steps: [
        ...tables,
        "FROM {t} INSERT INTO {s} SELECT 1, 'x' INSERT INTO nope SELECT 1",
        'FROM {t} INSERT INTO {s} VALUES (1, 2)',
        'FROM {t} INSERT INTO {s} FROM {t} SELECT 1, 2',
        'FROM {t} INSERT INTO {s}',
        'FROM {t} SELECT id INSERT INTO {s} SELECT 1, 2',
        'FROM {t} INSERT INTO {t} SELECT id UNION SELECT 5',
        'SELECT * FROM {s}',
      ],
    },
  ];
}

const ownRows: RestatedCase = {
  of: 'SQLQuerySuite: multi-insert into a table that is read',
  title: 'a table that is read as well as written',
  steps: [
    'CREATE TABLE {t} (id INT) USING delta',
    'INSERT INTO {t} VALUES (1)',
    'FROM {t} INSERT INTO {t} SELECT id + 10 INSERT INTO {t} SELECT id + 20',
    'SELECT * FROM {t}',
    'FROM {t} INSERT OVERWRITE {t} SELECT id + 100 INSERT INTO {t} SELECT id',
    'SELECT * FROM {t}',
  ],
};

export const fromInserts: RestatedSuite = { name: 'from-inserts', format: 'delta', cases: [...cases('delta'), ownRows] };

export const fromInsertsIceberg: RestatedSuite = { name: 'from-inserts-iceberg', format: 'iceberg', cases: cases('iceberg') };
