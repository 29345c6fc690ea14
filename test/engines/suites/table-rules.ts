import { changedDefinitions } from './changed-definitions.ts';
import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Rules that Delta tables hold rows to, and how their definition changes. Cases of delta-io/delta (Apache-2.0),
 * `spark/src/test/scala/org/apache/spark/sql/delta`: `CheckConstraintsSuite`, `InvariantEnforcementSuite`, `GeneratedColumnSuite`, `IdentityColumnSuite`,
 * `DeltaColumnDefaultsInsertSuite`, `DeltaAlterTableTests`, `DeltaTimeTravelSuite`, `DeltaCDCSQLSuite`.
 */

const read = 'SELECT * FROM {t}';
/** The table is read after each. */
const seen = (changes: readonly string[]): readonly string[] => changes.flatMap((change) => [change, read]);

const constraints: readonly RestatedCase[] = [
  {
    of: "CheckConstraintsSuite: can't add row violating constraint, constraints with nulls, drop constraint",
    title: 'a constraint is added, held and dropped',
    steps: [
      'CREATE TABLE {t} (num INT, text STRING) USING delta',
      "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
      'ALTER TABLE {t} ADD CONSTRAINT low CHECK (num < 10)',
      'ALTER TABLE {t} ADD CONSTRAINT LOW CHECK (num < 20)',
      'ALTER TABLE {t} ADD CONSTRAINT high CHECK (num > 1)',
      "ALTER TABLE {t} ADD CONSTRAINT words CHECK (text IN ('a', 'b', 'c') OR text IS NULL)",
      ...seen([
        "INSERT INTO {t} VALUES (10, 'a')",
        "INSERT INTO {t} VALUES (NULL, 'a')",
        "INSERT INTO {t} VALUES (3, 'd')",
        'INSERT INTO {t} VALUES (3, NULL)',
        'UPDATE {t} SET num = 11 WHERE num = 1',
        "MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 'z') AS v(num, text)) s ON t.num = s.num WHEN MATCHED THEN UPDATE SET *",
      ]),
      'ALTER TABLE {t} DROP CONSTRAINT nope',
      'ALTER TABLE {t} DROP CONSTRAINT IF EXISTS nope',
      'ALTER TABLE {t} DROP CONSTRAINT LOW',
      ...seen(["INSERT INTO {t} VALUES (100, 'a')"]),
    ],
  },
  {
    of: "CheckConstraintsSuite: constraint must be boolean, can't add constraint referencing non-existent columns, complex constraints, constraint with nested parentheses",
    title: 'what constraints may say',
    steps: [
      "CREATE TABLE {t} (id INT, `a b` INT, s STRUCT<x: INT>, l ARRAY<INT>, m MAP<STRING, INT>, d DATE) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK (id + 1)',
      "ALTER TABLE {t} ADD CONSTRAINT one CHECK ('true')",
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK (nope > 1)',
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK (id > )',
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK (sum(id) > 1)',
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK ((((id > 0) AND (id < 100))))',
      'ALTER TABLE {t} ADD CONSTRAINT two CHECK (`a b` IS NOT NULL)',
      "ALTER TABLE {t} ADD CONSTRAINT three CHECK (s.x < 5 AND l[0] = 1 AND m['k'] = 2)",
      "ALTER TABLE {t} ADD CONSTRAINT four CHECK (d > DATE '2020-01-01' AND year(d) < 2030)",
      ...seen([
        "INSERT INTO {t} VALUES (1, 1, struct(1), array(1), map('k', 2), DATE '2024-01-01')",
        "INSERT INTO {t} VALUES (1, 1, struct(5), array(1), map('k', 2), DATE '2024-01-01')",
        "INSERT INTO {t} VALUES (1, 1, struct(1), array(1), map('k', 3), DATE '2024-01-01')",
        "INSERT INTO {t} VALUES (1, 1, struct(1), array(1), map('k', 2), DATE '2030-01-01')",
        "INSERT INTO {t} VALUES (1, NULL, struct(1), array(1), map('k', 2), DATE '2024-01-01')",
      ]),
      'ALTER TABLE {t} DROP COLUMN id',
      'ALTER TABLE {t} RENAME COLUMN id TO other',
      'ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT',
    ],
  },
  {
    of: 'InvariantEnforcementSuite: reject non-nullable top level column, nested column; DeltaNotNull: SET NOT NULL constraint fails',
    title: 'NOT NULL of columns and members',
    steps: [
      'CREATE TABLE {t} (id INT NOT NULL, s STRUCT<a: INT NOT NULL, b: INT>) USING delta',
      ...seen([
        'INSERT INTO {t} VALUES (1, struct(1, NULL))',
        'INSERT INTO {t} VALUES (NULL, struct(1, 1))',
        'INSERT INTO {t} VALUES (2, struct(NULL, 1))',
        'INSERT INTO {t} VALUES (3, NULL)',
        'UPDATE {t} SET id = NULL',
        'UPDATE {t} SET s.a = NULL',
      ]),
      'ALTER TABLE {t} ALTER COLUMN s.b SET NOT NULL',
      'ALTER TABLE {t} ADD COLUMN more INT NOT NULL',
      'ALTER TABLE {t} ALTER COLUMN id DROP NOT NULL',
      ...seen(['INSERT INTO {t} VALUES (NULL, struct(9, 9))']),
      'ALTER TABLE {t} ALTER COLUMN id SET NOT NULL',
      'CREATE TABLE {s} (a ARRAY<STRUCT<x: INT NOT NULL>>) USING delta',
    ],
  },
];

