import { describe, expect, it } from 'vitest';
import { buildColumn } from '../../../../src/codec/build-columns.ts';
import { ThetaSketch } from '../../../../src/codec/theta/theta-sketch.ts';
import type { PartitionValue } from '../../../../src/iceberg/metadata/content-file.ts';
import { encodeSingleValue } from '../../../../src/iceberg/metadata/single-value.ts';
import { addValues } from '../../../../src/iceberg/operations/statistics/add-values.ts';
import type { DataType } from '../../../../src/schema/types.ts';

type Value = NonNullable<PartitionValue>;

/** Types with values of columns, and as the binary form takes them where that differs. */
const cases: readonly (readonly [DataType, readonly Value[], ((value: Value) => Value)?])[] = [
  [{ kind: 'boolean' }, [true, false]],
  [{ kind: 'byte' }, [-1, 0, 127]],
  [{ kind: 'short' }, [-1, 0, 32_767]],
  [{ kind: 'integer' }, [-1, 0, 2_147_483_647]],
  [{ kind: 'long' }, [-1n, 0n, 2n ** 62n]],
  [{ kind: 'float' }, [-1.5, 0, 0.25]],
  [{ kind: 'double' }, [-1.5, 0, 0.1]],
  [{ kind: 'date' }, [-1, 0, 18_000]],
  [{ kind: 'time' }, [0n, 1n, 86_399_999_999n]],
  [{ kind: 'timestamp' }, [-1n, 0n, 1_600_000_000_000_000n]],
  [{ kind: 'timestamp_ntz_ns' }, [-1n, 0n, 1_600_000_000_000_000_001n]],
  [
    { kind: 'decimal', precision: 30, scale: 2 },
    ['-1.00', '0.01', '123456789012345678901234.56'],
    (text) => BigInt(String(text).replace('.', '')),
  ],
  [{ kind: 'string' }, ['a', 'ü', 'a longer text than a block of sixteen bytes']],
  [{ kind: 'string', format: 'uuid' }, ['00000000-0000-4000-8000-000000000001', '123e4567-e89b-42d3-a456-426614174000']],
  [{ kind: 'binary' }, [Uint8Array.of(1), Uint8Array.of(0, 1, 2)]],
];

describe('addValues', () => {
  it.each(cases.map(([type, values, stored]) => [type.kind, { type, values, stored }] as const))(
    'feeds a sketch the binary form of %s values',
    (_, { type, values, stored = (value) => value }) => {
      const [of, expected] = [new ThetaSketch(), new ThetaSketch()];
      addValues(of, buildColumn(type, [undefined, ...values, undefined, ...values], 'c'));
      for (const value of values) expected.add(encodeSingleValue(type, stored(value)) ?? new Uint8Array(0));
      expect(of.compact()).toEqual(expected.compact());
      expect(of.compact().estimate).toBe(values.length);
    },
  );

  it('finds no value where there is none', () => {
    const sketch = new ThetaSketch();
    addValues(sketch, buildColumn({ kind: 'void' }, [undefined, undefined], 'c'));
    expect(sketch.compact().estimate).toBe(0);
  });
});
