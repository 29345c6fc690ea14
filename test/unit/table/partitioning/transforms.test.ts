import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printJson } from '../../../../src/base/bigint-json.ts';
import { buildColumn } from '../../../../src/codec/build-columns.ts';
import { valueAt } from '../../../../src/codec/rows.ts';
import { icebergTypeOf } from '../../../../src/iceberg/metadata/type-text.ts';
import { formatDecimal, parseDecimal } from '../../../../src/schema/decimal-text.ts';
import type { DataType } from '../../../../src/schema/types.ts';
import { applyTransform, resultType, type TransformValue } from '../../../../src/table/partitioning/apply-transform.ts';
import { murmur3 } from '../../../../src/table/partitioning/murmur3.ts';
import { parseTransform, type Transform } from '../../../../src/table/partitioning/transform.ts';
import { transformColumn } from '../../../../src/table/partitioning/transform-column.ts';
import { unscaledBytes, unscaledOf } from '../../../../src/table/partitioning/unscaled-bytes.ts';
import { textOf, vectorsOf } from '../../../support/iceberg-vectors.ts';

const epochDays = (text: string): number => {
  const [year = '', month = '', day = ''] = text.split('-');
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return Math.floor(date.getTime() / 86_400_000);
};

/** A value of the vectors in the form transforms take. */
function valueOf(type: DataType, text: unknown): NonNullable<TransformValue> {
  const plain = String(text);
  switch (type.kind) {
    case 'decimal':
      return parseDecimal(plain, 38, type.scale) ?? 0n;
    case 'date':
      return typeof text === 'number' ? text : epochDays(plain);
    case 'long':
      return BigInt(plain);
    case 'integer':
      return Number(text);
    case 'binary':
      return new Uint8Array(Buffer.from(plain, 'hex'));
    case 'string':
      return plain;
    default: {
      const [, date = '1970-01-01', hours, minutes, seconds, fraction = '0'] =
        /^(?:(.*)T)?(\d+):(\d+):(\d+)\.?(\d*)$/.exec(plain.replace(/(Z|\+00:00)$/, '')) ?? [];
      const nanos = type.kind.endsWith('_ns');
      const perSecond = nanos ? 1_000_000_000n : 1_000_000n;
      const ofDay = BigInt(Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
      return (BigInt(epochDays(date)) * 86_400n + ofDay) * perSecond + BigInt(fraction.padEnd(nanos ? 9 : 6, '0'));
    }
  }
}

describe('hashes of other implementations', () => {
  it.each(vectorsOf('bucket-hash').map((vector) => [textOf(vector, 'type'), printJson(vector['value'] ?? null), vector] as const))(
    '%s %s',
    (typeText, _, vector) => {
      const bytes = new Uint8Array(Buffer.from(textOf(vector, 'hashedBytes'), 'hex'));
      expect(murmur3(bytes, 0, bytes.length)).toBe(vector['hash']);
      const type = icebergTypeOf(typeText);
      // Types that cannot be bucketed are hashed by the specification for the sake of promotion alone.
      if (type === undefined || resultType({ kind: 'bucket', count: 16 }, type) === undefined) return;
      const value = valueOf(type, vector['value']);
      for (const count of [16, 100]) {
        const transform = { kind: 'bucket', count } as const;
        expect(applyTransform(transform, type, value)).toBe(vector[`bucket${count}`]);
        expect(valueAt(transformColumn(buildColumn(type, [stored(type, value)], 'c'), transform), 0)).toBe(vector[`bucket${count}`]);
      }
    },
  );
});

describe('transforms of other implementations', () => {
  it.each(
    vectorsOf('transforms').map(
      (vector) => [textOf(vector, 'transform'), textOf(vector, 'type'), printJson(vector['value'] ?? null), vector] as const,
    ),
  )('%s of %s %s', (transformText, typeText, _, vector) => {
    const transform = parseTransform(transformText);
    const type = icebergTypeOf(typeText);
    if (type === undefined) throw new TypeError(typeText);
    const target = resultType(transform, type);
    if (target === undefined) throw new TypeError(transformText);
    const expected = valueOf(target, vector['result']);
    const value = valueOf(type, vector['value']);
    expect(applyTransform(transform, type, value)).toEqual(expected);
    const column = transformColumn(buildColumn(type, [stored(type, value), null], 'c'), transform);
    expect(column.type).toEqual(target);
    expect([valueAt(column, 0), valueAt(column, 1)]).toEqual([stored(target, expected), null]);
  });
});

/** Columns show decimals as text. */
function stored(type: DataType, value: NonNullable<TransformValue>): NonNullable<TransformValue> {
  return type.kind === 'decimal' && typeof value === 'bigint' ? formatDecimal(value, type.scale) : value;
}

const columns: readonly (readonly [DataType, fc.Arbitrary<NonNullable<TransformValue>>])[] = [
  [{ kind: 'integer' }, fc.integer()],
  [{ kind: 'long' }, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [{ kind: 'decimal', precision: 38, scale: 3 }, fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n })],
  [{ kind: 'date' }, fc.integer({ min: -800_000, max: 3_000_000 })],
  [{ kind: 'time' }, fc.bigInt({ min: 0n, max: 86_399_999_999n })],
  [{ kind: 'timestamp' }, fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n })],
  [{ kind: 'timestamp_ntz_ns' }, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [{ kind: 'string' }, fc.string({ unit: 'grapheme' })],
  [{ kind: 'string', format: 'uuid' }, fc.uuid()],
  [{ kind: 'binary' }, fc.uint8Array({ maxLength: 12 })],
  [{ kind: 'boolean' }, fc.boolean()],
];
const transforms: readonly Transform[] = ['identity', 'void', 'bucket[7]', 'truncate[3]', 'year', 'month', 'day', 'hour'].map(
  parseTransform,
);

