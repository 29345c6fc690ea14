import type { IcebergReader } from '../oracle.ts';

/**
 * Statements that our session and Spark both execute, each on a table of its own of one catalog. In the text `{t}` is the table, `{n}` its
 * name in the catalog, `{c}` the catalog, `{snapshot:2}` and `{time:2}` the id and the time of its third snapshot.
 */
export interface IcebergScript {
  readonly title: string;
  readonly statements: readonly string[];
  /** Engines that cannot read our table, with what they say. */
  readonly refusals?: Readonly<Partial<Record<IcebergReader, RegExp>>> | undefined;
  /** Engines that read such a table wrong, whoever wrote it: they are not asked for rows. */
  readonly faults?: readonly IcebergReader[] | undefined;
  /** What of the snapshots' summaries must be the same: nothing but the operation, also the counts of rows, or (default) of deletes too. */
  readonly compared?: 'operations' | 'rows' | undefined;
}

type Refusals = IcebergScript['refusals'];

/** DuckDB has no reader of Avro and ORC data files, pyiceberg none of Avro data files and of Avro and ORC delete files. */
const refusalsOf: Readonly<Record<string, Refusals>> = {
  parquet: {},
  avro: { duckdb: /./, pyiceberg: /./ },
  orc: { duckdb: /./ },
  'orc with deletes': { duckdb: /./, pyiceberg: /./ },
};

interface RowChangeSettings {
  readonly version: 1 | 2 | 3;
  readonly mode: 'copy-on-write' | 'merge-on-read';
  readonly format: 'parquet' | 'avro' | 'orc';
}

/** Every statement that changes rows, with one way of storing the changes. */
function rowChanges({ version, mode, format }: RowChangeSettings): IcebergScript {
  const properties = {
    'format-version': String(version),
    'write.format.default': format,
    'write.delete.mode': mode,
    'write.update.mode': mode,
    'write.merge.mode': mode,
    // By file has a script of its own.
    'write.delete.granularity': 'partition',
  };
  const list = Object.entries(properties).map(([key, value]) => `'${key}' = '${value}'`);
  return {
    title: `delete, update and merge, ${mode}, ${format}, format ${version}`,
    // Delete files of a partition that is dropped stay as long as they may concern others; Spark drops them at once.
    ...(mode === 'merge-on-read' && version === 2 ? { compared: 'rows' as const } : {}),
    refusals: refusalsOf[format === 'orc' && mode === 'merge-on-read' && version === 2 ? 'orc with deletes' : format],
    statements: [
      `CREATE TABLE {t} (id BIGINT, name STRING, amount DECIMAL(10, 2), note STRUCT<a: INT, b: STRING>, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES (${list.join(', ')})`,
      "INSERT INTO {t} SELECT id, concat('n', id), CAST(id AS DECIMAL(10, 2)), named_struct('a', CAST(id AS INT), 'b', 'x'), concat('p', id % 2) FROM range(40)",
      'DELETE FROM {t} WHERE id % 5 = 0',
      "UPDATE {t} SET amount = amount + 0.25, name = upper(name), note.b = 'y' WHERE id BETWEEN 10 AND 20",
      `MERGE INTO {t} t USING (
         SELECT id, concat('m', id) AS name, CAST(0.5 AS DECIMAL(10, 2)) AS amount, CAST(NULL AS STRUCT<a: INT, b: STRING>) AS note, concat('p', id % 2) AS p
         FROM range(18, 50)
       ) s ON t.id = s.id
       WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET *
       WHEN MATCHED AND s.id % 3 = 0 THEN DELETE
       WHEN NOT MATCHED THEN INSERT *
       WHEN NOT MATCHED BY SOURCE AND t.id < 3 THEN DELETE
       WHEN NOT MATCHED BY SOURCE AND t.id < 8 THEN UPDATE SET name = 'kept'`,
      'DELETE FROM {t} WHERE id = 49',
      "DELETE FROM {t} WHERE p = 'p0'",
    ],
  };
}

