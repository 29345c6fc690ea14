import { describe, expect, it } from 'vitest';
import type { DataType } from '../../../../src/schema/types.ts';
import { decode, decoderOf, decodeValue, recordOf, struct, type Value } from './decoding.ts';

const wrongType = { rejected: 'wrong-type' };
const outOfRange = { rejected: 'out-of-range' };
const invalidJson = { rejected: 'invalid-json' };
const invalidUtf8 = { rejected: 'invalid-utf8' };

type Cell = readonly [json: string, result: Value];

function table(name: string, type: DataType, cells: readonly Cell[]): void {
  describe(name, () => {
    it.each(cells.map(([json, result]) => ({ json, result })))('reads $json as $result', ({ json, result }) => {
      expect(decodeValue(type, json)).toEqual(result);
    });
    it('takes null for an absent value', () => {
      expect(decodeValue(type, 'null')).toBeNull();
    });
  });
}

table('boolean', { kind: 'boolean' }, [
  ['true', true],
  ['false', false],
  ['1', wrongType],
  ['"true"', wrongType],
  ['tru', invalidJson],
  ['truer', invalidJson],
  ['{}', wrongType],
]);

table('byte', { kind: 'byte' }, [
  ['127', 127],
  ['-128', -128],
  ['128', outOfRange],
  ['-129', outOfRange],
  ['1.0', 1],
]);

table('short', { kind: 'short' }, [
  ['32767', 32767],
  ['-32768', -32768],
  ['32768', outOfRange],
]);

table('integer', { kind: 'integer' }, [
  ['0', 0],
  ['-0', 0],
  ['2147483647', 2147483647],
  ['-2147483648', -2147483648],
  ['2147483648', outOfRange],
  ['-2147483649', outOfRange],
  ['99999999999999999999999', outOfRange],
  ['1.0', 1],
  ['12.50', outOfRange],
  ['1e3', 1000],
  ['1E+3', 1000],
  ['1200e-2', 12],
  ['1e-1', outOfRange],
  ['0e999999999', 0],
  ['1e999999999', outOfRange],
  ['"1"', wrongType],
  ['true', wrongType],
  ['[1]', wrongType],
  ['01', invalidJson],
  ['-', invalidJson],
  ['+1', invalidJson],
  ['1.', invalidJson],
  ['.5', invalidJson],
  ['1e', invalidJson],
  ['0x10', invalidJson],
  ['12a', invalidJson],
  ['NaN', invalidJson],
]);

table('long', { kind: 'long' }, [
  ['0', 0n],
  ['-0', 0n],
  ['999999999', 999999999n],
  ['1000000000', 1000000000n],
  ['-1000000000', -1000000000n],
  ['4294967295', 4294967295n],
  ['-4294967296', -4294967296n],
  ['999999999999999', 999999999999999n],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775808', outOfRange],
  ['-9223372036854775809', outOfRange],
  ['18446744073709551616', outOfRange],
  ['-4294967296000000000', -4294967296000000000n],
  ['9007199254740993.0', 9007199254740993n],
  ['9.223372036854775807e18', 9223372036854775807n],
  ['0.5', outOfRange],
  ['"9007199254740993"', 9007199254740993n],
  ['"-12"', -12n],
  ['"\\u0031\\u0032"', 12n],
  ['"9223372036854775808"', outOfRange],
  ['""', wrongType],
  ['" 1"', wrongType],
  ['"1 "', wrongType],
  ['"01"', wrongType],
  ['"one"', wrongType],
  ['false', wrongType],
  ['00', invalidJson],
]);

table('double', { kind: 'double' }, [
  ['0', 0],
  ['-0', -0],
  ['-0.0', -0],
  ['1', 1],
  ['123.45', 123.45],
  ['0.1', 0.1],
  ['-0.30000000000000004', -0.30000000000000004],
  ['9007199254740993', 9007199254740992],
  ['123456789012345.6', 123456789012345.6],
  ['1e22', 1e22],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['1e400', outOfRange],
  ['-1e400', outOfRange],
  ['1e-400', 0],
  ['5e-324', 5e-324],
  ['"NaN"', Number.NaN],
  ['"Infinity"', Number.POSITIVE_INFINITY],
  ['"-Infinity"', Number.NEGATIVE_INFINITY],
  ['"1.5"', wrongType],
  ['"nan"', wrongType],
  ['true', wrongType],
  ['-', invalidJson],
  ['00.5', invalidJson],
  ['1.e5', invalidJson],
  ['Infinity', invalidJson],
]);

