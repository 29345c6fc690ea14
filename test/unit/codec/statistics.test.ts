import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { rowsOf } from '../../../src/codec/rows.ts';
import { columnStatistics } from '../../../src/codec/statistics.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import { schemaAndRows } from '../../support/random-batches.ts';

const all = { indexedColumns: -1 };
const one = (type: DataType, values: readonly InputRow['x'][]): unknown =>
  columnStatistics(
    buildBatch(
      { kind: 'struct', fields: [{ name: 'x', type, nullable: true }] },
      values.map((x) => ({ x })),
    ),
    all,
  )[0];

describe('column statistics', () => {
  const cases: readonly (readonly [DataType, readonly InputRow['x'][], object])[] = [
    [{ kind: 'long' }, [2n ** 63n - 1n, null, -(2n ** 63n), 2n ** 32n], { min: -(2n ** 63n), max: 2n ** 63n - 1n, nullCount: 1 }],
    [{ kind: 'long' }, [2n ** 32n + 5n, 2n ** 32n + 2n ** 31n], { min: 2n ** 32n + 5n, max: 2n ** 32n + 2n ** 31n, nullCount: 0 }],
    [{ kind: 'short' }, [-3, 7], { min: -3n, max: 7n, nullCount: 0 }],
    [{ kind: 'date' }, [-1, 0], { min: -1n, max: 0n, nullCount: 0 }],
    [{ kind: 'timestamp' }, [-1n, 1n], { min: -1n, max: 1n, nullCount: 0 }],
    [
      { kind: 'decimal', precision: 38, scale: 2 },
      ['-1.50', '99999999999999999999999999.99'],
      { min: -150n, max: 10n ** 28n - 1n, nullCount: 0 },
    ],
    [{ kind: 'double' }, [1.5, -2], { min: -2, max: 1.5, nanCount: 0, nullCount: 0 }],
    [{ kind: 'double' }, [0, -0], { min: -0, max: 0, nanCount: 0, nullCount: 0 }],
    [{ kind: 'double' }, [-0, null], { min: -0, max: -0, nanCount: 0, nullCount: 1 }],
    [{ kind: 'float' }, [1, Number.NaN, Number.NaN], { nanCount: 2, nullCount: 0 }],
    [{ kind: 'string' }, ['\u{10000}', '\uffff', 'abcde', 'abcd'], { min: 'abcd', max: '\u{10000}', nullCount: 0 }],
    [{ kind: 'string' }, ['', 'a\0', 'a'], { min: '', max: 'a\0', nullCount: 0 }],
    [{ kind: 'boolean' }, [true, null], { nullCount: 1 }],
    [{ kind: 'binary' }, [Uint8Array.of(1)], { nullCount: 0 }],
    [{ kind: 'list', element: { kind: 'long' }, elementNullable: true }, [[null], null], { nullCount: 1 }],
    [{ kind: 'long' }, [null, null], { nullCount: 2 }],
    [{ kind: 'long' }, [], { nullCount: 0 }],
  ];
  const titled = cases.map(([type, values, expected]) => ({
    title: `${type.kind} of ${values.map(String).join(', ')}`,
    type,
    values,
    expected,
  }));

  it.each(titled)('$title', ({ type, values, expected }) => {
    expect(one(type, values)).toEqual({ path: ['x'], ...expected });
  });

  it('values under a null struct are null, whatever their slots hold', () => {
    const inner: StructType = { kind: 'struct', fields: [{ name: 'v', type: { kind: 'long' }, nullable: false }] };
    const schema: StructType = { kind: 'struct', fields: [{ name: 's', type: inner, nullable: true }] };
    const batch = {
      schema,
      rowCount: 3,
      columns: [
        {
          layout: 'struct',
          type: inner,
          length: 3,
          nullCount: 2,
          validity: Uint8Array.of(0b010),
          children: [
            {
              layout: 'fixed',
              type: { kind: 'long' },
              length: 3,
              nullCount: 0,
              validity: undefined,
              values: BigInt64Array.of(-9n, 5n, 0n),
            },
          ],
        },
      ],
    } as const;
    expect(columnStatistics(batch, all)).toEqual([{ path: ['s', 'v'], nullCount: 2, min: 5n, max: 5n }]);
  });

  it('only the first leaves get bounds, all get null counts', () => {
    const type: DataType = { kind: 'long' };
    const schema: StructType = {
      kind: 'struct',
      fields: [
        { name: 's', type: { kind: 'struct', fields: ['a', 'b'].map((name) => ({ name, type, nullable: true })) }, nullable: true },
        { name: 'c', type, nullable: true },
      ],
    };
    const batch = buildBatch(schema, [{ s: { a: 1 }, c: 3 }]);
    expect(columnStatistics(batch, { indexedColumns: 1 })).toEqual([
      { path: ['s', 'a'], nullCount: 0, min: 1n, max: 1n },
      { path: ['s', 'b'], nullCount: 1 },
      { path: ['c'], nullCount: 0 },
    ]);
  });

  it('bounds are values of the column and enclose every value, for any schema', () => {
    fc.assert(
      fc.property(schemaAndRows, ({ schema, rows }) => {
        const batch = buildBatch(schema, rows);
        const read = [...rowsOf([batch])];
        for (const statistics of columnStatistics(batch, all)) {
          const values = read.map((row) =>
            statistics.path.reduce<unknown>((value, name) => (value === null ? null : (value as InputRow)[name]), row),
          );
          expect(statistics.nullCount).toBe(values.filter((value) => value === null).length);
          const { min, max } = statistics;
          if (typeof min !== 'bigint' && typeof min !== 'string') continue;
          const keys = values.filter((value) => value !== null).map((value) => orderKey(value, typeof min));
          expect([orderKey(min, typeof min), orderKey(max, typeof min)]).toEqual([
            keys.reduce(smaller),
            keys.reduce((left, right) => (smaller(left, right) === left ? right : left)),
          ]);
        }
      }),
      { numRuns: 150 },
    );
  });
});

// Text as hex of its UTF-8 bytes sorts in byte order; decimals are compared without their point.
function orderKey(value: unknown, kind: string): string | bigint {
  if (typeof value === 'bigint') return value;
  if (kind === 'bigint') return BigInt(String(value).replace('.', ''));
  return Buffer.from(String(value)).toString('hex');
}

function smaller(left: string | bigint, right: string | bigint): string | bigint {
  return left < right ? left : right;
}
