import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Expressions that a table keeps: generated columns, CHECK constraints, DEFAULT. Cases of delta-io/delta,
 * `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0).
 */

const generated = (expression: string, of = 'unsupported expressions', type = 'BIGINT'): RestatedCase => ({
  of: `GeneratedColumnSuite: validateGeneratedColumns: ${of}`,
  title: `a column generated as ${expression}${type === 'BIGINT' ? '' : ` of ${type}`}`,
  steps: [`CREATE TABLE {t} (id BIGINT, s STRING, g ${type} GENERATED ALWAYS AS (${expression})) USING delta`],
});

const checked = (condition: string): RestatedCase => ({
  of: 'CheckConstraintsSuite: constraints that are no conditions',
  title: `a constraint of ${condition}`,
  steps: ['CREATE TABLE {t} (id BIGINT, s STRING) USING delta', `ALTER TABLE {t} ADD CONSTRAINT c CHECK (${condition})`],
});

const defaulted = (expression: string, type = 'BIGINT'): RestatedCase => ({
  of: 'DeltaInsertIntoColumnOrderSuite: column defaults',
  title: `a default of ${expression}${type === 'BIGINT' ? '' : ` for ${type}`}`,
  steps: [
    `CREATE TABLE {t} (id BIGINT, v ${type} DEFAULT ${expression}) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')`,
    "CREATE TABLE {s} (id BIGINT, v STRING) USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
    `ALTER TABLE {s} ALTER COLUMN id SET DEFAULT ${expression}`,
  ],
});

export const storedExpressions: RestatedSuite = {
  name: 'stored-expressions',
  format: 'delta',
  cases: [
    generated('id + 1'),
    generated('rand()'),
    generated('cast(rand() AS BIGINT)'),
    generated('current_timestamp()', undefined, 'TIMESTAMP'),
    generated('current_date()', undefined, 'DATE'),
    generated('g + 1', 'refer to a generated column'),
    generated('nope + 1', 'refer to a non-existent column'),
    generated("'abc'", 'column type does not match expression type'),
    generated('id > 10', 'column type does not match expression type'),
    generated('cast(id AS INT)', 'column type does not match expression type'),
    generated('s', 'column type does not match expression type'),
    {
      of: 'GeneratedColumnSuite: validateGeneratedColumns: generated columns should not refer to other generated columns',
      title: 'a column generated from a generated one',
      steps: ['CREATE TABLE {t} (id BIGINT, a BIGINT GENERATED ALWAYS AS (id + 1), b BIGINT GENERATED ALWAYS AS (a + 1)) USING delta'],
    },
    checked('id > 0'),
    checked('nope > 1'),
    checked('rand() > 0.5'),
    checked('sum(id) > 1'),
    checked('id + 1'),
    checked('s'),
    checked('current_date() > s'),
    checked('CAST(NULL AS BOOLEAN)'),
    defaulted('3'),
    defaulted('nope'),
    defaulted('rand()'),
    defaulted('sum(1)'),
    defaulted("'abc'"),
    defaulted("'7'"),
    defaulted('current_timestamp()', 'TIMESTAMP'),
    defaulted('1 > 0'),
    defaulted('1.5'),
    defaulted('NULL'),
    defaulted("CAST('2020-01-01' AS DATE)", 'DATE'),
    defaulted('9223372036854775808'),
    defaulted('300', 'TINYINT'),
    defaulted('id + 1'),
  ],
};
