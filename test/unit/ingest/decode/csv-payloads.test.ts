import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import { recordOf, rowsOf, type Value } from './decoding.ts';

function decoderOf(columns: Readonly<Record<string, string>>, fields: readonly string[], delimiter = ','): RecordDecoder {
  const schema = Object.entries(columns).map(([name, type]) => {
    return { name, type: parseColumnType(type.replace('!', '')), nullable: !type.endsWith('!') };
  });
  const sources = schema.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder(
    { kind: 'struct', fields: schema },
    { sources, unknownMembers: 'ignore', value: { kind: 'csv', fields, delimiter } },
  );
}

/** The row, or why there is none. */
function read(decoder: RecordDecoder, payload: string | Uint8Array): Value {
  const refusal = decoder.decode(recordOf(payload));
  const [row = null] = rowsOf(decoder.finish());
  return refusal?.message ?? row;
}

describe('a record of CSV', () => {
  const decoder = decoderOf({ c: 'string', a: 'long' }, ['a', 'b', 'c']);
  it.each([
    ['1,2,3', { a: 1n, c: '3' }],
    ['1,,x\n', { a: 1n, c: 'x' }],
    ['1,,x\r\n', { a: 1n, c: 'x' }],
    [',,', { a: null, c: null }],
    ['1,2,""', { a: 1n, c: '' }],
    ['"1","2","x, ""y""\nz"', { a: 1n, c: 'x, "y"\nz' }],
    ['1,2, x ', { a: 1n, c: ' x ' }],
    ['1,2,ab"c', { a: 1n, c: 'ab"c' }],
    ['1,2', 'not valid CSV: it has 2 fields, and the route names 3: 1,2'],
    ['1,2,3,4', 'not valid CSV: it has more than 3 fields, and the route names 3: 1,2,3,4'],
    ['', 'not valid CSV: it has 1 fields, and the route names 3: '],
    ['1,2,"x', 'not valid CSV: field 3 begins with a quote and does not end with one'],
    ['1,"2"x,3', 'not valid CSV: field 2 goes on after its closing quote at byte 5'],
    ['x,2,3', 'column "a": x is not a value of type long'],
    [Buffer.from([0x31, 0x2c, 0x2c, 0xff]), 'column "c": \ufffd is not valid UTF-8'],
  ])('%s', (payload, expected) => {
    expect(read(decoder, payload)).toEqual(expected);
  });

  it.each([
    ['integer', '-7', -7],
    ['integer', '007', 'column "v": 007 is not a value of type integer'],
    ['byte', '128', 'column "v": 128 does not fit a byte'],
    ['long', '9223372036854775807', 9_223_372_036_854_775_807n],
    ['long', '1.5', 'column "v": 1.5 does not fit a long'],
    ['double', '1e3', 1000],
    ['double', 'NaN', NaN],
    ['double', '-Infinity', -Infinity],
    ['double', '1x', 'column "v": 1x is not a value of type double'],
    ['decimal(9,2)', '12.3', 1230n],
    ['decimal(9,2)', '12.345', 'column "v": 12.345 does not fit a decimal(9,2)'],
    ['boolean', 'true', true],
    ['boolean', 'yes', 'column "v": yes is not a value of type boolean'],
    ['date', '2024-02-29', 19_782],
    ['date', '2024-02-30', 'column "v": 2024-02-30 is not a date of the calendar, years 0001 to 9999'],
    ['date', '2024"', 'column "v": 2024" is not a date (YYYY-MM-DD)'],
    ['timestamp', '1970-01-01T00:00:01Z', 1_000_000n],
    ['timestamp_ntz', '1970-01-01 00:00:01', 1_000_000n],
    ['binary', 'AQI=', 'hex:0102'],
    ['long!', '', 'column "v": a required column has no value'],
  ])('%s from %s', (type, text, expected) => {
    const wanted = typeof expected === 'string' && expected.startsWith('column') ? expected : { v: expected };
    expect(read(decoderOf({ v: type }, ['v']), text)).toEqual(wanted);
  });

  it('has another delimiter where the route says so', () => {
    expect(read(decoderOf({ a: 'long', b: 'string' }, ['a', 'b'], '\t'), '1\tx,y')).toEqual({ a: 1n, b: 'x,y' });
  });

  it('fills no nested columns, and none whose field is not named', () => {
    expect(() => decoderOf({ v: 'array<long>' }, ['v'])).toThrow('column "v" of type array<long> cannot be read from CSV');
    expect(() => decoderOf({ v: 'long' }, ['w'])).toThrow('column "v" takes the field "v", which is none of those of the route: w');
  });
});