/** Values of all types that Spark can write, with the ends of their ranges. */
function allTypes(format: string, version: number, refusals: Refusals): IcebergScript {
  // Java writes ORC timestamps of the last second before 1970 as those of the first one after.
  const beforeEpoch = format === 'orc' ? '1969-12-31 23:59:58.999999Z' : '1969-12-31 23:59:59.999999Z';
  return {
    title: `values of all types, ${format}, format ${version}`,
    refusals,
    statements: [
      `CREATE TABLE {t} (id INT, b BOOLEAN, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, d9 DECIMAL(9, 2), d18 DECIMAL(18, 4), d38 DECIMAL(38, 10),
         s STRING, bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, l ARRAY<INT>, m MAP<STRING, BIGINT>,
         n STRUCT<a: ARRAY<STRUCT<x: INT, y: MAP<INT, STRING>>>, b: STRUCT<c: DECIMAL(5, 1)>>)
         USING iceberg TBLPROPERTIES ('format-version' = '${version}', 'write.format.default' = '${format}')`,
      `INSERT INTO {t} VALUES
        (1, true, -2147483648, -9223372036854775808L, CAST(-1.5 AS FLOAT), -1.7976931348623157E308D, -9999999.99, -99999999999999.9999,
         CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38, 10)), '', X'', DATE'1700-01-01', TIMESTAMP'1700-01-01 00:00:00Z',
         TIMESTAMP_NTZ'1700-01-01 00:00:00', array(), map(), named_struct('a', array(), 'b', named_struct('c', -9999.9))),
        (2, false, 2147483647, 9223372036854775807L, CAST('3.4028235E38' AS FLOAT), 4.9E-324D, 9999999.99, 99999999999999.9999,
         CAST('9999999999999999999999999999.9999999999' AS DECIMAL(38, 10)), 'ünï😀', X'00FF', DATE'2200-12-31', TIMESTAMP'2200-12-31 23:59:59.999999Z',
         TIMESTAMP_NTZ'2200-12-31 23:59:59.999999', array(1, NULL), map('k', NULL, 'a', 5L),
         named_struct('a', array(named_struct('x', 1, 'y', map(1, 'one')), named_struct('x', NULL, 'y', map())), 'b', named_struct('c', 1.5))),
        (3, NULL, NULL, NULL, CAST('NaN' AS FLOAT), CAST('-Infinity' AS DOUBLE), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (4, true, 0, 9007199254740993L, CAST('Infinity' AS FLOAT), CAST('NaN' AS DOUBLE), 0.01, 0.0001, 0.0000000001, 'a\\nb"c', X'7B', DATE'1969-12-31',
         TIMESTAMP'${beforeEpoch}', TIMESTAMP_NTZ'1969-12-31 12:00:00', array(7), map('', 0L), named_struct('a', array(), 'b', named_struct('c', NULL)))`,
    ],
  };
}

const formats = ['parquet', 'avro', 'orc'] as const;

