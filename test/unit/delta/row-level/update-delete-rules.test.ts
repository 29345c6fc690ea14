import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AddFile } from '../../../../src/delta/actions.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { Assignment } from '../../../../src/table/row-operations.ts';
import { LocalTables } from '../../../support/local-tables.ts';

let tables: LocalTables;
let made = 0;
beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(() => tables.close());

interface Given {
  readonly columns?: string;
  readonly rows?: string;
  readonly partitionBy?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

async function filled({ columns, rows, partitionBy, properties }: Given = {}): Promise<DeltaTable> {
  made += 1;
  const definition = { partitionBy: partitionBy ?? [], properties: properties ?? {} };
  const table = await tables.create(`t${made}`, columns ?? 'id INT, v STRING, s STRUCT<a: INT, b: STRING>', definition);
  await tables.append(table, rows ?? "SELECT 1 AS id, 'a' AS v, {'a': 1, 'b': 'x'} AS s UNION ALL SELECT 2, 'b', NULL");
  return table;
}

const set = (column: string, value: string): Assignment => ({ target: column.split('.'), value: parseExpression(value) });
const where = (text: string) => ({ condition: parseExpression(text) });
const vectors = { 'delta.enableDeletionVectors': 'true' };

async function filesOf(table: DeltaTable): Promise<readonly AddFile[]> {
  return [...(await table.refresh()).files()];
}

describe('an update', () => {
  it('changes a member of a struct and keeps the others, ignoring case', async () => {
    const table = await filled();
    await table.operations.update({ ...where('ID = 1'), assignments: [set('S.A', '9')] });
    expect(await tables.rows(table)).toEqual(['{"id":1,"v":"a","s":{"a":9,"b":"x"}}', '{"id":2,"v":"b","s":null}']);
  });

  it('may qualify columns by the alias, and give a column its default', async () => {
    const table = await filled({
      columns: "id INT, v STRING DEFAULT 'dflt'",
      rows: "SELECT 1 AS id, 'a' AS v",
      properties: { 'delta.feature.allowColumnDefaults': 'supported' },
    });
    await table.operations.update({ ...where('t.id = 1'), assignments: [set('t.v', 'default')], alias: 't' });
    expect(await tables.rows(table)).toEqual(['{"id":1,"v":"dflt"}']);
  });

  it('sees the row as it was in all its values', async () => {
    const table = await filled({ columns: 'a INT, b INT', rows: 'SELECT 1 AS a, 2 AS b' });
    await table.operations.update({ assignments: [set('a', 'b'), set('b', 'a')] });
    expect(await tables.rows(table)).toEqual(['{"a":2,"b":1}']);
  });

  it('moves rows to other partitions', async () => {
    const table = await filled({
      columns: 'id INT, p STRING',
      rows: "SELECT 1 AS id, 'x' AS p UNION ALL SELECT 2, 'x'",
      partitionBy: ['p'],
    });
    await table.operations.update({ ...where('id = 1'), assignments: [set('p', "'y'")] });
    expect((await filesOf(table)).map((file) => file.partitionValues['p']).toSorted()).toEqual(['x', 'y']);
    expect(await tables.rows(table)).toEqual(['{"id":1,"p":"y"}', '{"id":2,"p":"x"}']);
  });

  it('converts values as an insertion does', async () => {
    const table = await filled();
    await table.operations.update({ ...where('id = 1'), assignments: [set('id', "'77'"), set('v', '5')] });
    expect(await tables.rows(table)).toContain('{"id":77,"v":"5","s":{"a":1,"b":"x"}}');
  });

  it('checks values only in rows it changes', async () => {
    const table = await filled({ columns: 'id INT, v STRING', rows: "SELECT 1 AS id, '10' AS v UNION ALL SELECT 2, 'text'" });
    await table.operations.update({ ...where('id = 1'), assignments: [set('id', 'v')] });
    expect(await tables.rows(table)).toEqual(['{"id":10,"v":"10"}', '{"id":2,"v":"text"}']);
  });

  it.each<[string, readonly Assignment[], string, object]>([
    [
      'an unknown column',
      [set('nope', '1')],
      'true',
      {
        errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
        sqlState: '42703',
      },
    ],
    [
      'an unknown member',
      [set('s.zz', '9')],
      'true',
      {
        errorClass: 'FIELD_NOT_FOUND',
        message: 'No such struct field `zz` in `a`, `b`.',
      },
    ],
    ['a member of what is no struct', [set('v.a', '9')], 'true', { errorClass: 'INVALID_EXTRACT_BASE_FIELD_TYPE', sqlState: '42000' }],
    [
      'a struct and its member',
      [set('s.a', '3'), set('s', 'null')],
      'true',
      {
        errorClass: 'DELTA_CONFLICT_SET_COLUMN',
        message: 'There is a conflict from these SET columns: [`s.a`, `s`].',
      },
    ],
    ['a random condition', [set('v', "'z'")], 'rand() > 0.5', { errorClass: 'INVALID_NON_DETERMINISTIC_EXPRESSIONS', sqlState: '42K0E' }],
    ['a random value', [set('v', 'rand()')], 'true', { errorClass: 'INVALID_NON_DETERMINISTIC_EXPRESSIONS' }],
    ['text that is no number', [set('id', "'abc'")], 'true', { errorClass: 'CAST_INVALID_INPUT', sqlState: '22018' }],
    ['a number out of range', [set('id', '3000000000')], 'id = 2', { errorClass: 'DELTA_CAST_OVERFLOW_IN_TABLE_WRITE', sqlState: '22003' }],
    [
      'a condition that is text',
      [set('v', "'z'")],
      'v',
      {
        errorClass: 'DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN',
        message: 'Cannot resolve "v" due to data type mismatch: Filter expression "v" of type "STRING" is not a boolean.',
      },
    ],
  ])('refuses %s and leaves the table as it was', async (_, assignments, condition, error) => {
    const table = await filled();
    await expect(table.operations.update({ ...where(condition), assignments })).rejects.toMatchObject(error);
    expect((await table.refresh()).version).toBe(1);
  });

  it('refuses a row that breaks a constraint', async () => {
    const table = await filled({ columns: 'id INT NOT NULL', rows: 'SELECT 1 AS id' });
    await expect(table.operations.update({ assignments: [set('id', 'null')] })).rejects.toMatchObject({
      errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
    });
  });
});

describe('a deletion', () => {
  it('by partition reads no file', async () => {
    const rows = "SELECT i::INT AS id, DATE '2024-01-01' + (i % 3)::INT AS d FROM range(30) r(i)";
    const table = await filled({ columns: 'id INT, d DATE', rows, partitionBy: ['d'] });
    const result = await table.operations.delete(where("d >= DATE '2024-01-02' and year(d) = 2024"));
    expect(result).toMatchObject({ deletedRows: 20n });
    const [entry] = await table.history({ limit: 1 });
    expect(entry?.operationMetrics).toMatchObject({ numRemovedFiles: '2', numAddedFiles: '0', numCopiedRows: '0', numDeletedRows: '20' });
  });

  it('without a condition takes all rows', async () => {
    const table = await filled();
    expect(await table.operations.delete({})).toMatchObject({ version: 2, deletedRows: 2n });
    const [entry] = await table.history({ limit: 1 });
    expect(entry?.operationParameters).toEqual({ predicate: '["true"]' });
    expect(await tables.rows(table)).toEqual([]);
  });

  it('whose condition is null takes no row', async () => {
    const table = await filled();
    expect(await table.operations.delete(where('s.a = 5 or null'))).toMatchObject({ version: undefined });
  });

  it('leaves a file without touched rows alone', async () => {
    const table = await filled();
    await tables.append(table, "SELECT 3 AS id, 'c' AS v, NULL AS s");
    const before = (await filesOf(table)).map((file) => file.path);
    await table.operations.delete(where("concat(v, '') = 'a'"));
    const after = (await filesOf(table)).map((file) => file.path);
    expect(after.filter((path) => before.includes(path))).toHaveLength(1);
  });

  it('is refused on a table that only takes appends', async () => {
    const table = await filled({ properties: { 'delta.appendOnly': 'true' } });
    const error = { errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY', sqlState: '42809' };
    await expect(table.operations.delete({})).rejects.toMatchObject(error);
    await expect(table.operations.update({ assignments: [set('v', 'null')] })).rejects.toMatchObject(error);
  });

  it('happens once for one mark of its application', async () => {
    const table = await filled();
    const idempotency = { appId: 'job', version: 7n };
    expect(await table.operations.delete({ ...where('id = 1'), idempotency })).toMatchObject({ deletedRows: 1n });
    expect(await table.operations.delete({ ...where('id = 2'), idempotency })).toMatchObject({ version: undefined, deletedRows: 0n });
    expect((await table.refresh()).progressOf('job')).toBe(7n);
  });
});

describe('with deletion vectors', () => {
  const hundred = 'SELECT i::INT AS id FROM range(100) r(i)';

  it('deletions add up in one vector, and a file without rows ends', async () => {
    const table = await filled({ columns: 'id INT', rows: hundred, properties: vectors });
    const [file] = await filesOf(table);
    await table.operations.delete(where('id % 7 = 0'));
    await table.operations.delete(where('id between 10 and 20'));
    const [marked] = await filesOf(table);
    expect(marked).toMatchObject({ path: file?.path, deletionVector: { cardinality: 25 } });
    expect(marked?.stats).toContain('"tightBounds":false');
    expect(marked?.stats).toContain('"numRecords":100');
    const [entry] = await table.history({ limit: 1 });
    expect(entry?.operationMetrics).toMatchObject({
      numDeletedRows: '10',
      numDeletionVectorsAdded: '1',
      numDeletionVectorsRemoved: '1',
      numDeletionVectorsUpdated: '1',
      numAddedFiles: '0',
      numRemovedFiles: '0',
    });
    expect(await table.operations.delete(where('id >= 0'))).toMatchObject({ deletedRows: 75n });
    expect(await filesOf(table)).toEqual([]);
  });

  it('an update writes the updated rows alone', async () => {
    const table = await filled({ columns: 'id INT', rows: hundred, properties: vectors });
    await table.operations.update({ ...where('id < 3'), assignments: [set('id', 'id + 1000')] });
    const files = await filesOf(table);
    const described = files.map(
      (file) => `${file.deletionVector?.cardinality ?? 0} of ${/"numRecords":(\d+)/.exec(file.stats ?? '')?.[1] ?? ''}`,
    );
    expect(described.toSorted()).toEqual(['0 of 3', '3 of 100']);
    const [entry] = await table.history({ limit: 1 });
    // The file that rows were taken from counts, though it stays.
    expect(entry?.operationMetrics).toMatchObject({
      numRemovedFiles: '1',
      numAddedFiles: '1',
      numRemovedBytes: '0',
      numDeletionVectorsAdded: '1',
    });
    expect(await tables.rows(table)).toHaveLength(100);
  });
});

it('an operation that is cancelled changes nothing', async () => {
  const table = await filled({ columns: 'id INT, v STRING', rows: "SELECT 1 AS id, 'x' AS v UNION ALL SELECT 2, 'y'" });
  const abort = new AbortController();
  abort.abort();
  await expect(table.operations.delete({ ...where('id = 1'), signal: abort.signal })).rejects.toMatchObject({ kind: 'aborted' });
  expect(await tables.rows(table)).toHaveLength(2);
});

it('of two updates of one file the later is refused, and its files are gone', async () => {
  const first = await filled({ columns: 'id INT, v STRING', rows: "SELECT 1 AS id, 'x' AS v UNION ALL SELECT 2, 'y'" });
  const second = await tables.open(first.name);
  await second.refresh();
  const results = await Promise.allSettled([
    first.operations.update({ ...where('id = 1'), assignments: [set('v', "'first'")] }),
    second.operations.update({ ...where('id = 2'), assignments: [set('v', "'second'")] }),
  ]);
  const refused = results.filter((result) => result.status === 'rejected');
  // When one was done before the other began, both hold.
  for (const { reason } of refused) expect(reason).toMatchObject({ kind: 'conflict', sqlState: '2D521' });
  const rows = await tables.rows(first);
  expect(rows.filter((row) => /first|second/.test(row))).toHaveLength(2 - refused.length);
  // The appended file, and one for each update that holds.
  const onDisk = await readdir(tables.path(first.name));
  expect(onDisk.filter((name) => name.endsWith('.parquet'))).toHaveLength(3 - refused.length);
});
