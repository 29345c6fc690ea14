import { describe, expect, it } from 'vitest';
import type { DataType } from '../../../../src/schema/types.ts';
import type { TransformValue } from '../../../../src/table/partitioning/apply-transform.ts';
import { partitionText, partitionValue } from '../../../../src/table/partitioning/partition-text.ts';

type Row = readonly [type: DataType, value: NonNullable<TransformValue>, plain: string, delta: string, path: string];

const rows: readonly Row[] = [
  [{ kind: 'string' }, ' ü/%20 ', ' ü/%20 ', ' ü/%20 ', ' ü/%20 '],
  [{ kind: 'boolean' }, true, 'true', 'true', 'true'],
  [{ kind: 'integer' }, -12, '-12', '-12', '-12'],
  [{ kind: 'long' }, 9_223_372_036_854_775_807n, '9223372036854775807', '9223372036854775807', '9223372036854775807'],
  [{ kind: 'decimal', precision: 5, scale: 2 }, -5n, '-0.05', '-0.05', '-0.05'],
  [{ kind: 'double' }, 7, '7', '7', '7.0'],
  [{ kind: 'double' }, 1.5e300, '1.5e+300', '1.5e+300', '1.5e+300'],
  [{ kind: 'date' }, 19_782, '2024-02-29', '2024-02-29', '2024-02-29'],
  [{ kind: 'timestamp' }, 0n, '1970-01-01 00:00:00.000000', '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00Z'],
  [{ kind: 'timestamp' }, -1n, '1969-12-31 23:59:59.999999', '1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  [{ kind: 'timestamp_ntz' }, 0n, '1970-01-01 00:00:00.000000', '1970-01-01 00:00:00', '1970-01-01T00:00:00'],
  [{ kind: 'timestamp_ntz' }, 500_000n, '1970-01-01 00:00:00.500000', '1970-01-01 00:00:00.500000', '1970-01-01T00:00:00.5'],
];

describe('a partition value', () => {
  it.each(rows)('of %o, %s, is spelled as each place wants it, and every log spelling reads as the value', (type, value, ...texts) => {
    expect([partitionText(type, value, 'plain'), partitionText(type, value, 'log'), partitionText(type, value, 'path')]).toEqual(texts);
    const [plain, delta] = texts;
    expect([partitionValue(plain, type), partitionValue(delta, type)]).toEqual([value, value]);
  });

  it('keeps the sign of zero where a text can tell it', () => {
    expect([partitionText({ kind: 'double' }, -0, 'log'), partitionText({ kind: 'double' }, -0, 'path')]).toEqual(['-0.0', '-0.0']);
    expect(partitionValue('-0.0', { kind: 'double' })).toBe(-0);
  });

  it.each<[DataType, string]>([
    [{ kind: 'date' }, '2024-02-30'],
    [{ kind: 'timestamp' }, '2024-01-01 25:00:00'],
    [{ kind: 'decimal', precision: 3, scale: 2 }, '10.00'],
    [{ kind: 'list', element: { kind: 'string' }, elementNullable: true }, '[]'],
  ])('is none of %o when the text says %s', (type, text) => {
    expect(partitionValue(text, type)).toBeUndefined();
  });
});
