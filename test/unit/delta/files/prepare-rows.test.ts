import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printActions } from '../../../../src/delta/action-json.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { Field } from '../../../../src/schema/types.ts';
import type { Relation } from '../../../../src/table/relation.ts';
import type { WriteRequest, WriteResult } from '../../../../src/table/row-operations.ts';
import { LocalTables } from '../../../support/local-tables.ts';

let tables: LocalTables;
let made = 0;

beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(async () => {
  await tables.close();
});

function create(columns: string, options: Parameters<LocalTables['create']>[2] = {}): Promise<DeltaTable> {
  made += 1;
  return tables.create(`t${made}`, columns, options);
}

/** As INSERT does: by place, values cast. */
function insert(table: DeltaTable, values: string, request: Partial<WriteRequest> = {}): Promise<WriteResult> {
  return write(table, `SELECT * FROM (VALUES ${values})`, { storeAssignment: true, matchBy: 'position', ...request });
}

async function write(table: DeltaTable, sql: string, request: Partial<WriteRequest> = {}): Promise<WriteResult> {
  return table.operations.write({ rows: await tables.query(sql), mode: { kind: 'append' }, ...request });
}

async function constrain(table: DeltaTable, name: string, text: string): Promise<void> {
  await table.operations.alter({ kind: 'add-constraint', name, condition: parseExpression(text), text });
}

