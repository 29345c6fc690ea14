import type { OracleEngine } from '../oracle.ts';
import type { Refusals } from './engine-bench.ts';

/**
 * Statements that our session and Spark both execute, each on a table of its own. In the text `{t}` is the table, `{s}` another one beside
 * it, `{path}` the table's directory.
 */
export interface StatementScript {
  readonly title: string;
  /** Executed by Spark for both tables: what the statements find there. */
  readonly given?: readonly string[] | undefined;
  readonly statements: readonly string[];
  /** Whether the table records changes, so that the feeds are compared, and from which version on. */
  readonly changesFrom?: number | undefined;
  /** Engines that cannot read our table, with what they say. */
  readonly refusals?: Refusals | undefined;
  /** Engines that cannot read such a table right, whoever wrote it: they must do the same with ours as with Spark's. */
  readonly faults?: readonly OracleEngine[] | undefined;
  /** delta-rs has no change feed for what the table uses. */
  readonly feedRefusedByDeltaRs?: RegExp | undefined;
}

const unmappedFeed = /column mapping is not supported/i;

/** Every kind of statement that changes rows, with one way of storing the changes. */
function rowChanges(title: string, properties: Readonly<Record<string, string>>, more: Partial<StatementScript> = {}): StatementScript {
  const all = { 'delta.enableChangeDataFeed': 'true', ...properties };
  const list = Object.entries(all).map(([key, value]) => `'${key}' = '${value}'`);
  return {
    title: `delete, update and merge ${title}`,
    changesFrom: 0,
    statements: [
      `CREATE TABLE {t} (id BIGINT, name STRING, amount DECIMAL(10, 2), note STRUCT<a: INT, b: STRING>) USING delta TBLPROPERTIES (${list.join(', ')})`,
      "INSERT INTO {t} SELECT id, concat('n', id), CAST(id AS DECIMAL(10, 2)), named_struct('a', CAST(id AS INT), 'b', 'x') FROM range(40)",
      'DELETE FROM {t} WHERE id % 5 = 0',
      "UPDATE {t} SET amount = amount + 0.25, name = upper(name), note.b = 'y' WHERE id BETWEEN 10 AND 20",
      `MERGE INTO {t} t USING (
         SELECT id, concat('m', id) AS name, CAST(0.5 AS DECIMAL(10, 2)) AS amount, CAST(NULL AS STRUCT<a: INT, b: STRING>) AS note
         FROM range(18, 50)
       ) s ON t.id = s.id
       WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET *
       WHEN MATCHED AND s.id % 3 = 0 THEN DELETE
       WHEN NOT MATCHED THEN INSERT *
       WHEN NOT MATCHED BY SOURCE AND t.id < 3 THEN DELETE
       WHEN NOT MATCHED BY SOURCE AND t.id < 8 THEN UPDATE SET name = 'kept'`,
      'DELETE FROM {t} WHERE id = 49',
    ],
    ...more,
  };
}

// DuckDB reads partition columns of mapped tables as null.
const mapped = (mode: string): readonly string[] => [
  `CREATE TABLE {t} (id INT, \`first name\` STRING, s STRUCT<x: INT, y: STRING>, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = '${mode}', 'delta.enableChangeDataFeed' = 'true')`,
  "INSERT INTO {t} VALUES (1, 'a', named_struct('x', 1, 'y', 'one'), 'p1'), (2, 'b', NULL, 'p2')",
  'ALTER TABLE {t} RENAME COLUMN `first name` TO name',
  'ALTER TABLE {t} RENAME COLUMN s.y TO z',
  'ALTER TABLE {t} ADD COLUMNS (extra DOUBLE AFTER id, s.w BIGINT)',
  "INSERT INTO {t} VALUES (3, 2.5, 'c', named_struct('x', 3, 'z', 'three', 'w', 33L), 'p1')",
  'ALTER TABLE {t} DROP COLUMN s.x',
  "UPDATE {t} SET name = concat(name, '!') WHERE id >= 2",
];

