import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Properties, values and clauses that cannot be, and what Spark says of them. Cases of delta-io/delta (`spark/src/test/scala/org/apache/
 * spark/sql/delta`) and apache/iceberg (`spark/v4.0`), both Apache-2.0.
 */

type Format = RestatedSuite['format'];

const read = 'SELECT * FROM {t}';

/** Each statement alone, over a table of one row. */
function over(format: Format, columns: string, row: string, statements: readonly string[]): readonly string[] {
  return [`CREATE TABLE {t} (${columns}) USING ${format}`, `INSERT INTO {t} VALUES (${row})`, ...statements, read];
}

const aggregates = 'UNSUPPORTED_EXPR_FOR_OPERATOR';
const generators = 'UNSUPPORTED_GENERATOR.OUTSIDE_SELECT';
const notBoolean = 'DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN';
const otherClass = 'refused under another name';

/** Steps that are refused otherwise than Spark refuses them. */
function refusedAs(classes: Readonly<Record<number, string>>, because: string): RestatedCase['differs'] {
  return Object.fromEntries(Object.entries(classes).map(([step, refused]) => [step, { ours: { refused }, because }]));
}

const set = (properties: string): string => `ALTER TABLE {t} SET TBLPROPERTIES (${properties})`;

const common = (format: Format): readonly RestatedCase[] => [
  {
    of: 'DeltaTableCreationSuite, TestAlterTable (iceberg): reserved table properties',
    title: 'properties that are clauses of their own',
    steps: over(
      format,
      'id INT, v INT',
      '1, 1',
      ['location', 'provider', 'owner', 'external', 'is_managed_location', 'comment'].flatMap((key) => [
        set(`'${key}' = 'x'`),
        `ALTER TABLE {t} UNSET TBLPROPERTIES ('${key}')`,
        `CREATE TABLE {s} (id INT) USING ${format} TBLPROPERTIES ('${key}' = 'x')`,
        'SELECT count(*) AS n FROM {s}',
      ]),
    ),
  },
  {
    of: 'DeltaInsertIntoTableSuite, TestRequiredColumns: NOT NULL columns that get no value',
    title: 'a required column is not left out',
    steps: over(format, 'id INT NOT NULL, v INT, s STRUCT<a: INT NOT NULL, b: INT>', "1, 1, named_struct('a', 1, 'b', 1)", [
      'INSERT INTO {t} (v) VALUES (2)',
      'INSERT INTO {t} (v, s) VALUES (2, NULL)',
      'INSERT INTO {t} BY NAME SELECT 2 AS v',
      'INSERT INTO {t} VALUES (NULL, 2, NULL)',
      'INSERT INTO {t} VALUES (3)',
      'INSERT INTO {t} (id) VALUES (4)',
      'INSERT OVERWRITE {t} (v) VALUES (2)',
      'UPDATE {t} SET id = NULL',
      'MERGE INTO {t} t USING (SELECT 7 AS v) s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)',
    ]),
  },
  {
    of: 'DeltaInsertIntoTableSuite, ResolveReferences: values of rows',
    title: 'rows of an INSERT look at no other rows',
    steps: over(format, 'id INT, v BIGINT', '1, 1', [
      'INSERT INTO {t} VALUES (2, count(1))',
      'INSERT INTO {t} VALUES (2, max(3))',
      'INSERT INTO {t} VALUES (2, row_number() OVER (ORDER BY 1))',
      'INSERT INTO {t} VALUES (2, explode(array(1, 2)))',
      'INSERT INTO {t} VALUES (2, (SELECT max(v) FROM {t}))',
      'INSERT INTO {t} VALUES (3, id)',
    ]),
  },
  {
    of: 'TestUpdate: testUpdateWithNonDeterministicCondition, aggregates; UpdateSuiteBase',
    title: 'values and conditions of UPDATE and DELETE look at one row',
    steps: over(format, 'id INT, v BIGINT', '1, 1', [
      'UPDATE {t} SET v = sum(id)',
      'UPDATE {t} SET v = count(*)',
      'UPDATE {t} SET v = row_number() OVER (ORDER BY id)',
      'UPDATE {t} SET v = explode(array(1))',
      'UPDATE {t} SET v = 1 WHERE sum(id) > 0',
      'UPDATE {t} SET v = 1 WHERE row_number() OVER (ORDER BY id) = 1',
      'UPDATE {t} SET v = 1 WHERE explode(array(true))',
      'DELETE FROM {t} WHERE max(id) = 1',
      'DELETE FROM {t} WHERE row_number() OVER (ORDER BY id) = 5',
      'DELETE FROM {t} WHERE explode(array(true))',
      'DELETE FROM {t} WHERE id',
      'DELETE FROM {t} WHERE 1',
      "UPDATE {t} SET v = 2 WHERE 'x'",
      'UPDATE {t} SET v = 2 WHERE id + 1',
    ]),
    differs:
      format === 'iceberg'
        ? refusedAs(
            {
              2: aggregates,
              3: aggregates,
              4: aggregates,
              5: generators,
              6: aggregates,
              8: generators,
              9: aggregates,
              10: aggregates,
              12: notBoolean,
              13: notBoolean,
              14: notBoolean,
              15: notBoolean,
            },
            otherClass,
          )
        : undefined,
  },
  {
    of: 'TestMerge: testMergeWithAggregateExpressions; MergeIntoSuiteBase: aggregates and windows in values',
    title: 'values of MERGE look at one row',
    steps: over(format, 'id INT, v BIGINT', '1, 1', [
      'MERGE INTO {t} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = sum(s.id)',
      'MERGE INTO {t} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = row_number() OVER (ORDER BY s.id)',
      'MERGE INTO {t} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = explode(array(1))',
      'MERGE INTO {t} t USING (SELECT 5 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, count(1))',
      'MERGE INTO {t} t USING (SELECT 5 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, row_number() OVER (ORDER BY s.id))',
      'MERGE INTO {t} t USING (SELECT 5 AS id) s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = sum(t.id)',
      'MERGE INTO {t} t USING (SELECT 5 AS id) s ON row_number() OVER (ORDER BY t.id) = 1 WHEN MATCHED THEN DELETE',
    ]),
    differs:
      format === 'iceberg'
        ? {
            ...refusedAs({ 4: generators, 5: aggregates, 6: aggregates }, otherClass),
            9: { ours: { columns: ['id int', 'v bigint'], rows: ['{"id":1,"v":1}'] }, because: 'windows are refused in INSERT too' },
          }
        : undefined,
  },
  {
    of: 'MergeIntoSuiteBase: multiple matches; TestMerge: testMergeWithMultipleMatches…',
    title: 'a row that several source rows match',
    steps: over(format, 'id INT, v BIGINT', '1, 1', [
      'INSERT INTO {t} VALUES (2, 2)',
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 10), (1, 20) AS x(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v = 10 THEN UPDATE SET v = s.v',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 10), (1, 20) AS x(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v = 30 THEN UPDATE SET v = s.v',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 10), (1, 20) AS x(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v = 10 THEN UPDATE SET v = 11 WHEN MATCHED AND s.v = 20 THEN DELETE',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (1, 10), (1, 20) AS x(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v = 10 THEN DELETE WHEN MATCHED AND s.v = 99 THEN UPDATE SET v = 0',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (2, 10), (2, 20) AS x(id, v)) s ON t.id = s.id WHEN MATCHED THEN DELETE',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (7, 10), (7, 20) AS x(id, v)) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *',
      read,
      'MERGE INTO {t} t USING (SELECT * FROM VALUES (7, 10), (7, 30) AS x(id, v)) s ON t.id = s.id AND t.v = 10 WHEN MATCHED AND s.v = 30 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0',
      read,
    ]),
  },
];

