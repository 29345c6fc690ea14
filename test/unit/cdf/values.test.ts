import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../../../src/base/bigint-json.ts';
import { memberOf } from '../../../src/cdf/encoding/column-writers.ts';
import { rowFields } from '../../../src/cdf/encoding/event-type.ts';
import { jsonRows } from '../../../src/cdf/encoding/json-rows.ts';
import { RecordBuffer } from '../../../src/cdf/encoding/record-buffer.ts';
import { partitionColumn } from '../../../src/cdf/partition-column.ts';
import type { InputValue } from '../../../src/codec/build-columns.ts';
import { buildColumn } from '../../../src/codec/build-columns.ts';
import type { Column } from '../../../src/schema/columns.ts';
import { formatDecimal } from '../../../src/schema/decimal-text.ts';
import type { DataType } from '../../../src/schema/types.ts';
import { partitionValue } from '../../../src/table/partitioning/partition-text.ts';

function printed(type: DataType, value: InputValue): string {
  return printedColumn(buildColumn(type, [value], 'value'));
}

function printedColumn(column: Column): string {
  const out = new RecordBuffer();
  const { value: json } = jsonRows([]);
  const [field] = rowFields({ kind: 'struct', fields: [{ name: 'v', type: column.type, nullable: true }] }, json.forms);
  if (field === undefined) throw new Error('one field is given');
  json.notation.members([memberOf(field, column, json)])(out, 0);
  return out.text().slice('{"v":'.length);
}

it('prints text that reads back the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(parseJson(printed({ kind: 'string' }, text), 'text')).toBe(text);
    }),
  );
});

it('prints all digits of any long', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      expect(printed({ kind: 'long' }, value)).toBe(value.toString());
    }),
  );
  for (const value of [0n, 999_999_999n, 1_000_000_000n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), -(2n ** 53n) - 1n]) {
    expect(printed({ kind: 'long' }, value)).toBe(value.toString());
  }
});

it('prints decimals with all digits of their scale', () => {
  const type = (scale: number): DataType => ({ kind: 'decimal', precision: 38, scale });
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), fc.nat(38), fc.nat(38), (wide, shrink, scale) => {
      const text = formatDecimal(wide / 10n ** BigInt(shrink), scale);
      expect(printed(type(scale), text)).toBe(`"${text}"`);
    }),
  );
});

it('prints doubles and floats that read back the same', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Number(printed({ kind: 'double' }, value))).toBe(value);
    }),
  );
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Math.fround(Number(printed({ kind: 'float' }, value)))).toBe(value);
    }),
  );
});

it('prints doubles in the shortest digits that read back the same, as the platform does', () => {
  const decimal = fc.tuple(fc.maxSafeInteger(), fc.nat(9)).map(([unscaled, scale]) => Number(`${unscaled}e-${scale}`));
  const near = decimal.map((value) => value * (1 + Number.EPSILON));
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), decimal, near), (value) => {
      fc.pre(!Object.is(value, -0));
      expect(printed({ kind: 'double' }, value)).toBe(String(value));
    }),
    { numRuns: 2_000 },
  );
  for (const value of [1e-6, 1.5e-6, 1e-7, -0.5, 999_999_999.999_999, 1e21]) expect(printed({ kind: 'double' }, value)).toBe(String(value));
  expect(printed({ kind: 'double' }, -0)).toBe('-0.0');
});

it('prints timestamps as the platform does, to the microsecond', () => {
  const range = { min: Date.UTC(1, 0, 1) - 6e13, max: 253_402_300_799_999 };
  fc.assert(
    fc.property(fc.integer(range), fc.nat(999), (epochMs, micros) => {
      fc.pre(new Date(epochMs).getUTCFullYear() >= 0);
      const iso = new Date(epochMs).toISOString().replace('Z', `${micros.toString().padStart(3, '0')}Z`);
      const value = BigInt(epochMs) * 1000n + BigInt(micros);
      expect(printed({ kind: 'timestamp' }, value)).toBe(`"${iso}"`);
      expect(partitionValue(iso, { kind: 'timestamp' })).toBe(value);
    }),
  );
});

it('refuses partition text that is no value of its type', () => {
  const field = (type: DataType): { name: string; type: DataType; nullable: boolean } => ({ name: 'p', type, nullable: true });
  expect(printedColumn(partitionColumn(field({ kind: 'decimal', precision: 5, scale: 2 }), '1.5'))).toBe('"1.50"');
  for (const [type, text] of [
    [{ kind: 'date' }, '2024-02-30'],
    [{ kind: 'timestamp' }, 'yesterday'],
  ] as const) {
    expect(() => partitionColumn(field(type), text)).toThrow(`"${text}" is not a ${type.kind}`);
  }
});

it('prints a variant as the JSON it holds, and nothing of a void', () => {
  expect(printed({ kind: 'variant' }, { b: [1, 2.5, 'x'], a: null })).toBe('{"a":null,"b":[1,2.5,"x"]}');
  expect(printed({ kind: 'variant' }, undefined)).toBe('null');
  expect(printed({ kind: 'void' }, undefined)).toBe('null');
});
