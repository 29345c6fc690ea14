import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { MergeClause, MergeRequest, RowOperationResult } from '../../../../src/table/row-operations.ts';
import { LocalTables } from '../../../support/local-tables.ts';

let tables: LocalTables;
let made = 0;
beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(() => tables.close());

const columns = 'k INT, v STRING, n BIGINT';
const rows = "SELECT * FROM (VALUES (1, 'a', 10), (2, 'b', 20), (4, 'd', 40), (NULL, 'n', 50)) t(k, v, n)";

async function filled(options: { readonly columns?: string; readonly rows?: string; readonly properties?: Record<string, string> } = {}) {
  made += 1;
  const table = await tables.create(`t${made}`, options.columns ?? columns, { properties: options.properties ?? {} });
  await tables.append(table, options.rows ?? rows);
  return table;
}

async function merge(
  table: DeltaTable,
  source: string,
  clauses: readonly MergeClause[],
  options: Partial<Pick<MergeRequest, 'schemaEvolution'>> & { readonly on?: string } = {},
): Promise<RowOperationResult> {
  const { on, ...rest } = options;
  return table.operations.merge({
    source: await tables.query(source),
    targetAlias: 't',
    sourceAlias: 's',
    condition: parseExpression(on ?? 't.k = s.k'),
    clauses,
    ...rest,
  });
}

const values = (...given: readonly string[]): string => `SELECT * FROM (VALUES ${given.join(', ')}) s(k, v, n)`;
const updateAll: MergeClause = { on: 'matched', action: 'update', assignments: 'all' };
const insertAll: MergeClause = { on: 'not-matched', action: 'insert', values: 'all' };
const deleteMatched: MergeClause = { on: 'matched', action: 'delete' };
const set = (column: string, value: string) => ({ target: column.split('.'), value: parseExpression(value) });

describe('which rows a clause concerns', () => {
  it('null keys match nothing and are inserted', async () => {
    const table = await filled();
    const result = await merge(table, values("(CAST(NULL AS INTEGER), 'x', 1)", "(2, 'y', 2)"), [updateAll, insertAll]);
    expect(result).toMatchObject({ updatedRows: 1n, insertedRows: 1n });
    expect(await tables.rows(table)).toContain('{"k":null,"v":"x","n":1}');
  });

  it('the first clause whose condition holds decides', async () => {
    const table = await filled();
    const clauses: MergeClause[] = [
      { on: 'matched', action: 'update', condition: parseExpression("s.v = 'bb'"), assignments: [set('v', "'first'")] },
      { on: 'matched', action: 'delete', condition: parseExpression('t.k = 4') },
      { on: 'matched', action: 'update', assignments: [set('v', "'last'")] },
      insertAll,
    ];
    await merge(table, values("(2, 'bb', 0)", "(4, 'dd', 0)", "(1, 'x', 0)", "(9, 'nn', 0)"), clauses);
    expect(await tables.rows(table)).toEqual([
      '{"k":1,"v":"last","n":10}',
      '{"k":2,"v":"first","n":20}',
      '{"k":9,"v":"nn","n":0}',
      '{"k":null,"v":"n","n":50}',
    ]);
  });

  it('several source rows for one row are refused, and nothing is left behind', async () => {
    const table = await filled();
    const before = await tables.rows(table);
    await expect(merge(table, values("(1, 'p', 0)", "(1, 'q', 0)"), [updateAll])).rejects.toMatchObject({
      errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE',
      sqlState: '21506',
    });
    expect(await tables.rows(table)).toEqual(before);
  });

  // Delta counts the rows that the condition of the MERGE joins, before those of its clauses (ClassicMergeExecutor.findTouchedFiles).
  it('several source rows of which one passes a condition are refused too', async () => {
    const table = await filled();
    const before = await tables.rows(table);
    const clause: MergeClause = { ...updateAll, condition: parseExpression("s.v = 'q'") };
    await expect(merge(table, values("(1, 'p', 0)", "(1, 'q', 0)"), [clause])).rejects.toMatchObject({
      errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE',
    });
    expect(await tables.rows(table)).toEqual(before);
  });

  it('a single unconditional delete takes a row that several source rows match, once', async () => {
    const table = await filled();
    expect(await merge(table, values("(1, 'p', 0)", "(1, 'q', 0)"), [deleteMatched])).toMatchObject({ affectedRows: 1n, deletedRows: 1n });
  });

  it('conditions that are no equality join every pair', async () => {
    const table = await filled();
    const clause: MergeClause = { on: 'matched', action: 'update', assignments: [set('n', 't.n + s.n')] };
    await merge(table, values("(2, 'p', 7)"), [clause], { on: 't.k > s.k' });
    expect(await tables.rows(table)).toContain('{"k":4,"v":"d","n":47}');
  });
});