const columnsWithDefaults = ['id int', 'v string', 'n int', 'd date'];
const defaulted = (id: number | null, n: number, v: string | null = 'none'): string => JSON.stringify({ d: '2024-01-01', id, n, v });
const before = [defaulted(1, 2), defaulted(2, 2), defaulted(3, 2, null), defaulted(5, 2), defaulted(6, 2)];
const because = 'DEFAULT is the default of a column in MERGE too';
const defaultInMerge: RestatedCase['differs'] = {
  15: { ours: 'done', because },
  16: { ours: { columns: columnsWithDefaults, rows: [...before, defaulted(null, 2)] }, because },
  25: { ours: { refused: 'UNRESOLVED_COLUMN.WITHOUT_SUGGESTION' }, because: 'within an expression it is a name as any other' },
  20: { ours: { columns: columnsWithDefaults, rows: [...before, defaulted(8, 7, null), defaulted(null, 2)] }, because },
};

const generated: readonly RestatedCase[] = [
  {
    of: 'GeneratedColumnSuite: insert_into_values_provide_all_columns, by name, with some generated columns, update_generated_column_with_incorrect_value',
    title: 'generated columns are computed and checked',
    steps: [
      'CREATE TABLE {t} (id BIGINT, at TIMESTAMP, d DATE GENERATED ALWAYS AS (CAST(at AS DATE)), ten BIGINT GENERATED ALWAYS AS (id * 10)) USING delta PARTITIONED BY (d)',
      ...seen([
        "INSERT INTO {t} (id, at) VALUES (1, TIMESTAMP '2024-01-01 10:00:00')",
        "INSERT INTO {t} VALUES (2, TIMESTAMP '2024-01-02 10:00:00', DATE '2024-01-02', 20)",
        "INSERT INTO {t} VALUES (3, TIMESTAMP '2024-01-02 10:00:00', DATE '2024-01-03', 30)",
        "INSERT INTO {t} VALUES (3, TIMESTAMP '2024-01-02 10:00:00', DATE '2024-01-02', 31)",
        'INSERT INTO {t} (id, at, ten) VALUES (4, NULL, 40)',
        'INSERT INTO {t} (at) VALUES (NULL)',
        'INSERT INTO {t} (id) VALUES (5)',
        "INSERT INTO {t} BY NAME SELECT 6 AS id, TIMESTAMP '2024-01-06 00:00:00' AS at",
        "INSERT INTO {t} VALUES (7, TIMESTAMP '2024-01-01 10:00:00')",
        'UPDATE {t} SET id = id + 100 WHERE id = 1',
        'UPDATE {t} SET ten = 5 WHERE id = 2',
        'UPDATE {t} SET ten = 20, id = 2 WHERE id = 2',
        "UPDATE {t} SET at = TIMESTAMP '2025-05-05 05:05:05' WHERE id = 2",
        "MERGE INTO {t} t USING (SELECT * FROM VALUES (2, TIMESTAMP '2026-01-01 00:00:00'), (9, NULL) AS v(id, at)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET at = s.at WHEN NOT MATCHED THEN INSERT (id, at) VALUES (s.id, s.at)",
        'MERGE INTO {t} t USING (SELECT * FROM VALUES (10, 7) AS v(id, ten)) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, ten) VALUES (s.id, s.ten)',
        "INSERT OVERWRITE {t} (id, at) VALUES (1, TIMESTAMP '2024-01-01 10:00:00')",
      ]),
    ],
  },
  {
    of: 'GeneratedColumnSuite: validateGeneratedColumns; use the generation expression, column comment and NOT NULL at the same time',
    title: 'what generated columns may say',
    differs: {
      4: { ours: { refused: 'UNSUPPORTED_SUBQUERY' }, because: 'no stored expression asks queries' },
      14: {
        ours: { refused: 'UNSUPPORTED_EXPRESSION_GENERATED_COLUMN' },
        because: 'columns that are added may be generated; this one cannot be',
      },
    },
    steps: [
      'CREATE TABLE {t} (a INT, b INT GENERATED ALWAYS AS (a + 1), c INT GENERATED ALWAYS AS (b + 1)) USING delta',
      'CREATE TABLE {t} (a INT, b INT GENERATED ALWAYS AS (b + 1)) USING delta',
      'CREATE TABLE {t} (a INT, b INT GENERATED ALWAYS AS (sum(a))) USING delta',
      'CREATE TABLE {t} (a INT, b DATE GENERATED ALWAYS AS (current_date())) USING delta',
      'CREATE TABLE {t} (a INT, b INT GENERATED ALWAYS AS ((SELECT 1))) USING delta',
      'CREATE TABLE {t} (a INT, b INT GENERATED ALWAYS AS (explode(array(1)))) USING delta',
      'CREATE TABLE {t} (a INT GENERATED ALWAYS AS (1)) USING delta',
      "CREATE TABLE {t} (a INT, b BIGINT GENERATED ALWAYS AS (a + 1) COMMENT 'sum' NOT NULL, c STRING GENERATED ALWAYS AS (concat('x', CAST(a AS STRING)))) USING delta",
      "CREATE TABLE {t} (a INT, b BIGINT GENERATED ALWAYS AS (CAST(a + 1 AS BIGINT)) NOT NULL, `c.d` STRING GENERATED ALWAYS AS (concat('x', CAST(a AS STRING)))) USING delta",
      ...seen(['INSERT INTO {t} (a) VALUES (1)', 'INSERT INTO {t} (a) VALUES (NULL)']),
      'ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT',
      'ALTER TABLE {t} ADD COLUMN g INT GENERATED ALWAYS AS (a + 2)',
    ],
  },
  {
    of: 'IdentityColumnSuite: various configuration; IdentityColumnDMLSuite: merge, update, insert with explicit values',
    title: 'identity columns',
    steps: [
      'CREATE TABLE {t} (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), v STRING) USING delta',
      ...seen([
        "INSERT INTO {t} (v) VALUES ('a')",
        "INSERT INTO {t} (v) VALUES ('b')",
        "INSERT INTO {t} (id, v) VALUES (1, 'c')",
        "INSERT INTO {t} VALUES (1, 'c')",
        'UPDATE {t} SET id = 1',
        "MERGE INTO {t} t USING (SELECT * FROM VALUES ('m') AS v(v)) s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)",
      ]),
      'CREATE TABLE {s} (id BIGINT GENERATED BY DEFAULT AS IDENTITY, v STRING) USING delta',
      "INSERT INTO {s} (v) VALUES ('a')",
      "INSERT INTO {s} (id, v) VALUES (100, 'b')",
      'SELECT * FROM {s}',
      'ALTER TABLE {s} ALTER COLUMN id SYNC IDENTITY',
      "INSERT INTO {s} (v) VALUES ('c')",
      'SELECT * FROM {s}',
      'CREATE TABLE {u} (id INT GENERATED ALWAYS AS IDENTITY) USING delta',
      'CREATE TABLE {u} (id BIGINT GENERATED ALWAYS AS IDENTITY (INCREMENT BY 0)) USING delta',
      'CREATE TABLE {u} (id BIGINT GENERATED ALWAYS AS IDENTITY) USING delta PARTITIONED BY (id)',
    ],
  },
  {
    of: 'IdentityColumnSyncSuite: alter table sync identity on delta table, on non-identity column, with large offset, with values below the start, with negative step',
    title: 'an identity column goes on from what is there',
    steps: [
      'CREATE TABLE {t} (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 5 INCREMENT BY -2), k INT) USING delta',
      'INSERT INTO {t} VALUES (-6, 1), (100, 2)',
      'ALTER TABLE {t} ALTER COLUMN k SYNC IDENTITY',
      'ALTER TABLE {t} ALTER COLUMN nope SYNC IDENTITY',
      'ALTER TABLE {t} ALTER COLUMN id SYNC IDENTITY',
      ...seen(['INSERT INTO {t} (k) VALUES (3)']),
      'CREATE TABLE {s} (id BIGINT GENERATED BY DEFAULT AS IDENTITY, k INT) USING delta',
      'ALTER TABLE {s} CHANGE COLUMN id SYNC IDENTITY',
      'INSERT INTO {s} VALUES (-100, 1)',
      'ALTER TABLE {s} ALTER COLUMN id SYNC IDENTITY',
      'INSERT INTO {s} (k) VALUES (2)',
      'INSERT INTO {s} VALUES (50, 3), (NULL, 4)',
      'ALTER TABLE {s} ALTER COLUMN id SYNC IDENTITY',
      'INSERT INTO {s} (k) VALUES (5)',
      'SELECT * FROM {s}',
      'CREATE TABLE {u} (id BIGINT GENERATED ALWAYS AS IDENTITY, k INT) USING delta',
      'INSERT INTO {u} (k) VALUES (1)',
      'ALTER TABLE {u} ALTER COLUMN id SYNC IDENTITY',
      'INSERT INTO {u} (k) VALUES (2)',
      'SELECT * FROM {u}',
    ],
  },
  {
    of: 'DeltaColumnDefaultsInsertSuite: Column DEFAULT value support with Delta Lake, positive and negative tests',
    title: 'defaults of columns',
    differs: defaultInMerge,
    steps: [
      "CREATE TABLE {t} (id INT, v STRING DEFAULT 'none', n INT DEFAULT 1 + 1, d DATE DEFAULT DATE '2024-01-01') USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
      ...seen([
        'INSERT INTO {t} (id) VALUES (1)',
        'INSERT INTO {t} VALUES (2, DEFAULT, 5, DEFAULT)',
        'INSERT INTO {t} (id, v) SELECT 3, NULL',
        'INSERT INTO {t} VALUES (4)',
        'INSERT INTO {t} VALUES (DEFAULT, DEFAULT, DEFAULT, DEFAULT)',
        'INSERT INTO {t} BY NAME SELECT 5 AS id',
        'UPDATE {t} SET v = DEFAULT, n = DEFAULT WHERE id = 2',
        'MERGE INTO {t} t USING (SELECT * FROM VALUES (6) AS v(id)) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, DEFAULT)',
      ]),
      'ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 7',
      'ALTER TABLE {t} ALTER COLUMN v DROP DEFAULT',
      ...seen(['INSERT INTO {t} (id) VALUES (8)']),
      "ALTER TABLE {t} ALTER COLUMN n SET DEFAULT 'seven'",
      'ALTER TABLE {t} ADD COLUMN late INT DEFAULT 9',
      'ALTER TABLE {t} ALTER COLUMN nope SET DEFAULT 1',
      'CREATE TABLE {s} (id INT DEFAULT 1) USING delta',
      'INSERT INTO {t} VALUES (DEFAULT + 1)',
    ],
  },
];

