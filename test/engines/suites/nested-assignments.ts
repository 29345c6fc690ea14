import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * Values of structs set by UPDATE and MERGE. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0): its
 * `UpdateSuiteBase`, `MergeIntoSuiteBase` and `MergeIntoSchemaEvolutionSuite`, for Iceberg too, whose `TestUpdate` and `TestMerge` look at fewer.
 */

const struct = 'x STRUCT<a: INT, b: INT>';
const twoLevels = 'x STRUCT<a: STRUCT<c: INT, d: INT>, b: INT>';
const list = 'x ARRAY<STRUCT<a: INT, b: INT>>';
const map = 'x MAP<STRING, STRUCT<a: INT, b: INT>>';

const ofStruct = "named_struct('a', 1, 'b', 2)";
const ofTwoLevels = "named_struct('a', named_struct('c', 1, 'd', 2), 'b', 3)";
const ofList = `array(${ofStruct})`;
const ofMap = `map('k', ${ofStruct})`;

interface Set {
  readonly title: string;
  readonly column?: string;
  readonly holds?: string;
  /** Each is executed, and the table read after them all. */
  readonly sets: readonly string[];
}

const inStructs: readonly Set[] = [
  { title: 'members of a struct are set', sets: ['x.a = 5', "x.b = '7'", 'x.a = NULL', 'x.c = 5'] },
  { title: 'a struct without one of the members', sets: ["x = named_struct('a', 5)"] },
  { title: 'a struct with a member of another name', sets: ["x = named_struct('a', 5, 'c', 6)"] },
  { title: 'a struct with a member more', sets: ["x = named_struct('a', 5, 'b', 6, 'c', 7)"] },
  { title: 'a struct in another order of members', sets: ["x = named_struct('b', 5, 'a', 6)"] },
  { title: 'a struct whose members are spelled otherwise', sets: ["x = named_struct('A', 5, 'B', 6)"] },
  { title: 'a struct without names', sets: ['x = struct(5, 6)'] },
  { title: 'a struct of constants and columns', sets: ['x = struct(id AS a, x.b + 1 AS b)'] },
  { title: 'a struct that is null', sets: ['x = NULL', 'x.a = 4'] },
  { title: 'a struct whose members are null', sets: ["x = named_struct('a', NULL, 'b', NULL)"] },
  { title: 'a struct with members of other types', sets: ["x = named_struct('a', '5', 'b', CAST(6 AS BIGINT))"] },
  { title: 'a struct with text that is no number', sets: ["x = named_struct('a', 'five', 'b', 6)"] },
  { title: 'a struct with a number out of range', sets: ["x = named_struct('a', 3000000000, 'b', 6)"] },
  { title: 'what is no struct', sets: ['x = 5', 'x = array(1, 2)', "x = 'text'"] },
  { title: 'a column and its member', sets: ["x.a = 1, x = named_struct('a', 5, 'b', 6)", 'x.a = 1, x.a = 2', 'x.a = 1, x.A = 2'] },
  { title: 'two members of a struct from each other', sets: ['x.a = x.b, x.b = x.a'] },
];