describe('what is written', () => {
  it('only files with a concerned row', async () => {
    const table = await filled();
    await tables.append(table, values("(100, 'far', 0)"));
    const paths = async (): Promise<readonly string[]> => [...(await table.refresh()).files()].map((file) => file.path);
    const before = await paths();
    await merge(table, values("(2, 'y', 2)", "(100, 'near', 0)"), [{ ...updateAll, condition: parseExpression('t.k < 50') }]);
    const after = await paths();
    expect(after).toHaveLength(2);
    expect(after.filter((path) => before.includes(path))).toHaveLength(1);
  });

  it('an insert-only merge adds a file and removes none, duplicates of the source included', async () => {
    const table = await filled({ properties: { 'delta.enableChangeDataFeed': 'true' } });
    const result = await merge(table, values("(1, 'seen', 0)", "(7, 'x', 0)", "(7, 'y', 0)"), [insertAll]);
    expect(result).toMatchObject({ affectedRows: 2n, insertedRows: 2n });
    const [entry] = await table.history({ limit: 1 });
    expect(entry?.operationMetrics).toMatchObject({ numTargetFilesAdded: '1', numTargetFilesRemoved: '0', numTargetChangeFilesAdded: '0' });
  });

  it('rows that no source row matches, when a clause asks', async () => {
    const table = await filled();
    const result = await merge(table, values("(1, 'p', 0)"), [
      { on: 'not-matched-by-source', action: 'delete', condition: parseExpression('k = 2') },
      { on: 'not-matched-by-source', action: 'update', assignments: [set('v', "concat(v, '!')")] },
    ]);
    expect(result).toMatchObject({ updatedRows: 2n, deletedRows: 1n });
    expect(await tables.rows(table)).toEqual(['{"k":1,"v":"a","n":10}', '{"k":4,"v":"d!","n":40}', '{"k":null,"v":"n!","n":50}']);
  });

  it('columns an insertion leaves out are null, their default, or generated', async () => {
    const table = await filled({
      columns: "k INT, v STRING DEFAULT 'dflt', n BIGINT, g BIGINT GENERATED ALWAYS AS (CAST(k * 2 AS BIGINT))",
      rows: "SELECT 1 AS k, 'a' AS v, 1 AS n",
      properties: { 'delta.feature.allowColumnDefaults': 'supported' },
    });
    const insert: MergeClause = { on: 'not-matched', action: 'insert', values: [set('k', 's.k')] };
    await merge(table, values("(8, 'x', 0)"), [insert]);
    expect(await tables.rows(table)).toEqual(['{"k":1,"v":"a","n":1,"g":2}', '{"k":8,"v":"dflt","n":null,"g":16}']);
  });

  it('generated columns follow the columns they are made of', async () => {
    const table = await filled({
      columns: 'k INT, v STRING, n BIGINT, g BIGINT GENERATED ALWAYS AS (n * 2)',
      rows: "SELECT 1 AS k, 'a' AS v, 1 AS n",
    });
    await merge(table, values("(1, 'x', 21)"), [{ on: 'matched', action: 'update', assignments: [set('n', 's.n')] }]);
    expect(await tables.rows(table)).toEqual(['{"k":1,"v":"a","n":21,"g":42}']);
  });
});

describe('schema evolution', () => {
  const wider = "SELECT 1 AS k, 'new' AS v, 1.5::DOUBLE AS extra UNION ALL SELECT 9, 'ins', 2.5";

  it('adds the columns that * brings, at the end, in the version of the rows', async () => {
    const table = await filled();
    const before = await table.refresh();
    await merge(table, wider, [updateAll, insertAll], { schemaEvolution: true });
    const after = await table.refresh();
    expect(after.version).toBe(before.version + 1);
    expect(after.schema.fields.map((field) => field.name)).toEqual(['k', 'v', 'n', 'extra']);
    expect(await tables.rows(table)).toEqual([
      '{"k":1,"v":"new","n":10,"extra":1.5}',
      '{"k":2,"v":"b","n":20,"extra":null}',
      '{"k":4,"v":"d","n":40,"extra":null}',
      '{"k":9,"v":"ins","n":null,"extra":2.5}',
      '{"k":null,"v":"n","n":50,"extra":null}',
    ]);
  });

  it('without it columns that the table lacks are ignored, and columns that the source lacks are errors', async () => {
    const table = await filled();
    await expect(merge(table, wider, [updateAll])).rejects.toMatchObject({
      errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION',
      message: 'Cannot resolve n in UPDATE clause given columns s.k, s.v, s.extra.',
    });
    await merge(table, "SELECT 1 AS K, 'new' AS v, 5 AS n, 6 AS extra", [updateAll]);
    expect(await tables.rows(table)).toContain('{"k":1,"v":"new","n":5}');
  });

  it('adds members of structs', async () => {
    const table = await filled({ columns: 'k INT, s STRUCT<a: INT>', rows: "SELECT 1 AS k, {'a': 1} AS s UNION ALL SELECT 2, {'a': 2}" });
    await merge(table, "SELECT 1 AS k, {'a': 7, 'b': 'x'} AS s", [updateAll], { schemaEvolution: true });
    expect(await tables.rows(table)).toEqual(['{"k":1,"s":{"a":7,"b":"x"}}', '{"k":2,"s":{"a":2,"b":null}}']);
  });
});

