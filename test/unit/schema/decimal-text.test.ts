import { describe, expect, it } from 'vitest';
import { parseDecimal } from '../../../src/schema/decimal-text.ts';

describe('parseDecimal', () => {
  // DuckDB writes decimals that are all fraction so: partition values of such columns were taken for null, and their rows were not found.
  it.each([
    ['.67', 2, 67n],
    ['-.05', 2, -5n],
    ['+.5', 1, 5n],
    ['0.67', 2, 67n],
  ] as const)('reads %s with %i digits', (text, precision, unscaled) => {
    expect(parseDecimal(text, precision, precision)).toBe(unscaled);
  });

  it.each(['', '.', '-', '-.', '1e3', ' 1', '.6.7'])('takes %j for no decimal', (text) => {
    expect(parseDecimal(text, 10, 2)).toBeUndefined();
  });

  it('takes no more digits than there are', () => {
    expect(parseDecimal('1.00', 2, 2)).toBeUndefined();
    expect(parseDecimal('.001', 2, 2)).toBeUndefined();
  });
});
