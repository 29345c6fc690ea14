import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lowerPrefix, statsText, upperPrefix } from '../../../src/delta/stats-text.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import type { BoundValue, ColumnStatistics } from '../../../src/table/staged-file.ts';

function stats(type: DataType, column: Omit<ColumnStatistics, 'path' | 'nullCount'>, nullCount = 0): string {
  const schema: StructType = { kind: 'struct', fields: [{ name: 'c', type, nullable: true }] };
  const file = {
    path: 'f',
    partitionValues: {},
    sizeBytes: 1,
    rowCount: 3,
    modifiedMs: 0,
    statistics: [{ path: ['c'], nullCount, ...column }],
  };
  return statsText(file, schema, []);
}

function bounds(type: DataType, min: BoundValue, max: BoundValue): string {
  return stats(type, { min, max });
}

const written = (min: string, max: string): string =>
  `{"numRecords":3,"minValues":{"c":${min}},"maxValues":{"c":${max}},"nullCount":{"c":0}}`;
const unbounded = '{"numRecords":3,"minValues":{},"maxValues":{},"nullCount":{"c":0}}';

describe('statsText', () => {
  it('writes integers beyond 2^53 exactly', () => {
    expect(bounds({ kind: 'long' }, -9_223_372_036_854_775_808n, 9_007_199_254_740_993n)).toBe(
      written('-9223372036854775808', '9007199254740993'),
    );
  });

  it('writes decimals as plain numbers with all digits of the scale', () => {
    const type: DataType = { kind: 'decimal', precision: 38, scale: 10 };
    expect(bounds(type, -5n, 99_999_999_999_999_999_999_999_999_999_999_999_999n)).toBe(
      written('-0.0000000005', '9999999999999999999999999999.9999999999'),
    );
  });

  it('rounds timestamps to milliseconds outwards: down for the smallest, up for the largest', () => {
    expect(bounds({ kind: 'timestamp' }, 1_123_999n, 1_123_001n)).toBe(written('"1970-01-01T00:00:01.123Z"', '"1970-01-01T00:00:01.124Z"'));
    expect(bounds({ kind: 'timestamp' }, -1n, -1n)).toBe(written('"1969-12-31T23:59:59.999Z"', '"1970-01-01T00:00:00.000Z"'));
    expect(bounds({ kind: 'timestamp' }, 5_000n, 5_000n)).toBe(written('"1970-01-01T00:00:00.005Z"', '"1970-01-01T00:00:00.005Z"'));
  });

  it('writes local timestamps without zone and dates by calendar', () => {
    expect(bounds({ kind: 'timestamp_ntz' }, 0n, 1_000n)).toBe(written('"1970-01-01T00:00:00.000"', '"1970-01-01T00:00:00.001"'));
    expect(bounds({ kind: 'date' }, -719_162n, 2_932_896n)).toBe(written('"0001-01-01"', '"9999-12-31"'));
  });

  it('leaves out bounds no other engine could parse', () => {
    expect(bounds({ kind: 'date' }, -719_163n, 2_932_897n)).toBe(unbounded);
    expect(bounds({ kind: 'double' }, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).toBe(unbounded);
    expect(stats({ kind: 'double' }, { min: 1, max: 2, nanCount: 1 })).toBe(unbounded);
  });

  it('writes no bounds for a column of nulls', () => {
    expect(stats({ kind: 'long' }, { min: 1n, max: 1n }, 3)).toBe('{"numRecords":3,"minValues":{},"maxValues":{},"nullCount":{"c":3}}');
  });

  it('nests members of structs and leaves partition columns out', () => {
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 'p', type: { kind: 'string' }, nullable: true },
        { name: 's', type: { kind: 'struct', fields: [{ name: 'a"b', type: { kind: 'integer' }, nullable: true }] }, nullable: true },
      ],
    };
    const statistics: readonly ColumnStatistics[] = [
      { path: ['p'], nullCount: 0, min: 'x', max: 'x' },
      { path: ['s', 'a"b'], nullCount: 1, min: 1n, max: 2n },
    ];
    const file = { path: 'f', partitionValues: {}, sizeBytes: 1, rowCount: 2, modifiedMs: 0, statistics };
    expect(statsText(file, schema, ['p'])).toBe(
      '{"numRecords":2,"minValues":{"s":{"a\\"b":1}},"maxValues":{"s":{"a\\"b":2}},"nullCount":{"s":{"a\\"b":1}}}',
    );
  });

  it('cuts long strings with a tie-breaker above them', () => {
    expect(upperPrefix('a'.repeat(32))).toBe('a'.repeat(32));
    expect(upperPrefix('a'.repeat(33))).toBe(`${'a'.repeat(32)}\u007f`);
    expect(upperPrefix(`${'a'.repeat(32)}é`)).toBe(`${'a'.repeat(32)}\u{10ffff}`);
    expect(upperPrefix('\u{10ffff}'.repeat(40))).toBeUndefined();
    expect(lowerPrefix(`${'a'.repeat(31)}😀`)).toBe('a'.repeat(31));
  });

  it('bounds every string from both sides in UTF-8 order, without splitting a character', () => {
    const unit = fc.constantFrom('a', '~', '\u007f', 'é', '\uffff', '😀', '\u{10ffff}');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 80 }), (units) => {
        const text = units.join('');
        const value = Buffer.from(text);
        const upper = upperPrefix(text);
        expect(Buffer.compare(Buffer.from(lowerPrefix(text)), value)).toBeLessThanOrEqual(0);
        expect(lowerPrefix(text)).not.toMatch(/\p{Surrogate}/u);
        if (upper !== undefined) expect(Buffer.compare(Buffer.from(upper), value)).toBeGreaterThanOrEqual(0);
        if (upper !== undefined) expect(upper).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
