import { expect, test } from 'vitest';
import { parseJsonWithLongNumbersAsText } from '../../../src/base/bigint-json.ts';

// Story: a bound of seventeen digits with a point among them was read as the double beside it, and a file was left out that held the value.

test('a number of sixteen digits and more stays exact as text, with a point among the digits or without', () => {
  const text = '{"a":-99999999999999.999,"b":[1234567890.1234567,12],"c":12345678901234567,"d":0.1,"e":"99999999999999.999"}';
  expect(parseJsonWithLongNumbersAsText(text, 'a test')).toEqual({
    a: '-99999999999999.999',
    b: ['1234567890.1234567', 12],
    c: '12345678901234567',
    d: 0.1,
    e: '99999999999999.999',
  });
});
