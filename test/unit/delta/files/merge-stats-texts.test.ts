import { describe, expect, it } from 'vitest';
import { mergeStatsTexts } from '../../../../src/delta/files/merge-stats-texts.ts';
import type { StructType } from '../../../../src/schema/types.ts';

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: true },
    { name: 's', type: { kind: 'struct', fields: [{ name: 't', type: { kind: 'string' }, nullable: true }] }, nullable: true },
    { name: 'd', type: { kind: 'double' }, nullable: true },
    { name: 'at', type: { kind: 'timestamp' }, nullable: true },
    { name: 'flag', type: { kind: 'boolean' }, nullable: true },
    { name: 'tags', type: { kind: 'list', element: { kind: 'string' }, elementNullable: true }, nullable: true },
  ],
};

const long = 'x'.repeat(32);
const first =
  '{"numRecords":3,"minValues":{"id":-9223372036854775808,"s":{"t":"b"},"d":1.5,"at":"2024-01-01T00:00:00.001Z"},' +
  `"maxValues":{"id":4,"s":{"t":"${long}\u{10ffff}"},"d":2.5,"at":"2024-01-01T01:00:00.000+01:00"},` +
  '"nullCount":{"id":0,"s":{"t":1},"d":0,"at":0,"flag":0,"tags":3}}';
const second =
  '{"numRecords":2,"minValues":{"id":9007199254740993,"s":{"t":"\uff5e"},"d":-7},"maxValues":{"id":9007199254740993,"s":{"t":"\uff5e"},"d":-7},' +
  '"nullCount":{"id":1,"s":{"t":0},"d":1,"at":2,"flag":2,"tags":1}}';

const merged = (texts: readonly (string | undefined)[], rowCounts: readonly number[], rule = {}): string | undefined =>
  mergeStatsTexts({ texts, rowCounts, storedSchema: schema, partitionColumns: [], rule });

describe('statistics out of those of several files', () => {
  it('add up counts and take the outer bounds, exactly, text by its bytes', () => {
    const [, maxText] = /"maxValues":\{"id":(\d+)/.exec(merged([first, second], [3, 2]) ?? '') ?? [];
    expect(maxText).toBe('9007199254740993');
    expect(JSON.parse(merged([first, second], [3, 2]) ?? '')).toEqual({
      numRecords: 5,
      minValues: { id: -9223372036854775808, s: { t: 'b' }, d: -7, at: '2024-01-01T00:00:00.001Z' },
      maxValues: { id: 9007199254740992, s: { t: '\uff5e' }, d: 2.5, at: '2024-01-01T00:00:00.000Z' },
      nullCount: { id: 1, s: { t: 1 }, d: 1, at: 2, flag: 2, tags: 4 },
    });
  });

  it('keep a bound of text that was cut as it is', () => {
    expect(merged([first, first], [3, 3])).toContain(`"t":"${long}\u{10ffff}"`);
  });

  it('have no bounds of doubles when a file has none, for NaN may be the reason', () => {
    const withNan = second.replaceAll(',"d":-7', '');
    const whole = JSON.parse(merged([first, withNan], [3, 2]) ?? '') as Record<string, Record<string, unknown>>;
    expect(whole['minValues']).not.toHaveProperty('d');
    expect(whole['maxValues']).not.toHaveProperty('d');
    expect(whole['nullCount']).toMatchObject({ d: 1 });
  });

  it('count lists only when all files do: some engines never count them', () => {
    const whole = JSON.parse(merged([first, second.replace(',"tags":1', '')], [3, 2]) ?? '') as Record<string, unknown>;
    expect(whole['nullCount']).toEqual({ id: 1, s: { t: 1 }, d: 1, at: 2, flag: 2 });
  });

  it.each([
    ['no statistics', undefined],
    ['damaged text', '{"numRecords":2'],
    ['another number of rows', second.replace('"numRecords":2', '"numRecords":3')],
    ['no count of nulls', second.replace('"id":1,', '')],
    ['more nulls than rows', second.replace('"id":1,', '"id":3,')],
    ['no smallest value', second.replace('"id":9007199254740993,', '')],
    ['a bound of another type', second.replace('"id":9007199254740993,', '"id":"x",')],
  ])('are not made of a file with %s', (_, text) => {
    expect(merged([first, text], [3, 2])).toBeUndefined();
  });

  it('are tight only when those of all files are', () => {
    const tight = { tightBounds: true };
    expect(merged([first, second], [3, 2], tight)).toContain('"tightBounds":true');
    expect(merged([first, second.replace('{', '{"tightBounds":false,')], [3, 2], tight)).toBeUndefined();
  });

  it('leave out columns that are not indexed, and need nothing of them', () => {
    const rule = { indexed: (path: readonly string[]) => path[0] === 'd' };
    expect(JSON.parse(merged([first, second.replace('"id":1,', '')], [3, 2], rule) ?? '')).toEqual({
      numRecords: 5,
      minValues: { d: -7 },
      maxValues: { d: 2.5 },
      nullCount: { d: 1 },
    });
  });
});
