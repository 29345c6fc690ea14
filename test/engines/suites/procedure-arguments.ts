import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Arguments of procedures, and what they refuse. Cases of apache/iceberg (Apache-2.0), `spark/v4.0/spark-extensions`:
 * `TestExpireSnapshotsProcedure`, `TestRollbackToSnapshotProcedure`, `TestRollbackToTimestampProcedure`, `TestCreateChangelogViewProcedure`,
 * `TestRewriteDataFilesProcedure`, `TestUpdate`, `TestCallStatementParser`.
 */

const table: readonly string[] = [
  'CREATE TABLE {t} (id INT, v STRING, p INT) USING iceberg PARTITIONED BY (p)',
  "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 2)",
  "INSERT INTO {t} VALUES (3, 'c', 1)",
];
const call = (name: string, given: string): string => `CALL lake.system.${name}(${given})`;
const expire = (given: string): string => call('expire_snapshots', given);
const rewrite = (condition: string): string => call('rewrite_data_files', `table => '{t}', where => '${condition}'`);
const refusedOptions = {
  ours: { refused: 'INVALID_ARGUMENT' },
  because: 'what cannot be an option is refused when the view is made',
} as const;

const cases: readonly RestatedCase[] = [
  {
    of: 'TestExpireSnapshotsProcedure: testExpireSnapshotsInvalidArgs; TestRollbackToTimestampProcedure: testInvalidRollbackToTimestampCases',
    title: 'times that are none',
    steps: [
      ...table,
      expire("table => '{t}', older_than => 'soon'"),
      expire("table => '{t}', older_than => 5"),
      expire("table => '{t}', older_than => true"),
      expire("table => '{t}', older_than => array(1)"),
      expire("table => '{t}', older_than => nope"),
      expire("table => '{t}', older_than => NULL"),
      expire("table => '{t}', older_than => DATE '2020-01-01'"),
      expire("table => '{t}', older_than => '2020-01-01'"),
      expire("table => '{t}', older_than => TIMESTAMP_NTZ '2020-01-01 00:00:00'"),
      call('rollback_to_timestamp', "'{t}', 5.5"),
    ],
  },
  {
    of: 'TestRollbackToSnapshotProcedure: testInvalidRollbackToSnapshotCases; TestCallStatementParser',
    title: 'arguments by place and by name',
    steps: [
      ...table,
      call('rollback_to_snapshot', "namespace => 'n1', table => 't', 1L"),
      call('rollback_to_snapshot', "table => '{t}', 1L"),
      call('rollback_to_snapshot', "'{t}', snapshot_id => 1L"),
      call('rollback_to_snapshot', "'{t}', table => '{t}'"),
      call('rollback_to_snapshot', "'{t}'"),
      call('rollback_to_snapshot', ''),
      call('rollback_to_snapshot', "'{t}', 1L, 2L"),
      call('rollback_to_snapshot', "'{t}', 2.2"),
      call('rollback_to_snapshot', "'', 1L"),
      call('rollback_to_snapshot', "table => '{t}', nope => 1"),
      call('rollback_to_snapshot', 'snapshot_id => 1L'),
      call('rollback_to_snapshot', "'{t}', 'x'"),
      call('rollback_to_snapshot', "'{t}', '1'"),
      call('rollback_to_snapshot', "table => '{t}', snapshot_id => 1, snapshot_id => 2"),
      expire("'{t}', older_than => DATE '2020-01-01', 1"),
      expire("'{t}', TIMESTAMP '2020-01-01', table => '{t}'"),
      expire("table => '{t}', retain_last => 0"),
      expire("table => '{t}', retain_last => '2'"),
      expire("table => '{t}', snapshot_ids => array('x')"),
    ],
  },
  {
    of: 'TestRollbackToSnapshotProcedure: testRollbackToSnapshotWithoutExplicitCatalog, testInvalidRollbackToSnapshotCases',
    title: 'procedures that there are not',
    steps: [
      ...table,
      "CALL lake.custom.rollback_to_snapshot('{t}', 1L)",
      "CALL lake.rollback_to_snapshot('{t}', 1L)",
      "CALL lake.system.nope('{t}')",
      "CALL nope.system.rollback_to_snapshot('{t}', 1L)",
      "CALL rollback_to_snapshot('{t}', 1L)",
    ],
  },
  {
    of: 'TestCreateChangelogViewProcedure: testNotExistingIdentifierColumns, testUpdateWithoutIdentifierColumns, testNonRemoveCarryovers',
    title: 'identifier columns and names of changelog views',
    differs: { 11: refusedOptions, 12: refusedOptions },
    steps: [
      ...table,
      call('create_changelog_view', "table => '{t}', identifier_columns => array('nope')"),
      call('create_changelog_view', "table => '{t}', identifier_columns => array()"),
      call('create_changelog_view', "table => '{t}', compute_updates => true, changelog_view => '{v}1'"),
      call('create_changelog_view', "table => '{t}', changelog_view => ''"),
      call('create_changelog_view', "table => '{t}', changelog_view => 'a b'"),
      call('create_changelog_view', "table => '{t}', changelog_view => 'a.b'"),
      call('create_changelog_view', "table => '{t}', changelog_view => '`a b`'"),
      'SELECT id, _change_type FROM `a b`',
      call('create_changelog_view', "table => '{t}', options => map('start-snapshot-id', 'x'), changelog_view => '{v}2'"),
      call('create_changelog_view', "table => '{t}', options => map('nope', '12345'), changelog_view => '{v}3'"),
      call('create_changelog_view', "table => '{t}', identifier_columns => array('id'), changelog_view => '{v}4'"),
      'SELECT id, v, _change_type, _change_ordinal FROM {v}4',
    ],
  },
  {
    of: 'TestRewriteDataFilesProcedure: testRewriteDataFilesWithFilter, testRewriteDataFilesWithInvalidInputs, testRewriteDataFilesWithFilterOnRewriteTransform',
    title: 'conditions that tell files apart, and such as do not',
    differs: { 16: { ours: { refused: 'UNSUPPORTED_SUBQUERY' }, because: 'conditions of procedures ask no queries' } },
    steps: [
      ...table,
      ...[
        'nope = 1',
        'substr(v, 2) = "fo"',
        'id + 1 = 2',
        'length(v) > 0',
        'v LIKE "a%"',
        'v LIKE "%a"',
        'v RLIKE "a"',
        'p = 1',
        'id',
        'id IN (1, 2) AND NOT v = "x" OR p IS NULL',
        'id = p',
        'true',
        'upper(v) = "A"',
        'id = (SELECT 1)',
        'rand() > 0.5',
        'id <=> 1',
        'id BETWEEN 1 AND 2',
        'CASE WHEN id = 1 THEN true ELSE false END',
        'id = 1.5',
      ].map(rewrite),
      call('rewrite_data_files', "table => '{t}', strategy => 'nope'"),
      call('rewrite_data_files', "table => '{t}', options => map('nope', '1')"),
      call('rewrite_data_files', "table => '{t}', strategy => 'sort', sort_order => 'nope ASC'"),
    ],
  },
  {
    of: 'TestUpdate: testUpdateWithNonDeterministicCondition; values that differ each time',
    title: 'UPDATE takes values that differ from row to row, in conditions they are refused',
    steps: [
      ...table,
      'UPDATE {t} SET p = CAST(rand() * 0 AS INT)',
      'SELECT * FROM {t}',
      'UPDATE {t} SET v = uuid() WHERE id < 3',
      'SELECT length(v) AS l, count(*), count(DISTINCT v) FROM {t} GROUP BY length(v)',
      'UPDATE {t} SET p = CAST(randn() * 0 AS INT) + id',
      'SELECT id, p FROM {t}',
      'UPDATE {t} SET id = 5 WHERE rand() > 2',
      'DELETE FROM {t} WHERE rand() > 2',
      'MERGE INTO {t} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET p = CAST(rand() * 0 AS INT)',
    ],
  },
  {
    of: 'SparkSqlParser: SHOW TBLPROPERTIES of a key; TestIcebergSourceHiveTables: properties',
    title: 'a property that is not there',
    steps: [
      "CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('a.b' = 'c')",
      'SHOW TBLPROPERTIES {t} (a.b)',
      "SHOW TBLPROPERTIES {t} ('A.B')",
      "ALTER TABLE {t} UNSET TBLPROPERTIES ('nope')",
      "ALTER TABLE {t} UNSET TBLPROPERTIES IF EXISTS ('nope')",
    ],
  },
];

export const procedureArguments: RestatedSuite = { name: 'procedure-arguments', format: 'iceberg', cases };
