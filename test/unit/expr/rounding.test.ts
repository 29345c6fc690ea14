import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { parseSchema } from '../../../src/expr/parse/parse-type.ts';
import { TestEngine } from './engine-fixture.ts';

/* ROUND and BROUND of doubles beside Java's way: the digits that the number prints with, cut in decimals, then the nearest double. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await TestEngine.open();
});
afterAll(() => {
  engine.close();
});

/** Digits and power of ten of what a double prints as. */
function decimalOf(value: number): { readonly unscaled: bigint; readonly scale: number } {
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { unscaled: BigInt(whole + fraction), scale: fraction.length - Number(exponent) };
}

function expected(value: number, digits: number, tiesToEven: boolean): number {
  const { unscaled, scale } = decimalOf(value);
  if (scale <= digits) return value + 0;
  const unit = 10n ** BigInt(scale - digits);
  const [quotient, rest] = [unscaled / unit, unscaled % unit];
  const isUp = rest * 2n > unit || (rest * 2n === unit && (!tiesToEven || quotient % 2n === 1n));
  const rounded = Number(`${quotient + (isUp ? 1n : 0n)}e${-digits}`);
  return value < 0 ? 0 - rounded : rounded;
}

const random = new SeededRandom(20);
const any = (size: number): number => (random.next() - 0.5) * size;
/** Numbers around ties, of all sizes that ROUND takes by their digits. */
const values = [
  ...[
    0.5,
    1.5,
    2.5,
    -2.5,
    2.675,
    1.005,
    0.285,
    1.45,
    -0.2,
    0,
    99.995,
    5e8 + 0.5,
    999_999_999.5,
    1e9 + 0.5,
    4_503_599_627_370_495.5,
    1e15,
    123.456789,
  ],
  ...Array.from({ length: 600 }, (_, index) => any(10 ** ((index % 16) - 2))),
  ...Array.from({ length: 600 }, (_, index) => (Math.round(any(10 ** (2 + (index % 8)))) + 0.5) / 10 ** (index % 7)),
  ...Array.from({ length: 200 }, () => Math.round(any(1e5)) * 50),
].flatMap((value) => [value, value * (1 + Number.EPSILON), value * (1 - Number.EPSILON)]);

describe.each([0, 1, 2, 3, 6, 9, -1, -2, -4])('to %i digits', (digits) => {
  it.each([
    ['round', false],
    ['bround', true],
  ] as const)('%s goes by the digits that doubles print with', async (name, tiesToEven) => {
    const rows = `SELECT unnest([${values.map((value) => `CAST('${value}' AS DOUBLE)`).join(', ')}]) AS d`;
    const found = await engine.values(`${name}(d, ${digits})`, parseSchema('d DOUBLE'), rows);
    const differ = values.flatMap((value, index) => {
      const wanted = String(expected(value, digits, tiesToEven));
      return found[index] === wanted ? [] : [{ value, found: found[index], wanted }];
    });
    expect(differ).toEqual([]);
  });
});
