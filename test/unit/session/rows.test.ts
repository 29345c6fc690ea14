import { describe, expect, it } from 'vitest';
import { parseSchema } from '../../../src/expr/parse/parse-type.ts';
import { describeType } from '../../../src/schema/describe-type.ts';
import { batchesOf } from '../../../src/session/rows/build-rows.ts';
import { inferSchema } from '../../../src/session/rows/infer-schema.ts';
import { rowsOfBatch } from '../../../src/session/rows/read-rows.ts';
import type { RowInput } from '../../../src/session/rows/row.ts';
import { javaDouble } from '../../../src/session/show/cell-text.ts';

function roundTrip(schema: string, row: RowInput) {
  return batchesOf(parseSchema(schema), [row]).flatMap(rowsOfBatch)[0];
}

describe('rows into columns', () => {
  it('takes what people have at hand where nothing is lost', () => {
    const at = new Date('2024-02-29T10:00:00.123Z');
    expect(
      roundTrip('l BIGINT, d DECIMAL(5,2), t TIMESTAMP, day DATE, m MAP<STRING, INT>', {
        l: 5,
        d: 1.5,
        t: at,
        day: new Date('2024-02-29'),
        m: { k: 1 },
      }),
    ).toEqual({
      l: 5n,
      d: '1.50',
      t: '2024-02-29T10:00:00.123000Z',
      day: '2024-02-29',
      m: new Map([['k', 1]]),
    });
    expect(roundTrip('t TIMESTAMP', { t: '2024-01-01 10:00:00+02:00' })).toEqual({ t: '2024-01-01T08:00:00.000000Z' });
  });

  it.each([
    ['i INT', { i: 1.5 }],
    ['i INT', { i: 2 ** 31 }],
    ['i TINYINT', { i: 128 }],
    ['i BIGINT', { i: 2 ** 53 }],
    ['i BIGINT', { i: 2n ** 63n }],
    ['i BIGINT', { i: '1' }],
    ['d DECIMAL(4,2)', { d: '1.234' }],
    ['d DECIMAL(4,2)', { d: '123.4' }],
    ['d DATE', { d: '2023-02-29' }],
    ['d DATE', { d: '2024-02-29 10:00:00' }],
    ['t TIMESTAMP_NTZ', { t: '2024-01-01T00:00:00Z' }],
    ['t TIMESTAMP', { t: '2024-01-01T00:00:00.1234567' }],
    ['s STRING', { s: 1 }],
    ['b BOOLEAN', { b: 'true' }],
    ['a ARRAY<INT>', { a: { 0: 1 } }],
    ['s STRUCT<x: INT>', { s: { x: 'no' } }],
  ] as const)('refuses a value that does not fit %s', (schema, row) => {
    expect(() => roundTrip(schema, row)).toThrow(expect.objectContaining({ errorClass: 'FIELD_DATA_TYPE_UNACCEPTABLE_WITH_NAME' }));
  });

  it('names row and column of what is wrong', () => {
    const schema = parseSchema('id BIGINT NOT NULL, s STRUCT<x: INT>');
    expect(() => batchesOf(schema, [{ id: 1 }, { id: 2, s: { x: 'a' } }])).toThrow('row 1: "s.x": string a does not fit integer');
    expect(() => batchesOf(schema, [{ id: 1 }, { id: null }])).toThrow('row 1: "id" is required but has no value');
    expect(() => batchesOf(schema, [{ id: 1, sx: 2 }])).toThrow(expect.objectContaining({ hint: 'did you mean "s"?' }));
  });

  it('infers types from all rows', () => {
    const inferred = inferSchema([
      { a: 1, s: 'x', n: { p: null }, l: [], m: new Map([['k', 1.5]]) },
      { a: 2.5, n: { p: true, q: 1n }, l: [new Date(0)] },
    ]);
    expect(describeType(inferred)).toBe('struct<a:double,s:string,n:struct<p:boolean,q:long>,l:array<timestamp>,m:map<string,double>>');
    expect(() => inferSchema([{ a: 1 }, { a: 'x' }])).toThrow(expect.objectContaining({ errorClass: 'CANNOT_MERGE_TYPE' }));
    expect(() => inferSchema([{ a: null }])).toThrow(expect.objectContaining({ errorClass: 'CANNOT_DETERMINE_TYPE' }));
    expect(() => inferSchema([])).toThrow(expect.objectContaining({ errorClass: 'CANNOT_INFER_EMPTY_SCHEMA' }));
  });
});

describe('doubles as Java prints them', () => {
  it.each([
    [1, '1.0'],
    [-0, '-0.0'],
    [1e7, '1.0E7'],
    [1234567.5, '1234567.5'],
    [0.001, '0.001'],
    [0.00012, '1.2E-4'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ])('%s', (value, text) => {
    expect(javaDouble(value)).toBe(text);
  });

  it('prints floats with their own shortest digits', () => {
    expect(javaDouble(Math.fround(0.1), 'float')).toBe('0.1');
  });
});