describe('what is refused', () => {
  it.each<[string, readonly MergeClause[], string | undefined, object]>([
    ['no clause', [], undefined, { errorClass: 'DELTA_MERGE_MISSING_WHEN', sqlState: '42601' }],
    [
      'a clause behind an unconditional one',
      [deleteMatched, updateAll],
      undefined,
      { errorClass: 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION' },
    ],
    [
      'an insertion behind an unconditional one',
      [insertAll, insertAll],
      undefined,
      { errorClass: 'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION' },
    ],
    [
      'an unknown column in the condition',
      [deleteMatched],
      't.k = s.nope',
      {
        errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION',
        message: 'Cannot resolve s.nope in search condition given columns t.k, t.v, t.n, s.k, s.v, s.n.',
      },
    ],
    [
      'an unknown column to set',
      [{ on: 'matched', action: 'update', assignments: [set('nope', '1')] }],
      undefined,
      { errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION' },
    ],
    [
      'the table in an insertion',
      [{ on: 'not-matched', action: 'insert', values: [set('k', 't.k')] }],
      undefined,
      { errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION' },
    ],
    [
      'a column inserted twice',
      [{ on: 'not-matched', action: 'insert', values: [set('k', '1'), set('K', '2')] }],
      undefined,
      { errorClass: 'DELTA_DUPLICATE_COLUMNS_ON_INSERT' },
    ],
    [
      'a column set twice',
      [{ on: 'matched', action: 'update', assignments: [set('v', '1'), set('V', '2')] }],
      undefined,
      { errorClass: 'DELTA_CONFLICT_SET_COLUMN' },
    ],
    [
      'a random condition',
      [deleteMatched],
      't.k = s.k AND rand() > 0.5',
      { errorClass: 'DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED', sqlState: '0AKDC' },
    ],
    ['a column of both sides without saying which', [deleteMatched], 'k = 1', { errorClass: 'AMBIGUOUS_REFERENCE', sqlState: '42704' }],
    [
      'a condition that is no condition',
      [deleteMatched],
      't.k + s.k',
      { errorClass: 'JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE', sqlState: '42K0E' },
    ],
    [
      'a value out of range',
      [{ on: 'matched', action: 'update', assignments: [set('k', 's.n')] }],
      't.k + 1 = s.k',
      { errorClass: 'DELTA_CAST_OVERFLOW_IN_TABLE_WRITE', sqlState: '22003' },
    ],
    [
      'text that is no number',
      [{ on: 'matched', action: 'update', assignments: [set('n', 's.v')] }],
      't.k + 1 = s.k',
      { errorClass: 'CAST_INVALID_INPUT', sqlState: '22018' },
    ],
  ])('%s', async (_, clauses, on, error) => {
    const table = await filled();
    const before = await tables.rows(table);
    await expect(merge(table, values("(2, 'y', 3000000000)"), clauses, on === undefined ? {} : { on })).rejects.toMatchObject(error);
    expect(await tables.rows(table)).toEqual(before);
    expect((await table.refresh()).version).toBe(1);
  });

  it('a row that breaks a constraint, and its files are gone', async () => {
    const table = await filled({ columns: 'k INT NOT NULL, v STRING', rows: "SELECT 1 AS k, 'a' AS v" });
    const clause: MergeClause = { on: 'matched', action: 'update', assignments: [set('k', 'NULL')] };
    await expect(merge(table, values("(1, 'y', 2)"), [clause])).rejects.toMatchObject({ errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED' });
    expect([...(await table.refresh()).files()]).toHaveLength(1);
  });
});
