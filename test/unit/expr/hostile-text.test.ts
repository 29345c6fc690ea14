import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bindExpression } from '../../../src/expr/bind-expression.ts';
import type { Literal } from '../../../src/expr/expression.ts';
import { columnPathSql, expressionSql, literalSql, quoteName, sqlText, typeSql } from '../../../src/expr/sql/engine-sql.ts';
import type { DataType } from '../../../src/schema/types.ts';
import { TestEngine } from './engine-fixture.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await TestEngine.open();
});
afterAll(() => {
  engine.close();
});

const hostile = fc.oneof(
  fc.constantFrom(
    "'",
    "''",
    '"',
    '"; DROP TABLE x; --',
    "' OR 1=1 --",
    '\\',
    "\\'",
    '/*',
    '--',
    '$$',
    '%',
    '_',
    '\0',
    '\n',
    '?',
    ':a',
    'é',
    '\u{1f600}',
    '{}',
    'NULL',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const text = fc.array(hostile, { maxLength: 4 }).map((parts) => parts.join(''));
const name = fc.array(hostile, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('').replaceAll('\0', '') || 'x');

it('a text comes back from the engine as it was', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      expect(await engine.rows(`SELECT ${sqlText(value)}`)).toEqual([[value]]);
    }),
    { numRuns: 300 },
  );
});

it('names of columns, members and texts of conditions stay what they are', async () => {
  await fc.assert(
    fc.asyncProperty(name, name, text, async (column, member, value) => {
      fc.pre(column.toLowerCase() !== member.toLowerCase());
      const type: DataType = { kind: 'struct', fields: [{ name: member, type: { kind: 'string' }, nullable: true }] };
      const literal: Literal = { type: 'string', value };
      const condition = bindExpression(
        {
          kind: 'binary',
          operator: 'and',
          left: { kind: 'binary', operator: '=', left: { kind: 'column', path: [column, member] }, right: { kind: 'literal', literal } },
          right: {
            kind: 'like',
            form: 'like',
            operand: { kind: 'column', path: [column, member] },
            pattern: { kind: 'literal', literal: { type: 'string', value: value.replaceAll(/[\\%_]/g, '\\$&') } },
            negated: false,
          },
        },
        [{ schema: { kind: 'struct', fields: [{ name: column, type, nullable: true }] } }],
      );
      const from = `SELECT CAST(struct_pack(${quoteName(member)} := ${literalSql(literal)}) AS ${typeSql(type)}) AS ${quoteName(column)}`;
      expect(await engine.rows(`SELECT ${expressionSql(condition, (path) => columnPathSql(path))} FROM (${from})`)).toEqual([[true]]);
    }),
    { numRuns: 300 },
  );
});

it('literals of every type keep their value at the extremes', async () => {
  const cases: readonly (readonly [Literal, string])[] = [
    [{ type: 'integer', value: -(2n ** 63n), width: 'long' }, '-9223372036854775808'],
    [{ type: 'integer', value: -128n, width: 'byte' }, '-128'],
    [{ type: 'integer', value: -(2n ** 31n), width: 'integer' }, '-2147483648'],
    [{ type: 'decimal', unscaled: -(10n ** 38n - 1n), precision: 38, scale: 38 }, `-.${'9'.repeat(38)}`],
    [{ type: 'decimal', unscaled: 10n ** 38n - 1n, precision: 38, scale: 0 }, '9'.repeat(38)],
    [{ type: 'double', value: 5e-324 }, '5e-324'],
    [{ type: 'double', value: 1.7976931348623157e308 }, '1.7976931348623157e+308'],
    [{ type: 'double', value: Number.NEGATIVE_INFINITY }, '-inf'],
    [{ type: 'double', value: Number.NaN }, 'nan'],
    [{ type: 'double', value: -0 }, '-0.0'],
    [{ type: 'float', value: Math.fround(0.1) }, '0.1'],
    [{ type: 'date', days: -719_162 }, '0001-01-01'],
    [{ type: 'date', days: 2_932_896 }, '9999-12-31'],
    [{ type: 'timestamp', micros: -62_135_596_800_000_000n }, '0001-01-01 00:00:00+00'],
    [{ type: 'timestamp', micros: 253_402_300_799_999_999n }, '9999-12-31 23:59:59.999999+00'],
    [{ type: 'timestamp_ntz', micros: -1n }, '1969-12-31 23:59:59.999999'],
    [{ type: 'binary', value: new Uint8Array([0, 39, 92, 255]) }, '\\x00\\x27\\x5C\\xFF'],
    [{ type: 'interval', months: -14, days: 3, micros: -1n }, '-1 year -2 months 3 days -00:00:00.000001'],
  ];
  for (const [literal, expected] of cases)
    expect(await engine.rows(`SELECT CAST(${literalSql(literal)} AS VARCHAR)`)).toEqual([[expected]]);
});

it('a name with U+0000 is refused', () => {
  expect(() => quoteName('a\0b')).toThrow(expect.objectContaining({ errorClass: 'INVALID_IDENTIFIER' }));
});
