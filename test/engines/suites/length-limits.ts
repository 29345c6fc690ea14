import type { RestatedCase, RestatedSuite } from './restated-case.ts';

const of = 'CharVarcharTestSuite (apache/spark, sql/core), DeltaInsertIntoTableSuite, SchemaValidation of delta-io/delta';

const forgotten = 'columns of a query are text without a length';

function asStored(step: number, columns: readonly string[], rows: readonly string[]): RestatedCase['differs'] {
  return {
    [step]: { ours: { columns, rows }, because: 'text of CHAR(n) is given as it is stored, without spaces that Spark fills it up with' },
  };
}

/** What holds of VARCHAR(n) and CHAR(n) in tables of either format. */
const common: readonly RestatedCase[] = [
  {
    of,
    title: 'a varchar takes as many characters as it says',
    steps: [
      'CREATE TABLE {t} (id INT, v VARCHAR(3)) USING {f}',
      "INSERT INTO {t} VALUES (1, 'abc'), (2, NULL), (3, 'äöü'), (4, '')",
      "INSERT INTO {t} VALUES (5, 'abcd')",
      "INSERT INTO {t} VALUES (6, 'ab    ')",
      'SELECT id, v, length(v) AS n FROM {t}',
    ],
  },
  {
    of,
    title: 'a char is filled up with spaces',
    steps: [
      'CREATE TABLE {t} (id INT, c CHAR(3)) USING {f}',
      "INSERT INTO {t} VALUES (1, 'a'), (2, NULL), (3, 'abc'), (4, 'ab     ')",
      "INSERT INTO {t} VALUES (5, 'abcd')",
      'SELECT id, c, length(c) AS n FROM {t}',
      "SELECT id FROM {t} WHERE c = 'a'",
    ],
  },
  {
    of,
    title: 'an update keeps to the length',
    steps: [
      'CREATE TABLE {t} (id INT, v VARCHAR(3), c CHAR(3)) USING {f}',
      "INSERT INTO {t} VALUES (1, 'abc', 'abc')",
      "UPDATE {t} SET v = 'abcd'",
      "UPDATE {t} SET c = 'abcd'",
      "UPDATE {t} SET v = 'x  ', c = 'z'",
      "UPDATE {t} SET v = 'y     '",
      'SELECT id, v, c, length(v) AS n, length(c) AS m FROM {t}',
    ],
    differs: asStored(6, ['id int', 'v string', 'c string', 'n int', 'm int'], ['{"c":"z","id":1,"m":1,"n":3,"v":"x  "}']),
  },
  {
    of,
    title: 'a merge keeps to the length',
    steps: [
      'CREATE TABLE {t} (id INT, v VARCHAR(3), c CHAR(3)) USING {f}',
      'CREATE TABLE {s} (id INT, v STRING, c STRING) USING {f}',
      "INSERT INTO {t} VALUES (1, 'abc', 'abc')",
      "INSERT INTO {s} VALUES (1, 'long', 'a'), (2, 'x', 'b')",
      'MERGE INTO {t} USING {s} ON {t}.id = {s}.id WHEN MATCHED THEN UPDATE SET *',
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *',
      "MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v, c) VALUES (s.id, 'toolong', s.c)",
      'MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET c = s.c WHEN NOT MATCHED THEN INSERT *',
      'SELECT id, v, c, length(c) AS n FROM {t}',
    ],
    differs: asStored(
      8,
      ['id int', 'v string', 'c string', 'n int'],
      ['{"c":"a","id":1,"n":1,"v":"abc"}', '{"c":"b","id":2,"n":1,"v":"x"}'],
    ),
  },
  {
    of,
    title: 'lengths hold inside structs, arrays and maps',
    steps: [
      'CREATE TABLE {t} (id INT, s STRUCT<a: VARCHAR(2)>, l ARRAY<VARCHAR(2)>, m MAP<STRING, VARCHAR(2)>) USING {f}',
      "INSERT INTO {t} VALUES (1, named_struct('a', 'xy'), array('x', 'xy'), map('key', 'v'))",
      "INSERT INTO {t} VALUES (2, named_struct('a', 'xyz'), NULL, NULL)",
      "INSERT INTO {t} VALUES (3, NULL, array('x', 'xyz'), NULL)",
      "INSERT INTO {t} VALUES (4, NULL, NULL, map('key', 'value'))",
      'SELECT * FROM {t}',
    ],
  },
  {
    of,
    title: 'an added column keeps to its length, and may be made longer',
    steps: [
      'CREATE TABLE {t} (id INT) USING {f}',
      'ALTER TABLE {t} ADD COLUMNS (v VARCHAR(2))',
      "INSERT INTO {t} VALUES (1, 'abc')",
      "INSERT INTO {t} VALUES (2, 'ab')",
      'ALTER TABLE {t} ALTER COLUMN v TYPE VARCHAR(3)',
      "INSERT INTO {t} VALUES (3, 'abc')",
      'ALTER TABLE {t} ALTER COLUMN v TYPE VARCHAR(1)',
      'ALTER TABLE {t} ALTER COLUMN v TYPE STRING',
      "INSERT INTO {t} VALUES (4, 'abcdef')",
      'SELECT * FROM {t}',
    ],
  },
  {
    of,
    title: 'the table made from a query keeps the length of the column it takes',
    steps: [
      'CREATE TABLE {s} (id INT, v VARCHAR(2)) USING {f}',
      "INSERT INTO {s} VALUES (1, 'ab')",
      'CREATE TABLE {t} USING {f} AS SELECT * FROM {s}',
      "INSERT INTO {t} VALUES (2, 'abc')",
      'CREATE TABLE {u} USING {f} AS SELECT id, upper(v) AS v FROM {s}',
      "INSERT INTO {u} VALUES (2, 'abc')",
      'SELECT * FROM {t}',
      'SELECT * FROM {u}',
    ],
    differs: {
      3: { ours: 'done', because: forgotten },
      6: { ours: { columns: ['id int', 'v string'], rows: ['{"id":1,"v":"ab"}', '{"id":2,"v":"abc"}'] }, because: forgotten },
    },
  },
  {
    of,
    title: 'a length must be given',
    steps: [
      'CREATE TABLE {t} (v VARCHAR) USING {f}',
      'CREATE TABLE {t} (c CHARACTER) USING {f}',
      'CREATE TABLE {t} (v VARCHAR(0)) USING {f}',
    ],
  },
  {
    of,
    title: 'partition values keep to their length',
    steps: [
      'CREATE TABLE {t} (id INT, p VARCHAR(2)) USING {f} PARTITIONED BY (p)',
      "INSERT INTO {t} VALUES (1, 'ab')",
      "INSERT INTO {t} VALUES (2, 'abc')",
      "INSERT INTO {t} PARTITION (p = 'abcd') VALUES (3)",
      'SELECT * FROM {t}',
    ],
  },
  {
    of,
    title: 'replaced rows keep to the length',
    steps: [
      'CREATE TABLE {t} (id INT, v VARCHAR(2)) USING {f}',
      "INSERT INTO {t} VALUES (1, 'ab')",
      "INSERT OVERWRITE {t} VALUES (2, 'abc')",
      "INSERT OVERWRITE {t} SELECT 3, 'cd  '",
      'SELECT * FROM {t}',
    ],
  },
  {
    of,
    title: 'a cast to varchar or char is one to text',
    steps: ["SELECT CAST('abcdef' AS VARCHAR(3)) AS v, CAST('a' AS CHAR(3)) AS c", 'SELECT CAST(12345 AS VARCHAR(3)) AS v'],
  },
  {
    of,
    title: 'a description shows the declared type',
    steps: ['CREATE TABLE {t} (v VARCHAR(3), c CHAR(2), s STRUCT<a: VARCHAR(2)>) USING {f}', 'SHOW COLUMNS IN {t}', 'SELECT * FROM {t}'],
  },
];

/** Iceberg has no lengths: text of any is taken, and nothing differs. */
function inFormat(format: RestatedSuite['format']): readonly RestatedCase[] {
  return common.map(({ differs, ...each }) => ({
    ...each,
    differs: format === 'delta' ? differs : undefined,
    steps: each.steps.map((step) => step.replaceAll('{f}', format)),
  }));
}

export const deltaLengthLimits: RestatedSuite = { name: 'delta-length-limits', format: 'delta', cases: inFormat('delta') };
export const icebergLengthLimits: RestatedSuite = { name: 'iceberg-length-limits', format: 'iceberg', cases: inFormat('iceberg') };