const nested: readonly Set[] = [
  { title: 'a member of a struct in a struct', column: twoLevels, holds: ofTwoLevels, sets: ['x.a.c = 5', 'x.b = x.a.d'] },
  { title: 'a struct in a struct lacks a member', column: twoLevels, holds: ofTwoLevels, sets: ["x.a = named_struct('c', 5)"] },
  { title: 'a struct in a struct is reordered', column: twoLevels, holds: ofTwoLevels, sets: ["x.a = named_struct('d', 5, 'c', 6)"] },
  {
    title: 'a struct with a struct that lacks a member',
    column: twoLevels,
    holds: ofTwoLevels,
    sets: ["x = named_struct('a', named_struct('c', 5), 'b', 6)"],
  },
  {
    title: 'a struct with a struct that has a member more',
    column: twoLevels,
    holds: ofTwoLevels,
    sets: ["x = named_struct('a', named_struct('c', 5, 'd', 6, 'e', 7), 'b', 6)"],
  },
  {
    title: 'a struct with a null struct',
    column: twoLevels,
    holds: ofTwoLevels,
    sets: ["x = named_struct('a', NULL, 'b', 6)", 'x.a.c = 1'],
  },
  { title: 'a list of structs that lack a member', column: list, holds: ofList, sets: ["x = array(named_struct('a', 5))"] },
  {
    title: 'a list of structs with a member more',
    column: list,
    holds: ofList,
    sets: ["x = array(named_struct('a', 5, 'b', 6, 'c', 7))"],
  },
  {
    title: 'a list of structs in another order of members',
    column: list,
    holds: ofList,
    sets: ["x = array(named_struct('b', 5, 'a', 6))"],
  },
  { title: 'a list of structs without names', column: list, holds: ofList, sets: ['x = array(struct(5, 6))'] },
  {
    title: 'a list of structs with members of other types',
    column: list,
    holds: ofList,
    sets: ["x = array(named_struct('a', '5', 'b', CAST(6 AS BIGINT)), NULL)"],
  },
  { title: 'an empty list', column: list, holds: ofList, sets: ['x = array()'] },
  { title: 'a member of structs in a list', column: list, holds: ofList, sets: ['x.a = 5', 'x.element.a = 5'] },
  { title: 'a map of structs that lack a member', column: map, holds: ofMap, sets: ["x = map('k', named_struct('a', 5))"] },
  {
    title: 'a map of structs with a member more',
    column: map,
    holds: ofMap,
    sets: ["x = map('k', named_struct('a', 5, 'b', 6, 'c', 7))"],
  },
  {
    title: 'a map of structs in another order of members',
    column: map,
    holds: ofMap,
    sets: ["x = map('k', named_struct('b', '5', 'a', 6))"],
  },
  { title: 'an entry of a map', column: map, holds: ofMap, sets: ['x.k = NULL'] },
];

function updated({ title, column = struct, holds = ofStruct, sets }: Set, format: string): RestatedCase {
  return {
    of: 'UpdateSuiteBase: nested data support',
    title: `UPDATE: ${title}`,
    steps: [
      `CREATE TABLE {t} (id INT, ${column}) USING ${format}`,
      `INSERT INTO {t} SELECT 1, ${holds}`,
      ...sets.map((set) => `UPDATE {t} SET ${set}`),
      'SELECT * FROM {t}',
    ],
  };
}

interface Merge {
  readonly title: string;
  readonly column?: string;
  readonly holds?: string;
  /** What the source has as `x`, for the rows 1 and 2. */
  readonly source: string;
}

const merges: readonly Merge[] = [
  { title: 'structs that lack a member', source: "named_struct('a', 10)" },
  { title: 'structs with a member more', source: "named_struct('a', 10, 'b', 20, 'c', 30)" },
  { title: 'structs with another member', source: "named_struct('a', 10, 'c', 30)" },
  { title: 'structs in another order of members', source: "named_struct('b', 20, 'a', '10')" },
  {
    title: 'structs in structs that lack a member',
    column: twoLevels,
    holds: ofTwoLevels,
    source: "named_struct('a', named_struct('d', 20))",
  },
  {
    title: 'structs in structs with a member more',
    column: twoLevels,
    holds: ofTwoLevels,
    source: "named_struct('a', named_struct('d', 20, 'e', 30), 'b', 40)",
  },
  { title: 'null structs that lack a member', source: "IF(id > 0, NULL, named_struct('a', 10))" },
  { title: 'lists of structs that lack a member', column: list, holds: ofList, source: "array(named_struct('a', 10))" },
  { title: 'lists of structs with a member more', column: list, holds: ofList, source: "array(named_struct('c', 30, 'a', 10, 'b', 20))" },
  { title: 'lists of structs in another order', column: list, holds: ofList, source: "array(named_struct('b', 20, 'a', 10))" },
  { title: 'maps of structs that lack a member', column: map, holds: ofMap, source: "map('k', named_struct('a', 10))" },
  { title: 'maps of structs with a member more', column: map, holds: ofMap, source: "map('k', named_struct('a', 10, 'b', 20, 'c', 30))" },
];

const clauses = {
  'UPDATE SET *': 'WHEN MATCHED THEN UPDATE SET *',
  'INSERT *': 'WHEN NOT MATCHED THEN INSERT *',
  'UPDATE SET x': 'WHEN MATCHED THEN UPDATE SET x = s.x',
  'INSERT (id, x)': 'WHEN NOT MATCHED THEN INSERT (id, x) VALUES (s.id, s.x)',
} as const;

