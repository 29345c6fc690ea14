import fc from 'fast-check';
import type { InputRow, InputValue } from '../../src/codec/build-columns.ts';
import { formatDecimal } from '../../src/schema/decimal-text.ts';
import type { DataType, Field, StructType } from '../../src/schema/types.ts';

export interface SchemaAndRows {
  readonly schema: StructType;
  readonly rows: readonly InputRow[];
}

const scalarType: fc.Arbitrary<DataType> = fc.oneof(
  fc.constantFrom<DataType>(
    { kind: 'boolean' },
    { kind: 'byte' },
    { kind: 'short' },
    { kind: 'integer' },
    { kind: 'long' },
    { kind: 'float' },
    { kind: 'double' },
    { kind: 'string' },
    { kind: 'binary' },
    { kind: 'date' },
    { kind: 'timestamp' },
    { kind: 'timestamp_ntz' },
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38))
    .map(([precision, scale]): DataType => ({ kind: 'decimal', precision, scale: Math.min(precision, scale) })),
);

const anyType: fc.Memo<DataType> = fc.memo((depth) => {
  if (depth <= 1) return scalarType;
  return fc.oneof(
    { weight: 4, arbitrary: scalarType },
    { weight: 1, arbitrary: fieldsOf(anyType(depth - 1)).map((fields): DataType => ({ kind: 'struct', fields })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(anyType(depth - 1), fc.boolean())
        .map(([element, elementNullable]): DataType => ({ kind: 'list', element, elementNullable })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom<DataType>({ kind: 'string' }, { kind: 'long' }), anyType(depth - 1), fc.boolean())
        .map(([key, value, valueNullable]): DataType => ({ kind: 'map', key, value, valueNullable })),
    },
  );
});

function fieldsOf(type: fc.Arbitrary<DataType>): fc.Arbitrary<Field[]> {
  return fc
    .array(fc.tuple(type, fc.boolean()), { minLength: 1, maxLength: 4 })
    .map((members) => members.map(([memberType, nullable], index) => ({ name: `f${index}`, type: memberType, nullable })));
}

/** Schemas of any nesting with rows that fit them: extremes, nulls where allowed, empty and repeated values. */
export const schemaAndRows: fc.Arbitrary<SchemaAndRows> = fieldsOf(anyType(3)).chain((fields) => {
  const schema: StructType = { kind: 'struct', fields };
  return fc.array(rowOf(fields), { maxLength: 40 }).map((rows) => ({ schema, rows }));
});

function rowOf(fields: readonly Field[]): fc.Arbitrary<InputRow> {
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, maybe(valueOf(field.type), field.nullable)])));
}

function maybe(value: fc.Arbitrary<InputValue>, nullable: boolean): fc.Arbitrary<InputValue> {
  return nullable ? fc.option(value, { nil: null, freq: 4 }) : value;
}

const long = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, 0n, -1n),
);
// A repeated value here and there, so that dictionaries come into play.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', 'paid', 'paid', '\u{10ffff}', '\uffff', 'z'.repeat(300)),
);

function valueOf(type: DataType): fc.Arbitrary<InputValue> {
  switch (type.kind) {
    case 'variant':
      return fc.oneof(fc.string(), fc.integer(), fc.boolean());
    case 'void':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'byte':
      return fc.integer({ min: -128, max: 127 });
    case 'short':
      return fc.integer({ min: -32_768, max: 32_767 });
    case 'integer':
    case 'date':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return long;
    case 'time':
      return fc.bigInt({ min: 0n, max: 86_399_999_999n });
    case 'float':
      return fc.float();
    case 'double':
      return fc.oneof(fc.double(), fc.constantFrom(-0, 0, Number.NaN, Number.POSITIVE_INFINITY));
    case 'decimal': {
      const limit = 10n ** BigInt(type.precision) - 1n;
      return fc
        .oneof(fc.bigInt({ min: -limit, max: limit }), fc.constantFrom(-limit, limit))
        .map((unscaled) => formatDecimal(unscaled, type.scale));
    }
    case 'string':
      return text;
    case 'binary':
      return fc.uint8Array({ maxLength: 20 });
    case 'struct':
      return rowOf(type.fields);
    case 'list':
      return fc.array(maybe(valueOf(type.element), type.elementNullable), { maxLength: 4 });
    case 'map':
      return fc
        .uniqueArray(fc.tuple(valueOf(type.key), maybe(valueOf(type.value), type.valueNullable)), {
          maxLength: 4,
          selector: ([key]) => key,
        })
        .map((entries) => new Map(entries));
  }
}
