import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Structs inserted by place and by name, with fewer and more members than the table's. Cases of delta-io/delta,
 * `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0): its `DeltaInsertInto…Suite`; for Iceberg too.
 */

const columns = {
  struct: 'x STRUCT<a: INT, b: INT>',
  twoLevels: 'x STRUCT<s: STRUCT<a: INT, b: INT>, c: INT>',
  list: 'x ARRAY<STRUCT<a: INT, b: INT>>',
  map: 'x MAP<STRING, STRUCT<a: INT, b: INT>>',
} as const;

interface Given {
  readonly title: string;
  readonly value: string;
  readonly column?: keyof typeof columns;
}

const given: readonly Given[] = [
  { title: 'a struct without names', value: 'struct(5, 6)' },
  { title: 'a struct without names that is too short', value: 'struct(5)' },
  { title: 'a struct without names that is too long', value: 'struct(5, 6, 7)' },
  { title: 'a struct in another order of members', value: "named_struct('b', 5, 'a', 6)" },
  { title: 'a struct without one of the members', value: "named_struct('b', 5)" },
  { title: 'a struct with a member more', value: "named_struct('c', 5, 'a', 6, 'b', 7)" },
  { title: 'a struct with other names', value: "named_struct('c', '5', 'd', 6)" },
  { title: 'a struct with text that is no number', value: "named_struct('a', 'five', 'b', 6)" },
  { title: 'a null struct', value: 'NULL' },
  { title: 'a struct in a struct without names', column: 'twoLevels', value: 'struct(struct(5, 6), 7)' },
  { title: 'a struct in a struct in another order', column: 'twoLevels', value: "named_struct('c', 5, 's', named_struct('b', 6, 'a', 7))" },
  { title: 'a struct in a struct that lacks a member', column: 'twoLevels', value: "named_struct('s', named_struct('a', 6), 'c', 7)" },
  { title: 'a list of structs without names', column: 'list', value: 'array(struct(5, 6), NULL)' },
  { title: 'a list of structs in another order', column: 'list', value: "array(named_struct('b', 5, 'a', 6))" },
  { title: 'a list of structs that lack a member', column: 'list', value: "array(named_struct('a', 5), NULL)" },
  { title: 'a list of structs with a member more', column: 'list', value: "array(named_struct('a', 5, 'b', 6, 'c', 7), NULL)" },
  { title: 'a map of structs without names', column: 'map', value: "map('k', struct(5, 6))" },
  { title: 'a map of structs in another order', column: 'map', value: "map('k', named_struct('b', 5, 'a', 6))" },
  { title: 'a map of structs that lack a member', column: 'map', value: "map('k', named_struct('a', 5))" },
  { title: 'what is no struct', value: '5' },
];

const ways: Readonly<Record<string, (value: string) => string>> = {
  'by place': (value) => `INSERT INTO {t} SELECT 1, ${value}`,
  'by list': (value) => `INSERT INTO {t} (x, id) SELECT ${value}, 1`,
  'by name': (value) => `INSERT INTO {t} BY NAME SELECT ${value} AS x, 1 AS id`,
  'schema evolution': (value) => `INSERT WITH SCHEMA EVOLUTION INTO {t} SELECT 1, ${value}`,
  'by name, schema evolution': (value) => `INSERT WITH SCHEMA EVOLUTION INTO {t} BY NAME SELECT ${value} AS x, 1 AS id`,
};

const autoMerge = { 'spark.databricks.delta.schema.autoMerge.enabled': 'true' };

function inserted({ title, value, column = 'struct' }: Given, format: string): readonly RestatedCase[] {
  return Object.entries(ways).map(([way, statement]) => {
    const evolving = way.includes('schema evolution');
    return {
      of: 'DeltaInsertIntoColumnOrderSuite, DeltaInsertIntoMissingColumnSuite, DeltaInsertIntoSchemaEvolutionSuite: struct fields',
      title: `INSERT ${way}: ${title}`,
      steps: [
        `CREATE TABLE {t} (id INT, ${columns[column]}) USING ${format}`,
        statement(value).replace(' WITH SCHEMA EVOLUTION', ''),
        'SELECT * FROM {t}',
      ],
      conf: evolving && format === 'delta' ? autoMerge : undefined,
    };
  });
}

const others = (format: string): readonly RestatedCase[] => [
  {
    of: 'DeltaInsertIntoTableSuite: insert nested struct literal into delta',
    title: 'VALUES with structs',
    steps: [
      `CREATE TABLE {t} (id INT, x STRUCT<a: INT, b: STRING>) USING ${format}`,
      "INSERT INTO {t} VALUES (1, struct(2, 'x')), (2, struct(3, 'y')), (3, NULL)",
      "INSERT OVERWRITE {t} VALUES (4, struct(2, 'x'))",
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'DeltaInsertIntoTableSuite: insert nested struct from view into delta',
    title: 'a struct from a view with other names',
    steps: [
      `CREATE TABLE {t} (id INT, x STRUCT<a: INT, b: STRING>) USING ${format}`,
      "CREATE TEMPORARY VIEW {v} AS SELECT 1 AS id, struct(5 AS p, 'q' AS q) AS x",
      'INSERT INTO {t} SELECT * FROM {v}',
      'INSERT INTO {t} TABLE {v}',
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'DeltaInsertIntoTableSuite: INSERT OVERWRITE schema evolution works for array struct types',
    title: 'INSERT OVERWRITE of a list of structs with a member more',
    steps: [
      `CREATE TABLE {t} (id INT, x ARRAY<STRUCT<a: INT, b: INT>>) USING ${format}`,
      'INSERT INTO {t} SELECT 1, array(struct(1, 2))',
      "INSERT OVERWRITE {t} SELECT 1, array(named_struct('a', 3, 'b', 4, 'c', 5), NULL)",
      'SELECT * FROM {t}',
    ],
    conf: format === 'delta' ? autoMerge : undefined,
  },
  {
    of: 'DeltaInsertIntoMissingColumnSuite: insert with missing top-level column',
    title: 'rows that lack a column',
    steps: [
      `CREATE TABLE {t} (id INT, v INT, x STRUCT<a: INT, b: INT>) USING ${format}`,
      'INSERT INTO {t} (id, x) VALUES (1, struct(1, 2))',
      'INSERT INTO {t} BY NAME SELECT 2 AS id',
      'INSERT INTO {t} VALUES (3, 3)',
      'INSERT INTO {t} VALUES (3, 3, struct(1, 2), 4)',
      'INSERT INTO {t} (id, v) VALUES (3, 3, 4)',
      'INSERT INTO {t} (id, id) VALUES (3, 3)',
      'INSERT INTO {t} (id, w) VALUES (3, 3)',
      'INSERT INTO {t} BY NAME SELECT 2 AS id, 3 AS w',
      'SELECT * FROM {t}',
    ],
  },
];

const casesOf = (format: 'delta' | 'iceberg'): readonly RestatedCase[] => [
  ...given.flatMap((each) => inserted(each, format).filter(({ title }) => format === 'delta' || !title.includes('schema evolution'))),
  ...others(format),
];

export const structInserts: RestatedSuite = { name: 'struct-inserts', format: 'delta', cases: casesOf('delta') };

export const structInsertsIceberg: RestatedSuite = { name: 'struct-inserts-iceberg', format: 'iceberg', cases: casesOf('iceberg') };
