import fc from 'fast-check';
import type { InputRow, InputValue } from '../../../src/codec/build-columns.ts';
import { formatDecimal } from '../../../src/schema/decimal-text.ts';
import type { DataType, Field } from '../../../src/schema/types.ts';

/** The years 1 to 9999, which all engines have. */
const calendar = {
  firstDay: -719_162,
  lastDay: 2_932_896,
  firstMicro: -62_135_596_800_000_000n,
  lastMicro: 253_402_300_799_999_999n,
} as const;

/** Text that has led programs astray: joined and combining marks, pairs of surrogates, the order of UTF-16, marks of files, SQL and paths. */
const notableTexts = [
  '',
  ' ',
  '\0',
  '\ufeffmark',
  'e\u0301',
  'é',
  '\u{1f469}\u200d\u{1f4bb}',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
  '\ud800',
  'z'.repeat(31),
  'z'.repeat(40),
  '\u{10ffff}'.repeat(33),
  '\ud7ff'.repeat(40),
  "it's",
  'a"b`c\\d',
  '%25 /:?#[]=',
  '..',
  '__HIVE_DEFAULT_PARTITION__',
  'null',
  'NaN',
  '1',
  'ß İ ı ſ',
  'line\nline\r\ttab',
] as const;

const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...notableTexts),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 48 }),
);

const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 12 });

const longs = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n, 1n),
);

const micros = fc.oneof(
  fc.bigInt({ min: calendar.firstMicro, max: calendar.lastMicro }),
  fc.constantFrom(calendar.firstMicro, calendar.lastMicro, 0n, -1n, 1n, -1001n, 999n, 1_709_164_800_000_001n),
);

const days = fc.oneof(
  fc.integer({ min: calendar.firstDay, max: calendar.lastDay }),
  fc.constantFrom(calendar.firstDay, calendar.lastDay, 0, -1, 11_016, 19_782),
);

function integers(bits: number): fc.Arbitrary<number> {
  const [min, max] = [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, 0, -1, 1));
}

/** Values of a type that are not null themselves. */
export function valueOf(type: DataType): fc.Arbitrary<InputValue> {
  switch (type.kind) {
    case 'variant':
      return fc.oneof(fc.string(), fc.integer(), fc.boolean());
    case 'void':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'byte':
      return integers(8);
    case 'short':
      return integers(16);
    case 'integer':
      return integers(32);
    case 'date':
      return days;
    case 'long':
      return longs;
    case 'timestamp':
    case 'timestamp_ntz':
      return micros;
    case 'time':
      return fc.bigInt({ min: 0n, max: 86_399_999_999n });
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
    case 'float':
      return fc.oneof(fc.float(), fc.constantFrom(-0, 0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Math.fround(0.1)));
    case 'double':
      return fc.oneof(fc.double(), fc.constantFrom(-0, 0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1, 5e-324));
    case 'decimal': {
      const limit = 10n ** BigInt(type.precision) - 1n;
      return fc
        .oneof(fc.bigInt({ min: -limit, max: limit }), fc.constantFrom(-limit, limit, 0n, limit - 1n))
        .map((unscaled) => formatDecimal(unscaled, type.scale));
    }
    case 'string':
      return text;
    case 'binary':
      return bytes;
    case 'struct':
      return rowOf(type.fields);
    case 'list':
      return fc.array(maybe(valueOf(type.element), type.elementNullable), { maxLength: 3 });
    case 'map':
      return fc
        .uniqueArray(fc.tuple(valueOf(type.key), maybe(valueOf(type.value), type.valueNullable)), { maxLength: 3, selector: keyOf })
        .map((entries) => new Map(entries));
  }
}

/** Rows of these fields, null where that is allowed. */
export function rowOf(fields: readonly Field[]): fc.Arbitrary<InputRow> {
  const members = fields.map((field) => maybe(valueOf(field.type), field.nullable));
  return fc.tuple(...members).map((values) => Object.fromEntries(fields.map((field, index) => [field.name, values[index]])));
}

function maybe(value: fc.Arbitrary<InputValue>, nullable: boolean): fc.Arbitrary<InputValue> {
  return nullable ? fc.option(value, { nil: null, freq: 4 }) : value;
}

/** Lone surrogates, which UTF-8 has not, are one character in a column; zeros of both signs are one key. */
function keyOf([key]: readonly [InputValue, InputValue]): string {
  if (typeof key === 'string') return wellFormed(key);
  return typeof key === 'number' || typeof key === 'bigint' ? `${key}` : '';
}

/** The text as UTF-8 holds it. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString('utf8');
}