function merged({ title, column = struct, holds = ofStruct, source }: Merge, format: string, evolving: boolean): RestatedCase[] {
  return Object.entries(clauses).map(([name, clause]) => ({
    of: 'MergeIntoSchemaEvolutionSuite: nested structs',
    title: `MERGE ${name}: ${title}${evolving ? ', schema evolution' : ''}`,
    steps: [
      `CREATE TABLE {t} (id INT, ${column}) USING ${format}`,
      `INSERT INTO {t} SELECT 1, ${holds}`,
      `MERGE ${evolving ? 'WITH SCHEMA EVOLUTION ' : ''}INTO {t} t USING (SELECT id, ${source} AS x FROM VALUES (1), (2) AS v(id)) s ON t.id = s.id ${clause}`,
      'SELECT * FROM {t}',
    ],
  }));
}

const evolution = (format: string): readonly RestatedCase[] => [
  {
    of: 'MergeIntoSchemaEvolutionSuite: new column with update set',
    title: 'a column of the source alone is assigned',
    steps: [
      `CREATE TABLE {t} (id INT, v INT) USING ${format}`,
      'INSERT INTO {t} VALUES (0, 0), (1, 10)',
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, 2 AS v, 'e' AS extra, 'u' AS unused) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v, extra = s.extra",
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'MergeIntoSchemaEvolutionSuite: new nested source field added when updating top-level column',
    title: 'a member of the source alone is assigned',
    steps: [
      `CREATE TABLE {t} (id INT, ${struct}) USING ${format}`,
      `INSERT INTO {t} SELECT 1, ${ofStruct}`,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, named_struct('a', 5, 'c', 7) AS x) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET x.c = s.x.c",
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'MergeIntoSchemaEvolutionSuite: existing column missing in source',
    title: 'columns that the source lacks keep their values',
    steps: [
      `CREATE TABLE {t} (id INT, v INT, ${struct}) USING ${format}`,
      `INSERT INTO {t} SELECT 1, 9, ${ofStruct}`,
      'MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT id, id + 1 AS v FROM VALUES (1), (2) AS s(id)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *',
      'SELECT * FROM {t}',
    ],
  },
  {
    of: 'MergeIntoSchemaEvolutionSuite: type mismatch in nested struct',
    title: 'a member of another type is cast while a new one is added',
    steps: [
      `CREATE TABLE {t} (id INT, ${struct}) USING ${format}`,
      `INSERT INTO {t} SELECT 1, ${ofStruct}`,
      "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1 AS id, named_struct('a', '11', 'b', 2.5D, 'c', 'new') AS x) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
      'SELECT * FROM {t}',
    ],
  },
];

const memberMerged = (format: string): RestatedCase => ({
  of: 'MergeIntoSuiteBase: nested data support',
  title: 'a member of a struct is set by MERGE',
  steps: [
    `CREATE TABLE {t} (id INT, ${struct}) USING ${format}`,
    `INSERT INTO {t} SELECT 1, ${ofStruct}`,
    "MERGE INTO {t} t USING (SELECT 1 AS id, named_struct('a', 5) AS x) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET x.a = s.x.a",
    'SELECT * FROM {t}',
    'MERGE INTO {t} t USING (SELECT 1 AS id, 8 AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.x.b = s.v, x.a = NULL',
    'SELECT * FROM {t}',
  ],
});

const casesOf = (format: 'delta' | 'iceberg'): readonly RestatedCase[] => [
  ...[...inStructs, ...nested].map((set) => updated(set, format)),
  ...merges.flatMap((merge) => merged(merge, format, false)),
  // MERGE adds no columns to Iceberg tables here: refused by name.
  ...(format === 'delta' ? [...merges.flatMap((merge) => merged(merge, format, true)), ...evolution(format)] : []),
  memberMerged(format),
];

export const nestedAssignments: RestatedSuite = { name: 'nested-assignments', format: 'delta', cases: casesOf('delta') };

export const nestedAssignmentsIceberg: RestatedSuite = { name: 'nested-assignments-iceberg', format: 'iceberg', cases: casesOf('iceberg') };