const delta: readonly RestatedCase[] = [
  {
    of: 'DeltaRetentionSuite, DeltaConfigSuite: retentions that contradict',
    title: 'the log is kept for as long as removed files',
    steps: over('delta', 'id INT', '1', [
      set("'delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 2 days'"),
      set("'delta.deletedFileRetentionDuration' = 'interval 60 days'"),
      set("'delta.logRetentionDuration' = 'interval 1 hour'"),
      set("'delta.logRetentionDuration' = 'interval 5 days', 'delta.deletedFileRetentionDuration' = 'interval 5 days'"),
      "CREATE TABLE {s} (id INT) USING delta TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 1 day', 'delta.deletedFileRetentionDuration' = 'interval 3 days')",
      'SELECT count(*) AS n FROM {s}',
      set("'delta.logRetentionDuration' = 'x'"),
      set("'delta.logRetentionDuration' = 'interval 1 month'"),
      set("'delta.checkpointInterval' = '0'"),
      set("'delta.appendOnly' = 'maybe'"),
      set("'delta.dataSkippingNumIndexedCols' = '-2'"),
      set("'delta.columnMapping.mode' = 'x'"),
      set("'delta.unknown' = 'x'"),
    ]),
  },
  {
    of: 'UpdateSuiteBase: subqueries; UpdateSQLSuite',
    title: 'values of UPDATE ask queries',
    steps: over('delta', 'id INT, v BIGINT', '1, 1', [
      'INSERT INTO {t} VALUES (2, 2)',
      'CREATE TABLE {s} (id INT, v BIGINT) USING delta',
      'INSERT INTO {s} VALUES (1, 100), (2, 200)',
      'UPDATE {t} SET v = (SELECT max(v) FROM {s})',
      read,
      'UPDATE {t} SET v = (SELECT max(v) FROM {s}) WHERE id = 1',
      read,
      'UPDATE {t} SET v = (SELECT v FROM {s} s WHERE s.id = {t}.id)',
      'UPDATE {t} t SET v = (SELECT max(v) FROM {s} s WHERE s.id = t.id)',
      read,
      'UPDATE {t} SET v = (SELECT max(v) FROM {t}) + 1 WHERE id = 2',
      read,
      'UPDATE {t} SET v = CASE WHEN id IN (SELECT id FROM {s}) THEN 1 ELSE 0 END',
      'UPDATE {t} SET v = 1 WHERE v = (SELECT max(v) FROM {s})',
      'UPDATE {t} SET v = (SELECT 5)',
      read,
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = (SELECT 7)',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = (SELECT max(v) FROM {s})',
      read,
    ]),
    differs: {
      ...refusedAs({ 18: 'UNSUPPORTED_SUBQUERY', 19: 'UNSUPPORTED_SUBQUERY' }, 'values of MERGE ask no queries'),
      20: { ours: { columns: ['id int', 'v bigint'], rows: ['{"id":1,"v":5}', '{"id":2,"v":5}'] }, because: 'as above' },
      21: { ours: { columns: ['id int', 'v bigint'], rows: ['{"id":1,"v":5}', '{"id":2,"v":5}'] }, because: 'as above' },
    },
  },
  {
    of: 'DeltaInsertIntoTableSuite: replaceWhere',
    title: 'REPLACE WHERE takes a condition',
    steps: over('delta', 'id INT, v INT', '1, 1', [
      'INSERT INTO {t} REPLACE WHERE id SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE 1 SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE id + 1 SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE unknown = 1 SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE id = 2 SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE id = (SELECT 1) SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE max(id) = 1 SELECT 1, 5',
      'INSERT INTO {t} REPLACE WHERE true SELECT 1, 6',
    ]),
    differs: refusedAs({ 7: 'UNSUPPORTED_SUBQUERY', 8: 'NESTED_AGGREGATE_FUNCTION' }, otherClass),
  },
  {
    of: 'CloneTableSuiteBase, DeltaSqlParserSuite: DEEP CLONE',
    title: 'clones, names and places',
    steps: over('delta', 'id INT', '1', [
      'CREATE TABLE {s} DEEP CLONE {t}',
      'CREATE TABLE {s} CLONE {t}',
      'CREATE OR REPLACE TABLE {s} DEEP CLONE {t}',
      "ALTER TABLE {t} SET LOCATION '/tmp/nowhere'",
      'CREATE TABLE {s} SHALLOW CLONE {t}',
      'SELECT * FROM {s}',
      'VACUUM {t} RETAIN x HOURS',
      'VACUUM {t} RETAIN HOURS',
      'VACUUM {t} RETAIN -1 HOURS',
      'OPTIMIZE {t} WHERE id',
      'ALTER TABLE {t} ADD CONSTRAINT c CHECK (id)',
      'RESTORE {t} TO VERSION AS OF x',
      'RESTORE {t} TO VERSION AS OF 99',
      'SELECT * FROM {t} VERSION AS OF 99',
      "SELECT * FROM {t} TIMESTAMP AS OF '1990-01-01'",
    ]),
    differs: {
      ...refusedAs({ 2: 'UNSUPPORTED_FEATURE', 3: 'UNSUPPORTED_FEATURE', 4: 'UNSUPPORTED_FEATURE' }, 'refused by name'),
      ...refusedAs({ 5: 'UNSUPPORTED_STATEMENT' }, 'refused for tables of names too'),
      ...refusedAs({ 10: 'PARSE_SYNTAX_ERROR' }, 'a negative retention is refused, where Spark takes it for none'),
    },
  },
  {
    of: 'DeltaHistoryManagerSuite, TruncateTable: operation of TRUNCATE',
    title: 'what TRUNCATE leaves',
    steps: over('delta', 'id INT', '1', [
      "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
      'TRUNCATE TABLE {t}',
      'TRUNCATE TABLE {t}',
      read,
      'TRUNCATE TABLE {t} PARTITION (id = 1)',
      "ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'true')",
      'INSERT INTO {t} VALUES (2)',
      'TRUNCATE TABLE {t}',
    ]),
    differs: refusedAs({ 6: 'UNSUPPORTED_STATEMENT' }, otherClass),
  },
];