describe('values of other types', () => {
  it('are cast as INSERT casts: fractions cut off, text read, numbers printed', async () => {
    const table = await create('i INT, s STRING, d DATE, dec DECIMAL(5,2), b BOOLEAN, ts TIMESTAMP, f FLOAT');
    await insert(table, "(2.9::DOUBLE, 12, '2024-02-29', 1.235, 'true', '2024-01-01 10:00:00', '0.5')");
    expect(await tables.rows(table)).toEqual([
      '{"i":2,"s":"12","d":"2024-02-29","dec":1.24,"b":true,"ts":"2024-01-01 10:00:00+00","f":0.5}',
    ]);
  });

  it('are refused with the type’s and the column’s name when they overflow', async () => {
    const table = await create('id INT, n TINYINT');
    await expect(insert(table, '(3000000000, 1)')).rejects.toMatchObject({
      errorClass: 'CAST_OVERFLOW_IN_TABLE_INSERT',
      sqlState: '22003',
      message:
        'Fail to assign a value of "BIGINT" type to the "INT" type column or variable `id` due to an overflow. Use `try_cast` on the input ' +
        'value to tolerate overflow and return NULL instead.',
    });
    await expect(insert(table, '(1, 1), (2, -129)')).rejects.toMatchObject({ errorClass: 'CAST_OVERFLOW_IN_TABLE_INSERT' });
    expect((await table.refresh()).version).toBe(0);
  });

  it('are refused with the value when the text is no such value', async () => {
    const table = await create('id INT');
    await expect(insert(table, "('7'), ('notint')")).rejects.toMatchObject({
      errorClass: 'CAST_INVALID_INPUT',
      sqlState: '22018',
      message:
        `The value 'notint' of the type "STRING" cannot be cast to "INT" because it is malformed. Correct the value as per the syntax, or ` +
        'change its target type. Use `try_cast` to tolerate malformed input and return NULL instead.',
    });
  });

  it('are refused when the types have nothing in common, nulls excepted', async () => {
    const table = await create('id INT, d DATE, l ARRAY<INT>');
    await insert(table, '(1, NULL, NULL)');
    expect(await tables.rows(table)).toEqual(['{"id":1,"d":null,"l":null}']);
    await expect(insert(table, '(1, 5, NULL)')).rejects.toMatchObject({
      errorClass: 'DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION',
      sqlState: '42K09',
    });
  });

  it('inside structs, lists and maps are cast and checked too', async () => {
    const table = await create('s STRUCT<a: INT, b: STRUCT<c: TINYINT>>, l ARRAY<INT>, m MAP<STRING, INT>');
    const columns = { storeAssignment: true };
    await write(
      table,
      "SELECT {'A': '5', 'b': {'c': 1::BIGINT}} AS s, ['1', NULL]::VARCHAR[] AS l, MAP {'k': 7::BIGINT} AS m UNION ALL SELECT NULL, NULL, NULL",
      columns,
    );
    expect(await tables.rows(table)).toEqual(['{"s":null,"l":null,"m":null}', '{"s":{"a":5,"b":{"c":1}},"l":[1,null],"m":{"k":7}}']);
    const broken = ["SELECT {'a': 1, 'b': {'c': 300}} AS s", "SELECT ['1', 'x'] AS l", "SELECT MAP {'k': 3000000000} AS m"];
    const classes = ['CAST_OVERFLOW_IN_TABLE_INSERT', 'CAST_INVALID_INPUT', 'CAST_OVERFLOW_IN_TABLE_INSERT'];
    for (const [index, sql] of broken.entries()) {
      await expect(write(table, sql, columns)).rejects.toMatchObject({ errorClass: classes[index] });
    }
  });

  it('only widen where nobody asked for casts', async () => {
    const table = await create('n BIGINT, f DOUBLE, dec DECIMAL(20,2)');
    await write(table, 'SELECT 1::TINYINT AS n, 0.5::FLOAT AS f, 3::INT AS dec');
    expect(await tables.rows(table)).toEqual(['{"n":1,"f":0.5,"dec":3.00}']);
    await expect(write(table, 'SELECT 1::DOUBLE AS n')).rejects.toMatchObject({ errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS' });
  });
});

describe('columns', () => {
  it('by place must be as many as the table’s', async () => {
    const table = await create('a INT, b INT');
    await expect(insert(table, '(1)')).rejects.toMatchObject({
      errorClass: 'DELTA_INSERT_COLUMN_ARITY_MISMATCH',
      message: expect.stringContaining(
        'not enough data columns; target table has 2 column(s) but the inserted data has 1 column(s)',
      ) as string,
    });
    await expect(insert(table, '(1, 2, 3)')).rejects.toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH' });
  });

  it('by place may have the same name twice', async () => {
    const table = await create('a INT, b INT NOT NULL');
    await write(table, 'SELECT i::INT AS i, (i + 1)::INT AS i FROM range(2) r(i)', { matchBy: 'position' });
    expect(await tables.rows(table)).toEqual(['{"a":0,"b":1}', '{"a":1,"b":2}']);
  });

  it('by name must not be there twice, whatever their case', async () => {
    const table = await create('a INT');
    const fields = ['a', 'A'].map((name): Field => ({ name, type: { kind: 'integer' }, nullable: true }));
    const rows: Relation = { sql: 'SELECT 1 AS a, 2 AS b', schema: { kind: 'struct', fields } };
    await expect(table.operations.write({ rows, mode: { kind: 'append' } })).rejects.toMatchObject({
      errorClass: 'DELTA_DUPLICATE_COLUMNS_FOUND',
      sqlState: '42711',
    });
  });

  it('with quotes, dots and keywords in their names are names like others', async () => {
    const table = await create('`a"b` INT, `c.d` INT, `select` INT', { properties: { 'delta.columnMapping.mode': 'name' } });
    await write(table, 'SELECT 1 AS "a""b", 2 AS "c.d", 3 AS "select"');
    expect(await tables.rows(table)).toEqual(['{"a\\"b":1,"c.d":2,"select":3}']);
  });
});

describe('columns the rows lack', () => {
  it('get their default', async () => {
    const table = await create("id INT, s STRING DEFAULT 'none', n BIGINT DEFAULT 1 + 1", {
      properties: { 'delta.feature.allowColumnDefaults': 'supported' },
    });
    await write(table, 'SELECT 1 AS id');
    await write(table, 'SELECT 2 AS id, CAST(NULL AS VARCHAR) AS s, 5::BIGINT AS n');
    expect(await tables.rows(table)).toEqual(['{"id":1,"s":"none","n":2}', '{"id":2,"s":null,"n":5}']);
  });

  it('are generated, and given values must be what would be generated', async () => {
    const table = await create('ts TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))', { partitionBy: ['day'] });
    await write(table, "SELECT TIMESTAMPTZ '2024-01-01 23:00:00+00' AS ts");
    await write(table, "SELECT DATE '2024-01-02' AS day, TIMESTAMPTZ '2024-01-02 01:00:00+00' AS ts");
    expect(await tables.rows(table)).toEqual([
      '{"ts":"2024-01-01 23:00:00+00","day":"2024-01-01"}',
      '{"ts":"2024-01-02 01:00:00+00","day":"2024-01-02"}',
    ]);
    await expect(write(table, "SELECT DATE '2020-01-01' AS day, TIMESTAMPTZ '2024-01-01 00:00:00+00' AS ts")).rejects.toMatchObject({
      errorClass: 'DELTA_VIOLATE_CONSTRAINT_WITH_VALUES',
      message:
        'CHECK constraint Generated Column (day <=> CAST(ts AS DATE)) violated by row with values:\n - day : 18262\n - ts : 1704067200000000',
    });
  });

  it('are numbered on from the last number ever given', async () => {
    const table = await create('id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), v STRING');
    const ids = async (): Promise<readonly string[]> => (await tables.rows(table)).map((row) => /"id":(-?\d+)/.exec(row)?.[1] ?? '').sort();
    await write(table, "SELECT 'a' AS v UNION ALL SELECT 'b'");
    await write(table, "SELECT 'c' AS v");
    expect(await ids()).toEqual(['10', '15', '20']);
    await table.operations.delete({ condition: parseExpression('id = 20') });
    await write(table, "SELECT 'd' AS v");
    expect(await ids()).toEqual(['10', '15', '25']);
    await expect(write(table, "SELECT 1::BIGINT AS id, 'x' AS v")).rejects.toMatchObject({
      errorClass: 'DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED',
      sqlState: '42808',
      message: 'Providing values for GENERATED ALWAYS AS IDENTITY column id is not supported.',
    });
  });
});

describe('what a table asks of rows', () => {
  it('is checked with the values of a row that breaks it; null breaks a condition', async () => {
    const table = await create('amount DOUBLE, v STRING');
    await constrain(table, 'positive', 'amount > 0');
    const broken = (shown: string): object => ({
      errorClass: 'DELTA_VIOLATE_CONSTRAINT_WITH_VALUES',
      sqlState: '23001',
      message: `CHECK constraint positive (amount > 0) violated by row with values:\n - amount : ${shown}`,
    });
    await write(table, 'SELECT 0.5::DOUBLE AS amount');
    await expect(write(table, 'SELECT -1::DOUBLE AS amount')).rejects.toMatchObject(broken('-1.0'));
    await expect(write(table, 'SELECT NULL::DOUBLE AS amount')).rejects.toMatchObject(broken('null'));
    await expect(write(table, "SELECT 'only' AS v")).rejects.toMatchObject(broken('null'));
    expect((await table.refresh()).version).toBe(2);
  });

  it('includes members of structs, also of null ones', async () => {
    const table = await create('id INT, st STRUCT<n: INT NOT NULL>');
    await write(table, "SELECT 1 AS id, {'n': 1} AS st");
    for (const st of ["{'n': NULL::INT}", 'NULL::STRUCT(n INT)']) {
      await expect(write(table, `SELECT 1 AS id, ${st} AS st`)).rejects.toMatchObject({
        errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED',
        message: 'NOT NULL constraint violated for column: st.n.',
      });
    }
  });

  it('includes that a required partition column is not empty text, which the log takes for null', async () => {
    const table = await create('id INT, p STRING NOT NULL', { partitionBy: ['p'] });
    await expect(write(table, "SELECT 1 AS id, '' AS p")).rejects.toMatchObject({ errorClass: 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED' });
  });

  it('is refused when it is not understood, naming it, rather than ignored', async () => {
    const table = await create('id INT');
    const { metadata } = await (await tables.open(table.name)).refresh();
    const configuration = { ...metadata.configuration, 'delta.constraints.odd': 'id LIKE (SELECT 1' };
    await writeFile(`${table.location}/${commitPath(1)}`, printActions([{ ...metadata, configuration }]));
    await expect(write(table, 'SELECT 1 AS id')).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_STORED_EXPRESSION',
      kind: 'unsupported',
      message: expect.stringContaining('constraint "odd"') as string,
    });
  });

  it('is checked on the rows that are written, even when the rows differ each time they are read', async () => {
    const table = await create('r DOUBLE');
    await constrain(table, 'low', 'r < 0.5');
    let written = 0;
    for (let round = 0; round < 12; round += 1) {
      written += await write(table, 'SELECT random() AS r FROM range(2)').then(
        (result) => result.rowCount,
        () => 0,
      );
    }
    const rows = await tables.rows(table);
    expect(rows.length).toBe(written);
    expect(rows.every((row) => Number(/[\d.e-]+/.exec(row)?.[0]) < 0.5)).toBe(true);
  });
});
