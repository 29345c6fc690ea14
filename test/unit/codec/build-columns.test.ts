import { describe, expect, it } from 'vitest';
import { buildBatch, buildColumn, type InputValue } from '../../../src/codec/build-columns.ts';
import { valueAt } from '../../../src/codec/rows.ts';
import { formatDecimal, parseDecimal } from '../../../src/schema/decimal-text.ts';
import type { DataType } from '../../../src/schema/types.ts';

describe('columns from values', () => {
  it.each<[DataType, InputValue]>([
    [{ kind: 'byte' }, 128],
    [{ kind: 'integer' }, 1.5],
    [{ kind: 'integer' }, 1n],
    [{ kind: 'long' }, 2n ** 63n],
    [{ kind: 'long' }, 2 ** 53],
    [{ kind: 'string' }, 1],
    [{ kind: 'binary' }, 'x'],
    [{ kind: 'boolean' }, 0],
    [{ kind: 'decimal', precision: 3, scale: 1 }, '1.25'],
    [{ kind: 'decimal', precision: 3, scale: 1 }, '100'],
    [{ kind: 'list', element: { kind: 'long' }, elementNullable: false }, [1, null]],
    [{ kind: 'struct', fields: [{ name: 'a', type: { kind: 'long' }, nullable: false }] }, {}],
  ])('refuses what does not fit: case %#', (type, value) => {
    expect(() => buildColumn(type, [value], 'x')).toThrow(expect.objectContaining({ code: 'VALUE_TYPE_MISMATCH', kind: 'invalid' }));
  });

  it('a required member may be absent only where its struct is', () => {
    const type: DataType = { kind: 'struct', fields: [{ name: 'a', type: { kind: 'long' }, nullable: false }] };
    const column = buildColumn(type, [null, { a: 1 }], 'x');
    expect([valueAt(column, 0), valueAt(column, 1)]).toEqual([null, { a: 1n }]);
  });

  it('refuses a row without a required column', () => {
    const schema = { kind: 'struct', fields: [{ name: 'n', type: { kind: 'long' }, nullable: false }] } as const;
    expect(() => buildBatch(schema, [{}])).toThrow('"n" is required');
  });
});

describe('decimal text', () => {
  it.each([
    ['-0.05', -5n, 2],
    ['0.00', 0n, 2],
    ['12', 12n, 0],
    ['-99999999999999999999999999999999999999', 1n - 10n ** 38n, 0],
  ])('%s is %s at scale %s', (text, unscaled, scale) => {
    expect(formatDecimal(unscaled, scale)).toBe(text);
    expect(parseDecimal(text, 38, scale)).toBe(unscaled);
  });

  it.each(['', '.', '1e3', '0x1', ' 1', '1.2.3', '--1'])('%j is no decimal', (text) => {
    expect(parseDecimal(text, 38, 2)).toBeUndefined();
  });
});
