import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type JsonValue, parseJson, parseJsonWithLongNumbersAsText, printJson } from '../../../src/base/bigint-json.ts';

// Story: a bound of seventeen digits with a point among them was read as the double beside it, and a file was left out that held the value.

it('a number of sixteen digits and more stays exact as text, with a point among the digits or without', () => {
  const text = '{"a":-99999999999999.999,"b":[1234567890.1234567,12],"c":12345678901234567,"d":0.1,"e":"99999999999999.999"}';
  expect(parseJsonWithLongNumbersAsText(text, 'a test')).toEqual({
    a: '-99999999999999.999',
    b: ['1234567890.1234567', 12],
    c: '12345678901234567',
    d: 0.1,
    e: '99999999999999.999',
  });
});

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\uF8FF#12345678901234567', 'a",12345678901234567]', ':12345678901234567,', '\\uF8FF#1', '[1234567890123456789]'),
);
const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, 1e300, 0.1, 123_456_789_012.345_6),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 70n }),
    fc.bigInt({ min: -(2n ** 64n), max: -(2n ** 53n) - 1n }),
    texts,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 5 }),
  ),
}));

it('what was printed is parsed again, with every integer exact and every text as it was', () => {
  fc.assert(
    fc.property(anyValue, fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 64n }), (value, long) => {
      const whole = { long, value, uF8FF: long };
      expect(plain(parseJson(printJson(whole), 'a test'))).toEqual(plain(whole));
    }),
  );
});

it.each([
  ['[9007199254740993, 9007199254740993 ,\t-9007199254740993\n]', [9007199254740993n, 9007199254740993n, -9007199254740993n]],
  ['{"a":9007199254740993}', { a: 9007199254740993n }],
  ['9007199254740993', 9007199254740993n],
  [' "\uF8FF#1234567890123456"', '\uF8FF#1234567890123456'],
  ['["\\uf8ff#1234567890123456"]', ['\uF8FF#1234567890123456']],
  ['{"a":"x,9007199254740993,","b":9007199254740993}', { a: 'x,9007199254740993,', b: 9007199254740993n }],
  ['[1234567890123456.5,1e400,12345678901234567e2]', [1234567890123456.5, Number.POSITIVE_INFINITY, 1234567890123456700]],
])('long numbers stay exact wherever they stand: %s', (text, value) => {
  expect(parseJson(text, 'a test')).toEqual(value);
});

/** Objects as lists of their members, so that every name counts. */
function plain(value: JsonValue | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.entries(value).map(([key, member]) => [key, plain(member)]);
}
