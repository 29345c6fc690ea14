import { describe, expect, it } from 'vitest';
import { commonType, settledType, untypedOf } from '../../../src/expr/common-type.ts';
import { parseExpression } from '../../../src/expr/parse/parse-expression.ts';
import { parseDeclaredType } from '../../../src/expr/parse/parse-type.ts';
import { sqlTypeName } from '../../../src/schema/sql-type.ts';

describe('the type that holds values of both', () => {
  it.each([
    ['INT', 'BIGINT', 'BIGINT'],
    ['DECIMAL(38,0)', 'DECIMAL(1,1)', 'DECIMAL(38,0)'],
    ['DECIMAL(3,2)', 'INT', 'DECIMAL(12,2)'],
    ['FLOAT', 'INT', 'DOUBLE'],
    ['STRING', 'INT', 'BIGINT'],
    ['STRING', 'DECIMAL(3,2)', 'DOUBLE'],
    ['STRING', 'DATE', 'DATE'],
    ['STRING', 'STRING', 'STRING'],
    ['DATE', 'TIMESTAMP_NTZ', 'TIMESTAMP_NTZ'],
    ['TIMESTAMP_NTZ', 'TIMESTAMP', 'TIMESTAMP'],
    ['VOID', 'MAP<STRING, INT>', 'MAP<STRING, INT>'],
    ['ARRAY<INT>', 'ARRAY<BIGINT>', 'ARRAY<BIGINT>'],
    ['STRUCT<a: INT>', 'STRUCT<A: STRING>', 'STRUCT<a: BIGINT>'],
    ['STRUCT<a: INT>', 'STRUCT<b: INT>', undefined],
    ['STRUCT<a: INT>', 'STRUCT<a: INT, b: INT>', undefined],
    ['BOOLEAN', 'INT', undefined],
    ['DATE', 'INT', undefined],
    ['STRING', 'ARRAY<INT>', undefined],
  ])('%s and %s: %s', (left, right, expected) => {
    const [one, other] = [left, right].map(parseDeclaredType);
    if (one === undefined || other === undefined) throw new Error('no types');
    for (const common of [commonType(one, other), commonType(other, one)]) {
      expect(common && sqlTypeName(common).toLowerCase()).toBe(expected?.toLowerCase());
    }
  });

  it.each([
    ['NULL', 'INT'],
    ['array()', 'ARRAY<INT>'],
    ['array(NULL, array())', 'ARRAY<ARRAY<INT>>'],
    ['array(1)', undefined],
    ['1', undefined],
  ])('of %s, where nothing else is there: %s', (value, expected) => {
    const type = untypedOf(parseExpression(value));
    expect(type && sqlTypeName(settledType(type))).toBe(expected);
  });
});