/** The operations of Iceberg tables in SQL. */
export const icebergScripts: readonly IcebergScript[] = [
  ...([1, 2, 3] as const).map(
    (version): IcebergScript => ({
      title: `create, append, overwrite, truncate, format ${version}`,
      statements: [
        `CREATE TABLE {t} (id BIGINT NOT NULL COMMENT 'key', name STRING, score DOUBLE) USING iceberg COMMENT 'of tests' TBLPROPERTIES ('format-version' = '${version}', 'team' = 'x')`,
        "INSERT INTO {t} VALUES (1, 'a', 1.5D), (2, NULL, -2.25D)",
        "INSERT INTO {t} (name, id) VALUES ('c', 3)",
        "INSERT OVERWRITE {t} VALUES (7, 'x', 0.0D), (8, 'y', NULL)",
        'INSERT INTO {t} SELECT id + 10, upper(name), score FROM {t}',
        'TRUNCATE TABLE {t}',
        "INSERT INTO {t} VALUES (9, 'z', 1.0D)",
      ],
    }),
  ),
  {
    title: 'create from a query, and replace',
    statements: [
      "CREATE TABLE {t} USING iceberg PARTITIONED BY (g) AS SELECT id, id % 3 AS g, concat('v', id) AS v FROM range(10)",
      "CREATE OR REPLACE TABLE {t} USING iceberg AS SELECT id, 'other' AS kind FROM range(4)",
      "INSERT INTO {t} VALUES (9, 'more')",
    ],
  },
  {
    title: 'dynamic overwrite of partitions with strange names',
    statements: [
      'CREATE TABLE {t} (id BIGINT, day DATE, region STRING) USING iceberg PARTITIONED BY (day, region)',
      "INSERT INTO {t} VALUES (1, DATE'2024-02-29', 'eu north'), (2, DATE'2024-02-29', NULL), (3, DATE'2024-03-01', 'a/b=c%d:e'), (4, NULL, 'ü')",
      "INSERT INTO {t} VALUES (9, DATE'2024-03-01', 'a/b=c%d:e')",
      'UPDATE {t} SET id = id + 100 WHERE id < 5',
      'SET spark.sql.sources.partitionOverwriteMode = dynamic',
      "INSERT OVERWRITE {t} VALUES (7, DATE'2024-02-29', 'x'), (8, DATE'2024-03-01', 'a/b=c%d:e')",
      'SET spark.sql.sources.partitionOverwriteMode = static',
      "INSERT OVERWRITE {t} PARTITION (region = 'ü') SELECT 5L, DATE'2024-01-01'",
      "DELETE FROM {t} WHERE region = 'x'",
    ],
  },
  ...formats.map((format) => allTypes(format, 2, refusalsOf[format])),
  allTypes('parquet', 1, {}),
  allTypes('parquet', 3, {}),
  rowChanges({ version: 1, mode: 'copy-on-write', format: 'parquet' }),
  rowChanges({ version: 3, mode: 'copy-on-write', format: 'parquet' }),
  ...formats.flatMap((format) => [
    rowChanges({ version: 2, mode: 'copy-on-write', format }),
    rowChanges({ version: 2, mode: 'merge-on-read', format }),
    rowChanges({ version: 3, mode: 'merge-on-read', format }),
  ]),
  {
    title: 'rows of one data file marked again and again',
    statements: [
      "CREATE TABLE {t} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')",
      "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('a', id) FROM range(20)",
      "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('b', id) FROM range(20, 40)",
      'DELETE FROM {t} WHERE id = 3',
      'DELETE FROM {t} WHERE id IN (5, 25)',
      "UPDATE {t} SET v = 'u' WHERE id IN (0, 7)",
      'DELETE FROM {t} WHERE id = 39',
    ],
  },
  {
    title: 'columns added, renamed, moved, widened and dropped',
    statements: [
      'CREATE TABLE {t} (id INT, f FLOAT, d DECIMAL(5, 2), s STRUCT<a: INT, gone: STRING>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>) USING iceberg',
      "INSERT INTO {t} VALUES (1, CAST(0.5 AS FLOAT), 1.25, named_struct('a', 1, 'gone', 'g'), array(named_struct('x', 1)), map('k', named_struct('y', 1)))",
      "ALTER TABLE {t} ADD COLUMNS (first STRING FIRST, s.b STRING COMMENT 'b', l.element.y INT, m.value.z DATE, last DATE)",
      'ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT',
      'ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE',
      'ALTER TABLE {t} ALTER COLUMN d TYPE DECIMAL(12, 2)',
      'ALTER TABLE {t} ALTER COLUMN s.a TYPE BIGINT',
      'ALTER TABLE {t} RENAME COLUMN s.a TO renamed',
      'ALTER TABLE {t} DROP COLUMN s.gone',
      'ALTER TABLE {t} ALTER COLUMN last AFTER first',
      "ALTER TABLE {t} ALTER COLUMN id COMMENT 'the key'",
      `INSERT INTO {t} VALUES ('f', DATE'2024-01-01', 9007199254740993, 0.1D, 1234567890.12, named_struct('renamed', 2L, 'b', 'two'),
         array(named_struct('x', 2, 'y', 3)), map('k', named_struct('y', 2, 'z', DATE'2024-02-29')))`,
      'ALTER TABLE {t} DROP COLUMN first',
      'ALTER TABLE {t} ADD COLUMN first INT',
      'UPDATE {t} SET first = 7 WHERE id = 1',
    ],
  },
  {
    title: 'every partition transform',
    statements: [
      `CREATE TABLE {t} (i INT, l BIGINT, d DECIMAL(9, 2), s STRING, b BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, at TIMESTAMP) USING iceberg
         PARTITIONED BY (bucket(7, i), bucket(5, l), bucket(3, d), bucket(4, s), bucket(4, b), bucket(3, day), bucket(3, ts), truncate(10, i), truncate(100, l),
           truncate(50, d), truncate(3, s), truncate(2, b), years(day), months(ts), days(ntz), hours(at))`,
      `INSERT INTO {t} VALUES
         (1, 34L, 14.20, 'iceberg', X'00010203', DATE'2017-11-16', TIMESTAMP'2017-11-16 22:31:08Z', TIMESTAMP_NTZ'2017-11-16 22:31:08.000001', TIMESTAMP'2017-11-16 22:31:08Z'),
         (-1, -1L, -0.01, '😀ü-long text', X'FF', DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999Z', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', TIMESTAMP'1969-12-31 23:59:59.999999Z'),
         (-11, 9223372036854775807L, 9999999.99, '', X'', DATE'1950-01-01', TIMESTAMP'1950-06-01 00:30:00Z', TIMESTAMP_NTZ'1970-01-01 00:00:00', TIMESTAMP'1950-06-01 00:30:00Z'),
         (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
      'DELETE FROM {t} WHERE i = -1',
    ],
  },
  ...([2, 3] as const).map(
    (version): IcebergScript => ({
      title: `files of three formats side by side, format ${version}`,
      refusals: refusalsOf['avro'],
      statements: [
        `CREATE TABLE {t} (id BIGINT, p STRING, n INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '${version}',
           'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition')`,
        ...['parquet', 'avro', 'orc'].flatMap((format, index) => [
          `ALTER TABLE {t} SET TBLPROPERTIES ('write.format.default' = '${format}')`,
          `INSERT INTO {t} SELECT id, concat('p', id % 2), CAST(id AS INT) FROM range(${index * 10}, ${index * 10 + 10})`,
        ]),
        'DELETE FROM {t} WHERE id % 5 = 1',
        'UPDATE {t} SET n = n + 100 WHERE id % 5 = 2',
        'ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)',
        "INSERT INTO {t} VALUES (50, 'p1', 5), (51, NULL, 6)",
      ],
    }),
  ),
  {
    title: 'partition evolution',
    statements: [
      'CREATE TABLE {t} (id BIGINT, s STRING, ts TIMESTAMP) USING iceberg PARTITIONED BY (s)',
      "INSERT INTO {t} SELECT id, concat('s', id % 2), timestamp_seconds(id * 86400) FROM range(6)",
      'ALTER TABLE {t} ADD PARTITION FIELD bucket(3, id)',
      "INSERT INTO {t} SELECT id, concat('s', id % 2), timestamp_seconds(id * 86400) FROM range(6, 12)",
      'ALTER TABLE {t} DROP PARTITION FIELD s',
      'ALTER TABLE {t} ADD PARTITION FIELD days(ts) AS day_of',
      'ALTER TABLE {t} REPLACE PARTITION FIELD day_of WITH months(ts) AS month_of',
      "INSERT INTO {t} SELECT id, concat('s', id % 2), timestamp_seconds(id * 86400) FROM range(12, 18)",
      "DELETE FROM {t} WHERE s = 's1' AND id > 2",
      "UPDATE {t} SET s = 'moved' WHERE id IN (0, 6, 12)",
    ],
  },
  {
    title: 'format 1 whose partition field is dropped',
    statements: [
      "CREATE TABLE {t} (id BIGINT, s STRING) USING iceberg PARTITIONED BY (s, truncate(2, id)) TBLPROPERTIES ('format-version' = '1')",
      "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
      'ALTER TABLE {t} DROP PARTITION FIELD s',
      "INSERT INTO {t} VALUES (3, 'a'), (4, NULL)",
    ],
  },
  {
    title: 'upgrades from format 1 to 3 with deletes of each kind',
    // It reads no snapshot that format 1 wrote once the table is of format 2.
    faults: ['duckdb'],
    statements: [
      "CREATE TABLE {t} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '1', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')",
      "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('a', id) FROM range(10)",
      "ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '2')",
      'DELETE FROM {t} WHERE id = 3',
      "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('b', id) FROM range(10, 20)",
      "ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')",
      'DELETE FROM {t} WHERE id IN (4, 14)',
      "UPDATE {t} SET v = 'new' WHERE id IN (5, 15)",
      "INSERT INTO {t} VALUES (100, 'last')",
    ],
  },
  {
    title: 'branches and tags',
    statements: [
      'CREATE TABLE {t} (id BIGINT, v STRING) USING iceberg',
      "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b')",
      'ALTER TABLE {t} CREATE TAG first RETAIN 30 DAYS',
      'ALTER TABLE {t} CREATE BRANCH audit WITH SNAPSHOT RETENTION 2 SNAPSHOTS 3 DAYS',
      "INSERT INTO {t}.branch_audit VALUES (3, 'c')",
      "UPDATE {t}.branch_audit SET v = 'x' WHERE id = 1",
      "INSERT INTO {t} VALUES (4, 'main only')",
      'ALTER TABLE {t} CREATE OR REPLACE TAG second',
      'DELETE FROM {t}.branch_audit WHERE id = 2',
      'ALTER TABLE {t} CREATE BRANCH gone',
      'ALTER TABLE {t} DROP BRANCH gone',
      'ALTER TABLE {t} CREATE BRANCH forward AS OF VERSION {snapshot:0}',
      "CALL {c}.system.fast_forward('{n}', 'forward', 'main')",
    ],
  },
  {
    title: 'rollback, set current, cherry-pick',
    statements: [
      "CREATE TABLE {t} (id BIGINT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')",
      'INSERT INTO {t} VALUES (1)',
      'INSERT INTO {t} VALUES (2)',
      'DELETE FROM {t} WHERE id = 1',
      "CALL {c}.system.rollback_to_snapshot('{n}', {snapshot:1})",
      'INSERT INTO {t} VALUES (3)',
      "CALL {c}.system.set_current_snapshot('{n}', {snapshot:2})",
      "CALL {c}.system.rollback_to_timestamp('{n}', TIMESTAMP'{time:1}')",
      "CALL {c}.system.cherrypick_snapshot('{n}', {snapshot:3})",
      'INSERT INTO {t} VALUES (4)',
    ],
  },
  ...([2, 3] as const).map(
    (version): IcebergScript => ({
      title: `maintenance procedures, format ${version}`,
      compared: 'operations',
      statements: [
        `CREATE TABLE {t} (id BIGINT, v STRING, p INT) USING iceberg PARTITIONED BY (p)
           TBLPROPERTIES ('format-version' = '${version}', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')`,
        "INSERT INTO {t} SELECT id, concat('a', id), CAST(id % 2 AS INT) FROM range(20)",
        "INSERT INTO {t} SELECT id, concat('b', id), CAST(id % 2 AS INT) FROM range(20, 40)",
        'DELETE FROM {t} WHERE id = 7',
        'DELETE FROM {t} WHERE id = 27',
        "UPDATE {t} SET v = 'u' WHERE id = 9",
        "CALL {c}.system.rewrite_position_delete_files(table => '{n}', options => map('rewrite-all', 'true'))",
        "CALL {c}.system.rewrite_data_files(table => '{n}', where => 'p = 1', options => map('rewrite-all', 'true'))",
        "INSERT INTO {t} SELECT id, concat('c', id), CAST(id % 2 AS INT) FROM range(40, 60)",
        "CALL {c}.system.rewrite_data_files(table => '{n}', strategy => 'sort', sort_order => 'id DESC NULLS LAST', options => map('rewrite-all', 'true'))",
        "INSERT INTO {t} VALUES (100, 'last', 1)",
        "CALL {c}.system.rewrite_manifests('{n}')",
        "CALL {c}.system.expire_snapshots(table => '{n}', older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => 2)",
        "INSERT INTO {t} VALUES (101, 'after', 0)",
      ],
    }),
  ),
  {
    title: 'write order and identifier fields',
    statements: [
      'CREATE TABLE {t} (id BIGINT NOT NULL, v STRING, p STRING) USING iceberg',
      'ALTER TABLE {t} SET IDENTIFIER FIELDS id',
      'ALTER TABLE {t} WRITE ORDERED BY v DESC NULLS LAST, id',
      "INSERT INTO {t} SELECT id, concat('v', id % 7), 'p' FROM range(20)",
      'ALTER TABLE {t} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY bucket(4, id), v',
      "INSERT INTO {t} SELECT id, concat('v', id % 7), 'q' FROM range(20, 40)",
      'ALTER TABLE {t} DROP IDENTIFIER FIELDS id',
      'ALTER TABLE {t} WRITE UNORDERED',
    ],
  },
  {
    title: 'properties and metrics modes',
    statements: [
      `CREATE TABLE {t} (id BIGINT, long_text STRING, counted STRING, none STRING) USING iceberg TBLPROPERTIES ('write.metadata.metrics.default' = 'truncate(4)',
         'write.metadata.metrics.column.counted' = 'counts', 'write.metadata.metrics.column.none' = 'none', 'write.metadata.compression-codec' = 'gzip',
         'write.parquet.compression-codec' = 'gzip', 'write.metadata.previous-versions-max' = '2', 'write.metadata.delete-after-commit.enabled' = 'true')`,
      "INSERT INTO {t} VALUES (1, 'abcdefgh', 'c', 'n'), (2, '😀😀😀😀😀', NULL, NULL)",
      "ALTER TABLE {t} SET TBLPROPERTIES ('mine' = 'yes', 'write.parquet.compression-codec' = 'snappy')",
      "INSERT INTO {t} VALUES (3, 'zz', 'c', 'n')",
      "ALTER TABLE {t} UNSET TBLPROPERTIES ('mine')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('write.parquet.compression-codec' = 'uncompressed', 'write.manifest-merge.enabled' = 'false')",
      "INSERT INTO {t} VALUES (4, 'y', 'c', 'n')",
      "INSERT INTO {t} SELECT id + 10, long_text, counted, none FROM {t} WHERE long_text >= 'abcd'",
    ],
  },
];