table('float', { kind: 'float' }, [
  ['0.1', Math.fround(0.1)],
  ['16777217', 16777216],
  ['3.4028234e38', Math.fround(3.4028234e38)],
  ['3.5e38', outOfRange],
  ['1e400', outOfRange],
  ['"-Infinity"', Number.NEGATIVE_INFINITY],
]);

// The plain form of digits is read on another path than exponents, so the range must be checked on both.
it('refuses a float past the range in plain digits too', () => {
  expect(decodeValue({ kind: 'float' }, `4${'0'.repeat(38)}`)).toEqual(outOfRange);
});

table('decimal(12,2)', { kind: 'decimal', precision: 12, scale: 2 }, [
  ['0', 0n],
  ['-0.00', 0n],
  ['12.34', 1234n],
  ['-12.3', -1230n],
  ['12', 1200n],
  ['12.340', 1234n],
  ['12.345', outOfRange],
  ['9999999999.99', 999999999999n],
  ['-9999999999.99', -999999999999n],
  ['10000000000', outOfRange],
  ['-10000000000.00', outOfRange],
  ['1e3', 100000n],
  ['1.234e1', 1234n],
  ['1234e-2', 1234n],
  ['1234e-3', outOfRange],
  ['"12.34"', 1234n],
  ['"12,34"', wrongType],
  ['"NaN"', wrongType],
  ['null ', null],
  ['1.2.3', invalidJson],
  ['1.', invalidJson],
  ['00.1', invalidJson],
  ['[]', wrongType],
]);

table('decimal(38,10)', { kind: 'decimal', precision: 38, scale: 10 }, [
  ['1234567890123456789.0123456789', 12345678901234567890123456789n],
  ['9999999999999999999999999999.9999999999', 10n ** 38n - 1n],
  ['-9999999999999999999999999999.9999999999', 1n - 10n ** 38n],
  ['10000000000000000000000000000', outOfRange],
  ['"0.0000000001"', 1n],
  ['0.00000000001', outOfRange],
  ['-1', -10000000000n],
  ['1e27', 10n ** 37n],
  ['1e28', outOfRange],
]);

table('decimal(5,5)', { kind: 'decimal', precision: 5, scale: 5 }, [
  ['0.99999', 99999n],
  ['1', outOfRange],
  ['-0.00001', -1n],
]);

table('string', { kind: 'string' }, [
  ['""', ''],
  ['"abc"', 'abc'],
  ['"å€😀"', 'å€😀'],
  ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
  ['"a\\u00e5\\u20ac\\ud83d\\ude00z"', 'aå€😀z'],
  ['"\\u0000"', '\u0000'],
  ['"\\ud800"', invalidUtf8],
  ['"\\udc00"', invalidUtf8],
  ['"\\ud800\\u0041"', invalidUtf8],
  ['"\\ud800x"', invalidUtf8],
  ['"\\ud800\\ud800"', invalidUtf8],
  ['"\\x41"', invalidJson],
  ['"\\u12g4"', invalidJson],
  ['"\\u12', invalidJson],
  ['"a\tb"', invalidJson],
  ['"a\nb"', invalidJson],
  ["'a'", invalidJson],
  ['12', wrongType],
  ['true', wrongType],
  ['{"a":1}', wrongType],
  ['["a"]', wrongType],
]);

table('binary', { kind: 'binary' }, [
  ['""', 'hex:'],
  ['"AAEC"', 'hex:000102'],
  ['"/+8="', 'hex:ffef'],
  ['"\\/+8="', 'hex:ffef'],
  ['"/w=="', 'hex:ff'],
  ['"/w"', wrongType],
  ['"/x=="', wrongType],
  ['"_w=="', wrongType],
  ['"AA=A"', wrongType],
  ['"===="', wrongType],
  ['"AA\\nEC"', wrongType],
  ['[0]', wrongType],
]);

table('date', { kind: 'date' }, [
  ['"1970-01-01"', 0],
  ['"1969-12-31"', -1],
  ['"2024-02-29"', 19782],
  ['"0001-01-01"', -719162],
  ['"9999-12-31"', 2932896],
  ['"2023-02-29"', outOfRange],
  ['"1900-02-29"', outOfRange],
  ['"2000-02-29"', 11016],
  ['"2023-13-01"', outOfRange],
  ['"2023-00-01"', outOfRange],
  ['"2023-04-31"', outOfRange],
  ['"0000-01-01"', outOfRange],
  ['"2023-1-1"', wrongType],
  ['"2023-01-01T00:00:00Z"', wrongType],
  ['"2023-02-30T00:00:00Z"', wrongType],
  ['"10000-01-01"', wrongType],
  ['"\\u0031970-01-01"', 0],
  ['19000', wrongType],
]);