const versions: readonly RestatedCase[] = [
  {
    of: 'DeltaTimeTravelSuite: time travel support in SQL, as of with versions, as of timestamp on invalid timestamp',
    title: 'versions and times of a table',
    steps: [
      'CREATE TABLE {t} (id INT) USING delta',
      'INSERT INTO {t} VALUES (1)',
      'ALTER TABLE {t} ADD COLUMN v STRING',
      "INSERT INTO {t} VALUES (2, 'b')",
      'SELECT * FROM {t} VERSION AS OF 0',
      'SELECT * FROM {t} VERSION AS OF 1',
      'SELECT * FROM {t} FOR SYSTEM_VERSION AS OF 3',
      "SELECT * FROM {t} VERSION AS OF '2'",
      'SELECT * FROM {t} VERSION AS OF 4',
      'SELECT * FROM {t} VERSION AS OF -1',
      'SELECT * FROM {t} VERSION AS OF 1.5',
      "SELECT * FROM {t} VERSION AS OF 'two'",
      "SELECT * FROM {t} TIMESTAMP AS OF '2000-01-01'",
      "SELECT * FROM {t} TIMESTAMP AS OF '2999-01-01'",
      "SELECT * FROM {t} TIMESTAMP AS OF 'now and then'",
      'SELECT * FROM {t} TIMESTAMP AS OF NULL',
      'SELECT a.id FROM {t} VERSION AS OF 1 a JOIN {t} VERSION AS OF 3 b ON a.id = b.id',
      'SELECT (SELECT count(*) FROM {t} VERSION AS OF 1) AS one, count(*) FROM {t}',
      'INSERT INTO {t} VERSION AS OF 1 VALUES (3)',
      'DELETE FROM {t} VERSION AS OF 1',
      'RESTORE TABLE {t} TO VERSION AS OF 1',
      read,
      'RESTORE TABLE {t} TO VERSION AS OF 9',
      "RESTORE TABLE {t} TO TIMESTAMP AS OF '2000-01-01'",
      "RESTORE TABLE {t} TO TIMESTAMP AS OF '2999-01-01'",
      'SELECT * FROM {t} VERSION AS OF 1L',
      'SELECT version, operation FROM (DESCRIBE HISTORY {t})',
    ],
  },
  {
    of: 'DeltaCDCSQLSuite: use cdc query as a subquery, negative case - invalid number of args, invalid type of args; DeltaCDCSuite: end version < start version',
    title: 'changes of a table',
    differs: { 12: { ours: { refused: 'DELTA_VERSION_NOT_FOUND' }, because: 'a version that is not there is told as in time travel' } },
    steps: [
      "CREATE TABLE {t} (id INT, v STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
      "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
      "UPDATE {t} SET v = 'c' WHERE id = 1",
      'DELETE FROM {t} WHERE id = 2',
      "SELECT id, v, _change_type, _commit_version FROM table_changes_by_path('{path}', 0)",
      "SELECT id, _change_type FROM table_changes_by_path('{path}', 2, 2)",
      "SELECT id, _change_type FROM TABLE_CHANGES_BY_PATH('{path}', 3, 10)",
      "SELECT count(*) FROM table_changes_by_path('{path}', 1, 2) WHERE _change_type LIKE 'update%'",
      "SELECT * FROM table_changes_by_path('{path}')",
      "SELECT * FROM table_changes_by_path('{path}', 1, 2, 3)",
      "SELECT * FROM table_changes_by_path('{path}', 3, 1)",
      "SELECT * FROM table_changes_by_path('{path}', 9)",
      "SELECT * FROM table_changes_by_path('{path}', -1)",
      "SELECT * FROM table_changes_by_path('{path}', NULL)",
      "SELECT * FROM table_changes_by_path('{path}', 1, NULL)",
      "SELECT * FROM table_changes_by_path('{path}', '2999-01-01')",
      "SELECT * FROM table_changes_by_path('{path}', true)",
      "SELECT id FROM {t} t WHERE id IN (SELECT id FROM table_changes_by_path('{path}', 2))",
    ],
  },
];

const unchecked: readonly RestatedCase[] = [
  {
    of: 'CheckConstraintsSuite: complex constraints; CheckConstraintsSuite: constraint with analysis errors',
    title: 'a constraint that asks a query',
    steps: [
      'CREATE TABLE {t} (id INT) USING delta',
      'ALTER TABLE {t} ADD CONSTRAINT one CHECK (id IN (SELECT 1))',
      'INSERT INTO {t} VALUES (1)',
      read,
    ],
    differs: {
      1: { ours: { refused: 'UNSUPPORTED_SUBQUERY' }, because: 'Spark takes it, and then fails to write the table' },
      2: { ours: 'done', because: 'there is no such constraint' },
      3: { ours: { columns: ['id int'], rows: ['{"id":1}'] }, because: 'there is no such constraint' },
    },
  },
];

export const tableRules: RestatedSuite = {
  name: 'table-rules',
  format: 'delta',
  cases: [...constraints, ...unchecked, ...generated, ...changedDefinitions, ...versions],
};
