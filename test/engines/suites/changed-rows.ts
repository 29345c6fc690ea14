import type { Difference, RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * UPDATE, DELETE and INSERT in their plain forms, for both formats. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta`
 * (Apache-2.0): `UpdateSuiteBase`, `DeleteSuiteBase`, `DeltaInsertIntoTableSuite`; and of apache/iceberg (Apache-2.0), `spark/v4.0`: `TestUpdate`,
 * `TestDelete`, `UnpartitionedWritesTestBase`, `PartitionedWritesTestBase`.
 */

type Format = 'delta' | 'iceberg';

interface Given {
  readonly of: string;
  readonly title: string;
  readonly columns: string;
  readonly partitions?: string;
  readonly rows?: string;
  /** What is changed; the table is read after each. */
  readonly changes: readonly string[];
  readonly conf?: Readonly<Record<string, string>>;
  /** By the place of the step. */
  readonly differs?: Readonly<Partial<Record<Format, Readonly<Record<number, Difference>>>>>;
}

const refusal = (refused: string, because: string): Difference => ({ ours: { refused }, because });
const nothingFound: Difference = { ours: 'done', because: 'a condition that is NULL finds no row, in every statement' };
const onceInPartition = 'a column twice in PARTITION is a column twice, as anywhere';
const sameForBoth = 'statements about rows of Iceberg tables have the error classes of Delta tables';

const byPart = {
  columns: 'id INT, v STRING, p STRING',
  partitions: 'p',
  rows: "(1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y'), (4, NULL, NULL)",
};
const dynamic = { 'spark.sql.sources.partitionOverwriteMode': 'dynamic' };

const given: readonly Given[] = [
  {
    of: 'UpdateSuiteBase: basic update - with where, without where and out-of-order columns; TestUpdate: testUpdateWithAlias',
    title: 'UPDATE with and without conditions',
    ...byPart,
    changes: [
      "UPDATE {t} SET v = 'all', id = id + 10",
      'UPDATE {t} AS u SET u.v = u.p, u.p = u.v WHERE u.id > 12',
      'UPDATE {t} SET id = id WHERE false',
      "UPDATE {t} SET v = NULL WHERE p = 'x' AND id IN (11, 99)",
      "UPDATE {t} SET p = 'z' WHERE p IS NULL OR p = 'x'",
      "UPDATE {t} SET V = concat(v, '!'), ID = -id WHERE V IS NOT NULL",
    ],
  },
  {
    of: 'UpdateSuiteBase: SC-12276: table has null values; TestUpdate: testUpdateWithNullConditions, testUpdateWithInAndNotInConditions',
    title: 'UPDATE where conditions are NULL',
    differs: { delta: { 4: nothingFound }, iceberg: { 4: nothingFound } },
    ...byPart,
    changes: [
      "UPDATE {t} SET v = 'n' WHERE v = NULL",
      "UPDATE {t} SET v = 'n' WHERE NULL",
      "UPDATE {t} SET v = 'n' WHERE NOT (v = 'a')",
      "UPDATE {t} SET v = 'm' WHERE v <=> NULL",
      "UPDATE {t} SET v = 'in' WHERE id IN (1, NULL)",
      "UPDATE {t} SET v = 'out' WHERE id NOT IN (1, NULL)",
      "UPDATE {t} SET v = 'out' WHERE id NOT IN (1, 2)",
    ],
  },
  {
    of: 'UpdateSuiteBase: type mismatch, upcast int source type into long target, invalid implicit cast string source type into boolean target; TestUpdate: testUpdateWithInvalidAssignmentsAnsi, testUpdateWithInferredCasts',
    title: 'UPDATE with values of other types',
    columns: 'i INT, l BIGINT, s STRING, b BOOLEAN, d DATE, m DECIMAL(5, 2)',
    rows: "(1, 1, 'a', true, DATE '2024-01-01', 1.5)",
    changes: [
      'UPDATE {t} SET l = 5, s = 6',
      "UPDATE {t} SET i = '7'",
      "UPDATE {t} SET b = 'true'",
      "UPDATE {t} SET b = 'maybe'",
      'UPDATE {t} SET b = 1',
      "UPDATE {t} SET d = '2024-02-30'",
      "UPDATE {t} SET d = '2024-02-28'",
      "UPDATE {t} SET d = TIMESTAMP '2024-03-01 10:00:00'",
      'UPDATE {t} SET m = 12.345',
      'UPDATE {t} SET m = 12345',
      'UPDATE {t} SET i = 1.5',
      'UPDATE {t} SET i = 9999999999',
      'UPDATE {t} SET s = d',
      'UPDATE {t} SET i = d',
      'UPDATE {t} SET s = array(1)',
    ],
  },
  {
    of: 'UpdateSuiteBase: Negative case - check target columns during analysis; TestUpdate: testUpdateWithInvalidUpdates',
    title: 'UPDATE of what is not there',
    differs: {
      iceberg: {
        12: refusal('DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN', 'Spark ends with an internal error'),
        14: refusal('UNSUPPORTED_EXPR_FOR_OPERATOR', sameForBoth),
        16: refusal('UNSUPPORTED_EXPR_FOR_OPERATOR', sameForBoth),
        18: refusal('UNSUPPORTED_GENERATOR.OUTSIDE_SELECT', sameForBoth),
      },
    },
    ...byPart,
    changes: [
      'UPDATE {t} SET nope = 1',
      'UPDATE {t} SET v = nope',
      "UPDATE {t} SET v = 'x' WHERE nope > 1",
      "UPDATE {t} AS u SET v = 'x' WHERE q.id = 1",
      "UPDATE {t} SET v = 'x', v = 'y'",
      "UPDATE {t} SET v = 'x' WHERE id",
      "UPDATE {t} SET v = 'x' WHERE sum(id) > 1",
      'UPDATE {t} SET id = max(id)',
      'UPDATE {t} SET id = explode(array(1))',
      'UPDATE {u} SET id = 1',
    ],
  },
  {
    of: 'DeleteSuiteBase: basic case - Partition, data and partition predicates; TestDelete: testDeleteWithArbitraryPartitionPredicates, testDeleteWithAlias',
    title: 'DELETE by columns and partitions',
    columns: byPart.columns,
    partitions: 'p',
    rows: `${byPart.rows}, (5, 'a', 'x'), (6, 'b', 'z'), (7, 'c', 'xx')`,
    changes: [
      "DELETE FROM {t} WHERE p = 'y'",
      "DELETE FROM {t} AS d WHERE d.p = 'x' AND d.id = 1",
      "DELETE FROM {t} WHERE p LIKE '%xx'",
      "DELETE FROM {t} WHERE length(p) = 1 AND v = 'b'",
      'DELETE FROM {t} WHERE p IS NULL',
      'DELETE FROM {t} WHERE id > 100',
      'DELETE FROM {t}',
    ],
  },
  {
    of: 'TestDelete: testDeleteWithFoldableConditions, testDeleteWithNullConditions, testDeleteWithInAndNotInConditions, testDeleteWithNonDeterministicCondition',
    title: 'DELETE by constants and NULL',
    differs: {
      delta: { 6: nothingFound },
      iceberg: {
        20: refusal('DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN', sameForBoth),
        22: refusal('UNSUPPORTED_EXPR_FOR_OPERATOR', sameForBoth),
      },
    },
    ...byPart,
    changes: [
      'DELETE FROM {t} WHERE false',
      'DELETE FROM {t} WHERE 50 <> 50',
      'DELETE FROM {t} WHERE NULL',
      'DELETE FROM {t} WHERE id = NULL',
      'DELETE FROM {t} WHERE v <=> NULL',
      'DELETE FROM {t} WHERE id NOT IN (1, NULL)',
      'DELETE FROM {t} WHERE id IN (2, NULL)',
      'DELETE FROM {t} WHERE id = 3 AND rand() < 2',
      'DELETE FROM {t} WHERE nope',
      'DELETE FROM {t} WHERE id',
      'DELETE FROM {t} WHERE max(id) = 1',
      'DELETE FROM {t} WHERE true',
    ],
  },
  {
    of: 'TestDelete: testDeleteWithConditionOnNestedColumn, testDeleteWithFilterOnNestedColumn',
    title: 'DELETE by members of structs, lists and maps',
    columns: 'id INT, s STRUCT<a: INT, b: STRUCT<c: STRING>>, l ARRAY<INT>, m MAP<STRING, INT>',
    rows: "(1, struct(1, struct('x')), array(1, 2), map('k', 1)), (2, struct(2, struct('y')), array(), map()), (3, NULL, NULL, NULL), (4, struct(NULL, NULL), array(NULL), map('z', NULL))",
    changes: [
      "DELETE FROM {t} WHERE s.b.c = 'y'",
      'DELETE FROM {t} WHERE s.a = NULL',
      "DELETE FROM {t} WHERE m['k'] = 1 AND l[0] = 1",
      'DELETE FROM {t} WHERE s IS NULL',
      'DELETE FROM {t} WHERE s.a IS NULL',
    ],
  },
  {
    of: 'DeltaInsertIntoTableSuite: insertInto: append by position, by name; PartitionedWritesTestBase: testInsertAppend, testInsertOverwrite',
    title: 'INSERT by place, by name and with lists',
    columns: 'id INT, v STRING, p STRING',
    partitions: 'p',
    changes: [
      "INSERT INTO {t} VALUES (1, 'a', 'x')",
      "INSERT INTO {t} (p, id) VALUES ('y', 2)",
      "INSERT INTO {t} (id, v, p) SELECT 3, 'c', NULL",
      "INSERT INTO {t} BY NAME SELECT 'x' AS p, 4 AS id, 'd' AS v",
      "INSERT INTO {t} BY NAME SELECT 'x' AS p, 5 AS id",
      "INSERT INTO {t} BY NAME SELECT 'x' AS p, 6 AS id, 1 AS nope",
      "INSERT INTO {t} VALUES (7, 'g')",
      "INSERT INTO {t} VALUES (7, 'g', 'x', 'more')",
      'INSERT INTO {t} (id, id) VALUES (8, 8)',
      "INSERT INTO {t} (id, nope) VALUES (9, 'n')",
      'INSERT INTO {t} TABLE {t}',
      "INSERT INTO {t} FROM {t} SELECT id + 10, v, p WHERE p = 'y'",
      "INSERT INTO {t} VALUES (DEFAULT, 'def', DEFAULT)",
      "INSERT INTO {t} VALUES (1 + 1, upper('z'), concat('x', 'y'))",
    ],
  },
  {
    of: 'DeltaInsertIntoTableSuite: insertInto: static partition; InsertIntoSQLOnlyTests: static PARTITION clause, dynamic PARTITION clause, missing fields',
    title: 'INSERT with PARTITION',
    differs: {
      delta: {
        8: refusal('INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS', 'it says what is wrong, where Delta compares schemas'),
        16: refusal('DELTA_DUPLICATE_COLUMNS_FOUND', onceInPartition),
      },
      iceberg: { 16: refusal('COLUMN_ALREADY_EXISTS', onceInPartition) },
    },
    ...byPart,
    changes: [
      "INSERT INTO {t} PARTITION (p = 'new') VALUES (5, 'e')",
      "INSERT INTO {t} PARTITION (p) VALUES (6, 'f', 'dyn')",
      "INSERT INTO {t} PARTITION (p = 'new') (v, id) VALUES ('g', 7)",
      "INSERT INTO {t} PARTITION (p = 'new') VALUES (5, 'e', 'x')",
      "INSERT OVERWRITE {t} PARTITION (p = 'x') VALUES (8, 'h')",
      "INSERT OVERWRITE {t} PARTITION (p = NULL) VALUES (9, 'i')",
      "INSERT OVERWRITE TABLE {t} PARTITION (p = 'empty') SELECT id, v FROM {t} WHERE false",
      "INSERT OVERWRITE {t} PARTITION (p = 'new', p = 'x') VALUES (1, 'a')",
      "INSERT OVERWRITE {t} PARTITION (P = 'y') VALUES (10, 'j')",
      "INSERT OVERWRITE {t} VALUES (11, 'k', 'only')",
    ],
  },
  {
    of: 'InsertIntoSQLOnlyTests: overwrite - dynamic clause - dynamic mode, static clause - dynamic mode; PartitionedWritesTestBase: testDynamicOverwrite',
    title: 'INSERT OVERWRITE of the partitions that come',
    ...byPart,
    conf: dynamic,
    changes: [
      "INSERT OVERWRITE {t} VALUES (5, 'e', 'y'), (6, 'f', 'new')",
      "INSERT OVERWRITE {t} PARTITION (p) SELECT 7, 'g', NULL",
      "INSERT OVERWRITE {t} PARTITION (p = 'x') VALUES (8, 'h')",
      "INSERT OVERWRITE {t} BY NAME SELECT 'y' AS p, 9 AS id, 'i' AS v",
      'INSERT OVERWRITE {t} SELECT * FROM {t} WHERE false',
    ],
  },
  {
    of: 'UpdateSuiteBase: different variations of column references; DeleteSuiteBase: Negative case - Delete with special characters',
    title: 'columns with names that need quotes',
    columns: '`a b` INT, `c.d` STRING, `order` INT, `ünï` INT, `x-y` STRUCT<`in.ner`: INT, `b b`: INT>',
    rows: "(1, 'one', 10, 100, struct(1, 2)), (2, 'two', 20, 200, struct(3, 4))",
    changes: [
      "UPDATE {t} SET `c.d` = 'ONE' WHERE `a b` = 1",
      'UPDATE {t} SET `x-y`.`in.ner` = 9, `order` = `ünï` WHERE `x-y`.`b b` = 4',
      "DELETE FROM {t} WHERE `c.d` = 'two'",
      "INSERT INTO {t} (`x-y`, `c.d`, `a b`) VALUES (struct(5, 6), 'three', 3)",
      'UPDATE {t} SET c.d = 1',
    ],
  },
];

function changed({ of, title, columns, partitions, rows, changes, conf, differs }: Given, format: Format): RestatedCase {
  const mapped = columns.includes('`') && format === 'delta' ? " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" : '';
  return {
    of,
    title,
    ...(conf === undefined ? {} : { conf }),
    ...(differs?.[format] === undefined ? {} : { differs: differs[format] }),
    steps: [
      `CREATE TABLE {t} (${columns}) USING ${format}${partitions === undefined ? '' : ` PARTITIONED BY (${partitions})`}${mapped}`,
      ...(rows === undefined ? [] : [`INSERT INTO {t} VALUES ${rows}`]),
      ...changes.flatMap((change) => [change, 'SELECT * FROM {t}']),
    ],
  };
}

const suite = (name: string, format: Format): RestatedSuite => ({ name, format, cases: given.map((each) => changed(each, format)) });

export const changedRows: RestatedSuite = suite('changed-rows', 'delta');
export const changedRowsIceberg: RestatedSuite = suite('changed-rows-iceberg', 'iceberg');
