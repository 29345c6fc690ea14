import { describe, expect, it } from 'vitest';
import { parsedStatsText } from '../../../src/delta/checkpoint/parsed-stats-text.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';

const schemaOf = (columns: Readonly<Record<string, DataType>>): StructType => ({
  kind: 'struct',
  fields: Object.entries(columns).map(([name, type]) => ({ name, type, nullable: true })),
});

describe('parsedStatsText', () => {
  it('spells bounds as the log has them elsewhere, never narrower', () => {
    const schema = schemaOf({
      d: { kind: 'date' },
      t: { kind: 'timestamp' },
      n: { kind: 'timestamp_ntz' },
      m: { kind: 'decimal', precision: 9, scale: 2 },
      x: { kind: 'double' },
      s: { kind: 'struct', fields: [{ name: 'd', type: { kind: 'date' }, nullable: true }] },
    });
    const bounds = { d: 19_782, t: 1_000_001, n: -1, m: '-5.50', x: Number.NaN, s: { d: null }, gone: 5 };
    const text = parsedStatsText(
      { numRecords: 3, minValues: bounds, maxValues: bounds, nullCount: { d: 0, s: { d: 3 }, x: null } },
      schema,
    );
    expect(JSON.parse(text ?? '')).toEqual({
      numRecords: 3,
      minValues: { d: '2024-02-29', t: '1970-01-01T00:00:01.000Z', n: '1969-12-31T23:59:59.999', m: -5.5, s: {} },
      maxValues: { d: '2024-02-29', t: '1970-01-01T00:00:01.001Z', n: '1970-01-01T00:00:00.000', m: -5.5, s: {} },
      nullCount: { d: 0, s: { d: 3 } },
    });
  });

  it('leaves the bounds out when nothing says what they are, and everything when there is no row count', () => {
    expect(parsedStatsText({ numRecords: 3, minValues: { d: 5 }, nullCount: { d: 0 } }, undefined)).toBe(
      '{"numRecords":3,"nullCount":{"d":0}}',
    );
    expect(parsedStatsText({ numRecords: null, minValues: {} }, schemaOf({}))).toBeUndefined();
    expect(parsedStatsText(undefined, schemaOf({}))).toBeUndefined();
  });
});