describe('transforms of whole columns', () => {
  const cases = columns.flatMap(([type, values]) =>
    transforms.map((transform) => ({ type, values, transform, title: `${transform.kind} of ${type.kind}` })),
  );

  it.each(cases)('$title is the same as of each value', ({ type, values, transform }) => {
    const target = resultType(transform, type);
    fc.assert(
      fc.property(fc.array(fc.option(values, { nil: undefined }), { maxLength: 20 }), (some) => {
        const column = buildColumn(
          type,
          some.map((value) => (value === undefined ? null : stored(type, value))),
          'c',
        );
        if (target === undefined) {
          expect(() => transformColumn(column, transform)).toThrow(expect.objectContaining({ code: 'PARTITION_TRANSFORM_REFUSED' }));
          return;
        }
        const result = transformColumn(column, transform);
        const each = some
          .map((value) => applyTransform(transform, type, value))
          .map((value) => (value === undefined ? null : stored(target, value)));
        expect(some.map((_, row) => valueAt(result, row))).toEqual(each);
      }),
      { seed: 4711, numRuns: 40 },
    );
  });
});

describe('transforms', () => {
  it('round down before 1970', () => {
    const micros: DataType = { kind: 'timestamp_ntz' };
    expect((['year', 'month', 'day', 'hour'] as const).map((kind) => applyTransform({ kind }, micros, -1n))).toEqual([-1, -1, -1, -1]);
    expect(applyTransform({ kind: 'truncate', width: 10 }, { kind: 'integer' }, -(2 ** 31))).toBe(2 ** 31 - 2);
    expect(applyTransform({ kind: 'truncate', width: 2 }, { kind: 'string' }, '𝄞𝄞𝄞')).toBe('𝄞𝄞');
  });

  it('that are not known or do not fit are refused, also of null', () => {
    expect(() => applyTransform(parseTransform('zorder[3]'), { kind: 'long' }, 1n)).toThrow('zorder[3]');
    expect(() => applyTransform({ kind: 'hour' }, { kind: 'date' }, undefined)).toThrow(
      'the transform hour cannot be applied to values of type date',
    );
  });

  it('hash the shortest form of decimals, which comes back', () => {
    expect([0n, -1n, 127n, 128n, -128n, -129n].map((value) => Buffer.from(unscaledBytes(value)).toString('hex'))).toEqual([
      '00',
      'ff',
      '7f',
      '0080',
      '80',
      'ff7f',
    ]);
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), (value) => {
        expect(unscaledOf(unscaledBytes(value))).toBe(value);
      }),
      { seed: 7 },
    );
  });
});
