import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { columnStatistics } from '../../../src/codec/statistics.ts';
import { mergeStatistics, type PartialStatistics } from '../../../src/schema/merge-statistics.ts';
import type { StructType } from '../../../src/schema/types.ts';

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'long', type: { kind: 'long' }, nullable: true },
    { name: 'price', type: { kind: 'double' }, nullable: true },
    { name: 'amount', type: { kind: 'decimal', precision: 20, scale: 2 }, nullable: true },
    { name: 'text', type: { kind: 'string' }, nullable: true },
    { name: 'bytes', type: { kind: 'binary' }, nullable: true },
    { name: 'flag', type: { kind: 'boolean' }, nullable: true },
  ],
};
const rows: fc.Arbitrary<InputRow[]> = fc.array(
  fc.record({
    long: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    price: fc.option(fc.oneof(fc.double({ noDefaultInfinity: true }), fc.constant(Number.NaN), fc.integer())),
    amount: fc.option(fc.constantFrom('0.00', '-1.50', '99999999999999.99')),
    text: fc.option(fc.oneof(fc.string(), fc.constantFrom('\u{1f600}', '\uffff', 'ü'))),
    bytes: fc.option(fc.uint8Array({ maxLength: 3 })),
    flag: fc.option(fc.boolean()),
  }),
  { maxLength: 6 },
);
const statisticsOf = (part: readonly InputRow[]): PartialStatistics => ({
  rowCount: part.length,
  columns: columnStatistics(buildBatch(schema, part), { indexedColumns: -1 }),
});

describe('mergeStatistics', () => {
  it('gives what computing at once gives, for any rows in any parts', () => {
    fc.assert(
      fc.property(rows, rows, (left, right) => {
        // A column of infinities and negative zeros alike: bounds are compared by value.
        const plain = (value: PartialStatistics) =>
          value.columns.map((column) => ({ ...column, min: column.min === 0 ? 0 : column.min, max: column.max === 0 ? 0 : column.max }));
        expect(plain(mergeStatistics(statisticsOf(left), statisticsOf(right)))).toEqual(plain(statisticsOf([...left, ...right])));
      }),
    );
  });
});