/** The operations of Delta tables in SQL. */
export const statementScripts: readonly StatementScript[] = [
  {
    title: 'create, append, overwrite',
    statements: [
      "CREATE TABLE {t} (id BIGINT COMMENT 'key', name STRING, score DOUBLE) USING delta COMMENT 'of tests' TBLPROPERTIES ('team' = 'x')",
      "INSERT INTO {t} VALUES (1, 'a', 1.5D), (2, NULL, -2.25D)",
      "INSERT INTO {t} (name, id) VALUES ('c', 3)",
      "INSERT OVERWRITE {t} VALUES (7, 'x', 0.0D), (8, 'y', NULL)",
      'INSERT INTO {t} SELECT id + 10, upper(name), score FROM {t}',
    ],
  },
  {
    title: 'create from a query, and replace',
    statements: [
      "CREATE TABLE {t} USING delta PARTITIONED BY (g) AS SELECT id, id % 3 AS g, concat('v', id) AS v FROM range(10)",
      "CREATE OR REPLACE TABLE {t} USING delta AS SELECT id, 'other' AS kind FROM range(4)",
    ],
  },
  {
    title: 'partitions: replaceWhere and dynamic overwrite',
    changesFrom: 0,
    // It does not find change files in directories with escaped names, not even its own.
    feedRefusedByDeltaRs: /not found/,
    statements: [
      "CREATE TABLE {t} (id BIGINT, day DATE, region STRING) USING delta PARTITIONED BY (day, region) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
      "INSERT INTO {t} VALUES (1, DATE'2024-02-29', 'eu north'), (2, DATE'2024-02-29', NULL), (3, DATE'2024-03-01', 'a/b=c%d:e'), (4, NULL, 'ü')",
      "INSERT INTO {t} REPLACE WHERE day = '2024-02-29' VALUES (5, DATE'2024-02-29', 'x'), (6, DATE'2024-02-29', 'y')",
      "INSERT INTO {t} VALUES (9, DATE'2024-03-01', 'a/b=c%d:e')",
      'UPDATE {t} SET id = id + 100 WHERE id < 5',
      'SET spark.sql.sources.partitionOverwriteMode = dynamic',
      "INSERT OVERWRITE {t} VALUES (7, DATE'2024-02-29', 'x'), (8, DATE'2024-03-02', 'new')",
      'SET spark.sql.sources.partitionOverwriteMode = static',
      "DELETE FROM {t} WHERE region = 'new'",
    ],
  },
  {
    title: 'values of all types',
    statements: [
      `CREATE TABLE {t} (id INT, b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d9 DECIMAL(9, 2), d38 DECIMAL(38, 10),
         s STRING, bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, l ARRAY<INT>, m MAP<STRING, BIGINT>,
         n STRUCT<a: ARRAY<STRUCT<x: INT, y: MAP<INT, STRING>>>, b: STRUCT<c: DECIMAL(5, 1)>>) USING delta`,
      `INSERT INTO {t} VALUES
        (1, true, -128Y, -32768S, -2147483648, -9223372036854775808L, CAST(-1.5 AS FLOAT), -1.7976931348623157E308D, -9999999.99,
         CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38, 10)), '', X'', DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00Z',
         TIMESTAMP_NTZ'0001-01-01 00:00:00', array(), map(), named_struct('a', array(), 'b', named_struct('c', -9999.9))),
        (2, false, 127Y, 32767S, 2147483647, 9223372036854775807L, CAST('3.4028235E38' AS FLOAT), 4.9E-324D, 9999999.99,
         CAST('9999999999999999999999999999.9999999999' AS DECIMAL(38, 10)), 'ünï😀', X'00FF', DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999Z',
         TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', array(1, NULL), map('k', NULL, 'a', 5L),
         named_struct('a', array(named_struct('x', 1, 'y', map(1, 'one')), NULL), 'b', NULL)),
        (3, NULL, NULL, NULL, NULL, NULL, CAST('NaN' AS FLOAT), CAST('-Infinity' AS DOUBLE), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (4, true, 0Y, 0S, 0, 9007199254740993L, CAST('Infinity' AS FLOAT), CAST('NaN' AS DOUBLE), 0.01, 0.0000000001, 'a\\nb"c', X'7B', DATE'1969-12-31',
         TIMESTAMP'1969-12-31 23:59:59.999999Z', TIMESTAMP_NTZ'1582-10-04 12:00:00', array(7), map('', 0L), named_struct('a', NULL, 'b', named_struct('c', NULL)))`,
    ],
  },
  rowChanges('by copying', {}),
  rowChanges('with deletion vectors', { 'delta.enableDeletionVectors': 'true' }),
  rowChanges('in column-mapped tables', { 'delta.columnMapping.mode': 'name' }, { feedRefusedByDeltaRs: unmappedFeed }),
  {
    title: 'optimize and z-order',
    statements: [
      "CREATE TABLE {t} (id BIGINT, v STRING, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
      "INSERT INTO {t} SELECT id, concat('a', id), CAST(id % 2 AS INT) FROM range(20)",
      "INSERT INTO {t} SELECT id, concat('b', id), CAST(id % 2 AS INT) FROM range(20)",
      'DELETE FROM {t} WHERE id = 7',
      'OPTIMIZE {t} WHERE p = 1',
      'OPTIMIZE {t}',
      "INSERT INTO {t} SELECT id, concat('c', id), CAST(id % 2 AS INT) FROM range(20)",
      'OPTIMIZE {t} ZORDER BY (id, v)',
      'DELETE FROM {t} WHERE id = 9',
      'REORG TABLE {t} APPLY (PURGE)',
    ],
  },
  {
    title: 'restore',
    statements: [
      "CREATE TABLE {t} (id BIGINT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
      'INSERT INTO {t} SELECT id FROM range(10)',
      'DELETE FROM {t} WHERE id < 4',
      'ALTER TABLE {t} ADD COLUMNS (extra STRING)',
      'INSERT INTO {t} VALUES (100, NULL)',
      'RESTORE TABLE {t} TO VERSION AS OF 2',
      'INSERT INTO {t} VALUES (200)',
    ],
  },
  {
    title: 'shallow clone',
    // DuckDB takes absolute paths of files for relative ones.
    faults: ['duckdb'],
    statements: [
      "CREATE TABLE {s} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
      "INSERT INTO {s} SELECT id, CASE WHEN id < 5 THEN 'low' ELSE 'high %' END FROM range(10)",
      'DELETE FROM {s} WHERE id = 8',
      'CREATE TABLE {t} SHALLOW CLONE {s}',
      "INSERT INTO {t} VALUES (100, 'own')",
      'DELETE FROM {t} WHERE id = 1',
      'DELETE FROM {s}',
    ],
  },
  {
    title: 'convert',
    given: [
      'DROP TABLE IF EXISTS to_convert',
      "CREATE TABLE to_convert (id BIGINT, s STRING, p INT) USING parquet PARTITIONED BY (p) LOCATION '{path}'",
      "INSERT INTO to_convert SELECT id, concat('s', id), CAST(id % 3 AS INT) FROM range(12)",
    ],
    statements: [
      'CONVERT TO DELTA parquet.`{path}` PARTITIONED BY (p INT)',
      "INSERT INTO {t} VALUES (100, 'x', 1)",
      'DELETE FROM {t} WHERE id < 4',
    ],
  },
  {
    title: 'add columns, nested and placed',
    statements: [
      'CREATE TABLE {t} (id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<x: INT>>) USING delta',
      "INSERT INTO {t} VALUES (1, named_struct('a', 1), array(named_struct('x', 1)))",
      'ALTER TABLE {t} ADD COLUMNS (first STRING FIRST, s.b STRING, l.element.y INT, last DATE)',
      "INSERT INTO {t} VALUES ('f', 2, named_struct('a', 2, 'b', 'two'), array(named_struct('x', 2, 'y', 3)), DATE'2024-01-01')",
      "ALTER TABLE {t} ALTER COLUMN id COMMENT 'the key'",
      'ALTER TABLE {t} ALTER COLUMN last AFTER first',
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 2 AS id, 'new' AS more) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ],
  },
  {
    title: 'rename and drop columns, mapped by name',
    faults: ['duckdb'],
    changesFrom: 7,
    feedRefusedByDeltaRs: unmappedFeed,
    statements: mapped('name'),
  },
  {
    title: 'rename and drop columns, mapped by id',
    faults: ['duckdb'],
    changesFrom: 7,
    feedRefusedByDeltaRs: unmappedFeed,
    statements: mapped('id'),
  },
  {
    title: 'widen types',
    refusals: { 'delta-rs': /typeWidening/i },
    statements: [
      "CREATE TABLE {t} (id SMALLINT, f FLOAT, d DECIMAL(5, 2), day DATE, s STRUCT<x: TINYINT>) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
      "INSERT INTO {t} VALUES (1S, CAST(0.1 AS FLOAT), 1.25, DATE'2024-02-29', named_struct('x', 1Y))",
      'ALTER TABLE {t} ALTER COLUMN id TYPE INT',
      'ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE',
      'ALTER TABLE {t} ALTER COLUMN d TYPE DECIMAL(12, 4)',
      'ALTER TABLE {t} ALTER COLUMN s.x TYPE INT',
      "INSERT INTO {t} VALUES (70000, 0.1D, 12345678.1234, DATE'2024-03-01', named_struct('x', 100000))",
      'ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT',
      'UPDATE {t} SET id = id + 1 WHERE id > 10',
    ],
  },
  {
    title: 'constraints and defaults',
    statements: [
      "CREATE TABLE {t} (id BIGINT NOT NULL, v INT DEFAULT 42, s STRING) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
      'INSERT INTO {t} (id, s) VALUES (1, NULL)',
      'ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0 AND v IS NOT NULL)',
      "INSERT INTO {t} VALUES (2, DEFAULT, 'x'), (4, 7, DEFAULT)",
      'ALTER TABLE {t} ALTER COLUMN v SET DEFAULT 43',
      'INSERT INTO {t} (id) VALUES (3)',
      'UPDATE {t} SET v = DEFAULT WHERE id = 1',
      'ALTER TABLE {t} DROP CONSTRAINT positive',
      'INSERT INTO {t} VALUES (-1, 0, NULL)',
    ],
  },
  {
    title: 'generated columns',
    statements: [
      'CREATE TABLE {t} (id BIGINT, ts TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), twice BIGINT GENERATED ALWAYS AS (id * 2)) USING delta PARTITIONED BY (day)',
      "INSERT INTO {t} (id, ts) VALUES (1, TIMESTAMP'2024-02-29 23:59:59Z'), (2, NULL)",
      "UPDATE {t} SET ts = TIMESTAMP'2024-03-01 00:00:00Z', id = 5 WHERE id = 2",
    ],
  },
  {
    title: 'identity columns',
    statements: [
      'CREATE TABLE {t} (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), k BIGINT GENERATED BY DEFAULT AS IDENTITY, v STRING) USING delta',
      "INSERT INTO {t} (v) VALUES ('a')",
      "INSERT INTO {t} (k, v) VALUES (100, 'b')",
    ],
  },
  {
    title: 'checkpoints, classic',
    statements: [
      "CREATE TABLE {t} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '2')",
      "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
      "INSERT INTO {t} VALUES (3, 'b c')",
      'DELETE FROM {t} WHERE id = 1',
      "INSERT INTO {t} VALUES (4, '')",
    ],
  },
  {
    title: 'checkpoints, V2, over deletion vectors',
    statements: [
      "CREATE TABLE {t} (id BIGINT, v STRING) USING delta TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = 'true')",
      "INSERT INTO {t} SELECT id, concat('v', id) FROM range(10)",
      'DELETE FROM {t} WHERE id = 3',
      "UPDATE {t} SET v = 'w' WHERE id = 4",
      "INSERT INTO {t} VALUES (100, 'x')",
    ],
  },
  {
    title: 'in-commit timestamps',
    changesFrom: 0,
    statements: [
      "CREATE TABLE {t} (id BIGINT) USING delta TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true', 'delta.enableChangeDataFeed' = 'true')",
      'INSERT INTO {t} VALUES (1), (2)',
      'DELETE FROM {t} WHERE id = 1',
    ],
  },
  {
    title: 'row tracking',
    statements: [
      "CREATE TABLE {t} (id BIGINT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
      'INSERT INTO {t} VALUES (1, 0), (2, 0), (3, 1)',
      'INSERT INTO {t} VALUES (4, 1)',
      'DELETE FROM {t} WHERE p = 1',
      'INSERT OVERWRITE {t} VALUES (5, 5)',
    ],
  },
  {
    title: 'clustering',
    statements: [
      'CREATE TABLE {t} (id BIGINT, a INT, b STRING) USING delta CLUSTER BY (a, b)',
      "INSERT INTO {t} SELECT id, CAST(id % 4 AS INT), concat('b', id) FROM range(20)",
      'ALTER TABLE {t} CLUSTER BY (id)',
      "INSERT INTO {t} VALUES (100, 1, 'x')",
      'ALTER TABLE {t} CLUSTER BY NONE',
    ],
  },
  {
    title: 'properties, features, protocol',
    statements: [
      'CREATE TABLE {t} (id BIGINT) USING delta',
      'INSERT INTO {t} VALUES (1)',
      "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'mine' = 'yes')",
      "ALTER TABLE {t} UNSET TBLPROPERTIES ('mine')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
      'INSERT INTO {t} VALUES (2), (3)',
      'DELETE FROM {t} WHERE id = 2',
    ],
    changesFrom: 2,
  },
];
