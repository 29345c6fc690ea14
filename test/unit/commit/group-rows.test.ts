import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { buildColumn, type InputValue } from '../../../src/codec/build-columns.ts';
import { groupRows } from '../../../src/commit/group-rows.ts';
import type { DataType } from '../../../src/schema/types.ts';

const kinds: readonly { readonly type: DataType; readonly valueOf: (value: number) => InputValue }[] = [
  { type: { kind: 'boolean' }, valueOf: (value) => value % 2 === 1 },
  { type: { kind: 'short' }, valueOf: (value) => value },
  { type: { kind: 'integer' }, valueOf: (value) => value << 16 },
  { type: { kind: 'long' }, valueOf: (value) => BigInt(value) << 32n },
  { type: { kind: 'decimal', precision: 38, scale: 0 }, valueOf: (value) => String(BigInt(value) << 64n) },
  { type: { kind: 'string' }, valueOf: (value) => `${'x'.repeat(value % 7)}${value}` },
];

describe('rows are grouped by their values', () => {
  it.each(kinds)('of $type.kind, in the order in which they first come, null as a value of its own', ({ type, valueOf }) => {
    const random = new SeededRandom(7);
    // More groups than the table of groups has places at first.
    const given = Array.from({ length: 9_000 }, () => Math.floor(random.next() * 4_000));
    const values = given.map((value) => (value === 0 ? null : valueOf(value)));
    const places = new Map<string, number>();
    const expected = given.map((value) => {
      const text = value === 0 ? 'null' : String(type.kind === 'boolean' ? value % 2 : value);
      const place = places.get(text) ?? places.size;
      places.set(text, place);
      return place;
    });
    const seen: number[] = [];
    const { codes, count } = groupRows([buildColumn(type, values, 'v')], values.length, (groups) => seen.push(groups));
    expect([...codes]).toEqual(expected);
    expect(count).toBe(places.size);
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  });

  it('of several columns by all of them', () => {
    const left = buildColumn({ kind: 'long' }, [1n, 1n, 2n, 1n, 2n], 'l');
    const right = buildColumn({ kind: 'string' }, ['a', 'b', 'a', 'a', null], 'r');
    const { codes, count } = groupRows([left, right], 5, () => undefined);
    expect([...codes]).toEqual([0, 1, 2, 0, 3]);
    expect(count).toBe(4);
  });
});