table('timestamp', { kind: 'timestamp' }, [
  ['"1970-01-01T00:00:00Z"', 0n],
  ['"2026-01-01T00:00:00.123Z"', 1767225600123000n],
  ['"2026-01-01 00:00:00z"', 1767225600000000n],
  ['"2026-01-01T02:00:00.000001+02:00"', 1767225600000001n],
  ['"2025-12-31T18:30:00-05:30"', 1767225600000000n],
  ['"1969-12-31T23:59:59.999999Z"', -1n],
  ['"2026-01-01T00:00:00.123456000Z"', 1767225600123456n],
  ['"2026-01-01T00:00:00.1234567Z"', outOfRange],
  ['"2026-01-01T00:00:00.000000001Z"', outOfRange],
  ['"2026-01-01T00:00:00.1234560000Z"', wrongType],
  ['"2026-01-01T00:00:00.Z"', wrongType],
  ['"0001-01-01T00:00:00Z"', -62135596800000000n],
  ['"9999-12-31T23:59:59.999999Z"', 253402300799999999n],
  ['"9999-12-31T23:59:59-00:01"', outOfRange],
  ['"0001-01-01T00:00:00+00:01"', outOfRange],
  ['"0000-12-31T00:00:00Z"', outOfRange],
  ['"1684-07-28T00:12:25.345678Z"', -9007199254654322n],
  ['"2255-06-05T23:47:34.740993Z"', 9007199254740993n],
  ['"2026-02-29T00:00:00Z"', outOfRange],
  ['"2026-01-01T24:00:00Z"', outOfRange],
  ['"2026-01-01T00:60:00Z"', outOfRange],
  ['"2016-12-31T23:59:60Z"', outOfRange],
  ['"2026-01-01T00:00:00"', wrongType],
  ['"2026-01-01T00:00Z"', wrongType],
  ['"2026-01-01T00:00:00+0200"', wrongType],
  ['"2026-01-01T00:00:00+24:00"', wrongType],
  ['"2026-01-01T00:00:00Zx"', wrongType],
  ['"2026-01-01"', wrongType],
  ['"\\u0031970-01-01T00:00:00Z"', 0n],
  ['1767225600000', wrongType],
  ['"2026-01-01T00:00:00Z', invalidJson],
]);

table('timestamp_ntz', { kind: 'timestamp_ntz' }, [
  ['"2026-01-01T00:00:00.5"', 1767225600500000n],
  ['"0001-01-01T00:00:00"', -62135596800000000n],
  ['"2026-01-01T00:00:00Z"', wrongType],
  ['"2026-01-01T00:00:00+00:00"', wrongType],
]);

describe('messages', () => {
  const message = (type: DataType, json: string): string | undefined => decode(struct({ v: type }), `{"v":${json}}`).rejection?.message;

  it('name the column, the value and the type', () => {
    expect(message({ kind: 'decimal', precision: 12, scale: 2 }, '"abc"')).toBe('column "v": "abc" is not a decimal(12,2)');
    expect(message({ kind: 'long' }, '1.5')).toBe('column "v": 1.5 does not fit a long');
    expect(message({ kind: 'boolean' }, '"x"')).toBe('column "v": "x" is not a boolean');
  });

  it('say that a bare number in a timestamp column has no unit', () => {
    expect(message({ kind: 'timestamp' }, '1767225600000')).toContain('a bare number does not say its unit');
  });

  it('cut long values to 64 characters and hide control characters', () => {
    const shown = message({ kind: 'date' }, `"${'x'.repeat(1000)}"`);
    expect(shown).toBe(`column "v": "${'x'.repeat(63)}… is not a date (YYYY-MM-DD)`);
    expect(message({ kind: 'date' }, '"\u007f"')).toBe('column "v": "\ufffd" is not a date (YYYY-MM-DD)');
  });
});

// The day before it is remembered in a packed form in which impossible days could look like it.
it('refuses an impossible day after the possible one it resembles', () => {
  const decoder = decoderOf(struct({ v: { kind: 'date' } }));
  expect(decoder.decode(recordOf('{"v":"2024-01-01"}'))).toBeUndefined();
  for (const day of ['2024-00-33', '2023-17-01', '2023-16-33']) {
    expect(decoder.decode(recordOf(`{"v":"${day}"}`)), day).toMatchObject({ reason: 'out-of-range' });
  }
});