const iceberg: readonly RestatedCase[] = [
  {
    of: 'TestCreateTable: reserved and typed properties',
    title: 'properties that cannot be read when a table is made',
    steps: [
      "CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = 'x')",
      'SELECT count(*) AS n FROM {t}',
      "CREATE TABLE {s} (id INT) USING iceberg TBLPROPERTIES ('write.target-file-size-bytes' = 'x')",
      'SELECT count(*) AS n FROM {s}',
      "CREATE TABLE {u} (id INT) USING iceberg TBLPROPERTIES ('write.metadata.metrics.column.unknown' = 'full')",
      'SELECT count(*) AS n FROM {u}',
    ],
    differs: {
      ...refusedAs({ 2: 'ICEBERG_PROPERTY_INVALID', 3: 'TABLE_OR_VIEW_NOT_FOUND' }, 'refused when it is set, not when rows are written'),
    },
  },
  {
    of: 'TestBranchDDL, TestTagDDL: RETAIN and RETENTION',
    title: 'retentions are numbers with units',
    steps: over('iceberg', 'id INT', '1', [
      'ALTER TABLE {t} CREATE BRANCH b RETAIN DAYS',
      'ALTER TABLE {t} CREATE BRANCH b RETAIN abc DAYS',
      'ALTER TABLE {t} CREATE BRANCH b RETAIN 3 WEEKS',
      'ALTER TABLE {t} CREATE BRANCH b RETAIN 3',
      'ALTER TABLE {t} CREATE BRANCH b RETAIN 0 DAYS',
      'ALTER TABLE {t} CREATE BRANCH b2 RETAIN -1 DAYS',
      'ALTER TABLE {t} CREATE BRANCH b3 WITH SNAPSHOT RETENTION',
      'ALTER TABLE {t} CREATE BRANCH b3 WITH SNAPSHOT RETENTION DAYS',
      'ALTER TABLE {t} CREATE BRANCH b3 WITH SNAPSHOT RETENTION abc SNAPSHOTS',
      'ALTER TABLE {t} CREATE BRANCH b3 WITH SNAPSHOT RETENTION 0 SNAPSHOTS',
      'ALTER TABLE {t} CREATE BRANCH b4 WITH SNAPSHOT RETENTION 2 SNAPSHOTS 3 DAYS',
      'ALTER TABLE {t} CREATE TAG g RETAIN abc DAYS',
      'ALTER TABLE {t} CREATE TAG g RETAIN DAYS',
      'ALTER TABLE {t} CREATE TAG g AS OF VERSION abc',
      'ALTER TABLE {t} CREATE TAG g AS OF VERSION 999',
      'ALTER TABLE {t} CREATE BRANCH b5 AS OF VERSION 999',
      'SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM {t}.refs',
    ]),
  },
  {
    of: 'TestCreateChangelogViewProcedure: net changes with identifier columns',
    title: 'net changes have no update images',
    steps: over('iceberg', 'id INT, v INT', '1, 1', [
      "CALL lake.system.create_changelog_view(table => '{t}', identifier_columns => array('id'), net_changes => true)",
      "CALL lake.system.create_changelog_view(table => '{t}', compute_updates => true, net_changes => true)",
      "CALL lake.system.create_changelog_view(table => '{t}', compute_updates => true)",
    ]),
  },
  {
    of: 'TestUpdate, TestDelete, TestMerge: subqueries over the table itself, on branches',
    title: 'a query in a statement about a branch reads the branch',
    steps: over('iceberg', 'id INT, v INT', '1, 1', [
      'ALTER TABLE {t} CREATE BRANCH b',
      'INSERT INTO {t}.branch_b VALUES (2, 20)',
      'INSERT INTO {t} VALUES (3, 30)',
      'UPDATE {t}.branch_b SET v = (SELECT max(v) FROM {t}.branch_b) WHERE id = 1',
      'SELECT * FROM {t}.branch_b',
      'UPDATE {t}.branch_b SET v = (SELECT max(v) FROM {t}) WHERE id = 1',
      'SELECT * FROM {t}.branch_b',
      'UPDATE {t} SET v = (SELECT max(v) FROM {t}.branch_b) WHERE id = 1',
      read,
      'DELETE FROM {t}.branch_b WHERE id IN (SELECT max(id) FROM {t}.branch_b)',
      'SELECT * FROM {t}.branch_b',
      'DELETE FROM {t}.branch_b WHERE v IN (SELECT v FROM {t} WHERE id = 3)',
      'SELECT * FROM {t}.branch_b',
      'MERGE INTO {t}.branch_b t USING {t} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *',
      'SELECT * FROM {t}.branch_b',
    ]),
  },
  {
    of: 'TestAlterTable: SET LOCATION; TestSnapshotTableProcedure',
    title: 'another place for the files of a table',
    steps: over('iceberg', 'id INT', '1', [
      "ALTER TABLE {t} SET LOCATION '/tmp/elsewhere'",
      'CREATE TABLE {s} DEEP CLONE {t}',
      'SELECT 1 AS one',
    ]),
    differs: refusedAs({ 2: 'UNSUPPORTED_STATEMENT', 3: 'UNSUPPORTED_FEATURE' }, 'refused by name'),
  },
  {
    of: 'TestAlterTableSchema, Iceberg v3 default values',
    title: 'a default is one of its type',
    steps: [
      "CREATE TABLE {t} (id INT, v INT DEFAULT 'x') USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT id) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT rand()) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT (SELECT 1)) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT 5000000000) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT unknown(1)) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "CREATE TABLE {t} (id INT, v INT DEFAULT 5) USING iceberg TBLPROPERTIES ('format-version' = '2')",
      "CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')",
      "ALTER TABLE {t} ADD COLUMNS (a INT DEFAULT 'x')",
      'ALTER TABLE {t} ADD COLUMNS (a INT DEFAULT id)',
      'ALTER TABLE {t} ADD COLUMNS (a STRING NOT NULL)',
      'SELECT count(*) AS n FROM {t}',
    ],
    differs: refusedAs(
      { ...Object.fromEntries([0, 1, 2, 4, 5, 6, 8, 9].map((step) => [step, '_LEGACY_ERROR_TEMP_2045'])), 3: 'UNSUPPORTED_SUBQUERY' },
      otherClass,
    ),
  },
  {
    of: 'TestWriteOrder, TestShowTableProperties: sort order among the properties',
    title: 'the sort order is shown among the properties',
    steps: [
      'CREATE TABLE {t} (id INT, v INT) USING iceberg',
      "SHOW TBLPROPERTIES {t} ('sort-order')",
      'ALTER TABLE {t} WRITE ORDERED BY id, v DESC NULLS FIRST',
      "SHOW TBLPROPERTIES {t} ('sort-order')",
      "SHOW TBLPROPERTIES {t} ('write.distribution-mode')",
      "SHOW TBLPROPERTIES {t} ('format')",
      "SHOW TBLPROPERTIES {t} ('format-version')",
      "SHOW TBLPROPERTIES {t} ('current-snapshot-id')",
      'ALTER TABLE {t} WRITE ORDERED BY bucket(4, id), truncate(2, v)',
      "SHOW TBLPROPERTIES {t} ('sort-order')",
      'ALTER TABLE {t} WRITE UNORDERED',
      "SHOW TBLPROPERTIES {t} ('sort-order')",
      "SHOW TBLPROPERTIES {t} ('unknown')",
    ],
  },
];

export const refusedSettings: RestatedSuite = { name: 'refused-settings', format: 'delta', cases: [...common('delta'), ...delta] };

export const refusedSettingsIceberg: RestatedSuite = {
  name: 'refused-settings-iceberg',
  format: 'iceberg',
  cases: [...common('iceberg'), ...iceberg],
};
