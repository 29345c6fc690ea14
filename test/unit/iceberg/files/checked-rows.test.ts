import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InputRow } from '../../../../src/codec/build-columns.ts';
import { checkedRows } from '../../../../src/iceberg/files/checked-rows.ts';
import type { MatchOptions } from '../../../../src/iceberg/files/prepare-rows.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { stagedTable } from '../../../support/iceberg/staged-table.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

function struct(types: Readonly<Record<string, DataType>>, required: readonly string[] = []): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(types).map(([name, type], index): Field => ({ name, type, nullable: !required.includes(name), id: index + 1 })),
  };
}

async function checked(
  schema: StructType,
  given: { readonly sql: string; readonly schema: StructType },
  options: MatchOptions = {},
): Promise<readonly InputRow[]> {
  const { context, state } = stagedTable(made, { schema });
  const rows = await checkedRows({ context, engine: made.engine, signal: undefined }, state, given, options);
  return made.rows(rows);
}

const int: DataType = { kind: 'integer' };
const string: DataType = { kind: 'string' };
const table = struct({ id: int, v: string });

describe('columns', () => {
  it('are matched by name, ignoring case; those that are missing are null or their default', async () => {
    const withDefault: StructType = {
      kind: 'struct',
      fields: [...table.fields, { name: 'd', type: { kind: 'date' }, nullable: true, id: 3, metadata: { 'write-default': '2024-02-29' } }],
    };
    const given = { sql: "SELECT 'x' AS V", schema: struct({ V: string }) };
    expect(await checked(withDefault, given)).toEqual([{ id: null, v: 'x', d: 19_782 }]);
  });

  it('are matched by place where they are inserted without names', async () => {
    expect(
      await checked(table, { sql: "SELECT 1 AS v, 'x' AS id", schema: struct({ v: int, id: string }) }, { matchBy: 'position' }),
    ).toEqual([{ id: 1, v: 'x' }]);
  });

  it.each([
    [
      'too few by place',
      { sql: 'SELECT 1 AS a', schema: struct({ a: int }) },
      'position',
      'INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS',
    ],
    [
      'too many by name',
      { sql: "SELECT 1 AS id, 'a' AS v, 2 AS x", schema: struct({ id: int, v: string, x: int }) },
      'name',
      'INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS',
    ],
    [
      'unknown by name',
      { sql: 'SELECT 1 AS id, 2 AS x', schema: struct({ id: int, x: int }) },
      'name',
      'INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS',
    ],
    ['the same twice', { sql: 'SELECT 1 AS id, 2 AS ID', schema: struct({ id: int, ID: int }) }, 'name', 'COLUMN_ALREADY_EXISTS'],
  ] as const)('%s are refused', async (_, given, matchBy, errorClass) => {
    await expect(checked(table, given, { matchBy })).rejects.toMatchObject({ errorClass });
  });
});

describe('values', () => {
  it('are cast among numbers, among times, and to text', async () => {
    const schema = struct({
      l: { kind: 'long' },
      n: { kind: 'decimal', precision: 5, scale: 2 },
      ts: { kind: 'timestamp_ntz' },
      s: string,
    });
    const given = {
      sql: "SELECT 1::INTEGER AS l, 1.255::DOUBLE AS n, DATE '1970-01-02' AS ts, 5 AS s",
      schema: struct({ l: int, n: { kind: 'double' }, ts: { kind: 'date' }, s: int }),
    };
    const [row] = await checked(schema, given);
    expect(row).toMatchObject({ l: 1n, ts: 86_400_000_000n, s: '5' });
  });

  it.each([
    ['text for a number', int, "SELECT '5' AS c", string, 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST'],
    ['a boolean for a number', int, 'SELECT true AS c', { kind: 'boolean' }, 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST'],
    ['a number too large', int, 'SELECT 3000000000 AS c', { kind: 'long' }, 'CAST_OVERFLOW_IN_TABLE_INSERT'],
    ['no uuid', { kind: 'string', format: 'uuid' }, "SELECT 'x' AS c", { kind: 'string', format: 'uuid' }, 'CAST_INVALID_INPUT'],
    ['too many bytes', { kind: 'binary', fixedLength: 2 }, "SELECT 'abc'::BLOB AS c", { kind: 'binary' }, 'CAST_INVALID_INPUT'],
  ] as const)('that are %s are refused', async (_, type, sql, from, errorClass) => {
    await expect(checked(struct({ c: type }), { sql, schema: struct({ c: from }) })).rejects.toMatchObject({ errorClass });
  });

  it('that are null go into any column but a required one', async () => {
    const given = { sql: 'SELECT NULL::VARCHAR AS id', schema: struct({ id: string }) };
    expect(await checked(table, given)).toEqual([{ id: null, v: null }]);
    await expect(checked(struct({ id: int, v: string }, ['id']), given)).rejects.toMatchObject({
      errorClass: 'NOT_NULL_ASSERT_VIOLATION',
      sqlState: '42000',
    });
  });

  it('of required members count only where there is a struct', async () => {
    const inner = struct({ x: int }, ['x']);
    const schema = struct({ s: inner });
    expect(await checked(schema, { sql: 'SELECT NULL::STRUCT(x INTEGER) AS s', schema: struct({ s: struct({ x: int }) }) })).toEqual([
      { s: null },
    ]);
    const given = { sql: "SELECT {'x': NULL::INTEGER} AS s", schema: struct({ s: struct({ x: int }) }) };
    await expect(checked(schema, given)).rejects.toMatchObject({ errorClass: 'NOT_NULL_ASSERT_VIOLATION' });
  });
});
