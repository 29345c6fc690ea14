import * as arrow from 'apache-arrow';
import { assert, assertNever } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { Column, FixedValues } from '../../schema/columns.ts';
import { describeType } from '../../schema/describe-type.ts';
import { type FixedKind, fixedValues, nullColumn } from '../../schema/null-column.ts';
import { takeColumn } from '../../schema/take.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { variantStruct } from '../../schema/variant-type.ts';
import { bytesParts } from './arrow-bytes.ts';
import { arrowTypeText } from './arrow-schema.ts';
import { uuidTexts } from './fixed-bytes.ts';

type Base = Pick<Column, 'type' | 'length' | 'nullCount' | 'validity'>;

/**
 * Arrow data as a column of `type`, over the same buffers where the layouts agree. Casts what loses nothing: narrower integers,
 * floats and decimals to wider ones, all timestamp units to microseconds (finer ones rounded down) or nanoseconds, strings to binary and back.
 *
 * @throws ServiceError `PARQUET_TYPE_MISMATCH` (kind unsupported) when the stored type cannot become `type`.
 */
export function toColumn(data: arrow.Data, type: DataType, where: string): Column {
  assert(data.offset === 0, `arrow data of "${where}" starts at ${data.offset}, expected 0`);
  if (arrow.DataType.isNull(data.type)) return nullColumn(type, data.length);
  if (arrow.DataType.isDictionary(data.type)) return dictionaryColumn(data, type, where);
  const base = baseOf(data, type);
  switch (type.kind) {
    case 'struct':
      return { ...base, layout: 'struct', children: structChildren(data, type, where) };
    case 'variant':
      // Parts of a shredded value lie in a third column: without it the others tell something else.
      if (arrow.DataType.isStruct(data.type) && data.type.children.some(({ name }) => name === 'typed_value'))
        throw mismatch(data.type, type, where);
      return { ...base, layout: 'struct', children: structChildren(data, variantStruct, where) };
    case 'void':
      return nullColumn(type, data.length);
    case 'list': {
      if (!arrow.DataType.isList(data.type) && !arrow.DataType.isLargeList(data.type)) throw mismatch(data.type, type, where);
      return { ...base, layout: 'list', offsets: offsetsOf(data), element: toColumn(childOf(data, 0), type.element, `${where}.element`) };
    }
    case 'map': {
      if (!arrow.DataType.isMap(data.type)) throw mismatch(data.type, type, where);
      const entries = childOf(data, 0);
      return {
        ...base,
        layout: 'map',
        offsets: offsetsOf(data),
        keys: toColumn(childOf(entries, 0), type.key, `${where}.key`),
        values: toColumn(childOf(entries, 1), type.value, `${where}.value`),
      };
    }
    case 'string':
      if (type.format === 'uuid' && arrow.DataType.isFixedSizeBinary(data.type)) {
        const texts = uuidTexts(data.values as Uint8Array, data.length, (row) => data.getValid(row));
        return { ...base, layout: 'bytes', ...texts };
      }
      return { ...base, layout: 'bytes', ...(bytesParts(data) ?? fail(mismatch(data.type, type, where))) };
    case 'binary':
      return { ...base, layout: 'bytes', ...(bytesParts(data) ?? fail(mismatch(data.type, type, where))) };
    case 'boolean':
      if (!arrow.DataType.isBool(data.type)) throw mismatch(data.type, type, where);
      return { ...base, layout: 'boolean', bits: data.values as unknown as Uint8Array };
    case 'decimal':
      return { ...base, layout: 'decimal', words: decimalWords(data, type, where) };
    default:
      return { ...base, layout: 'fixed', values: fixedOf(data, type.kind) ?? fail(mismatch(data.type, type, where)) };
  }
}

/** Children of a struct by name; fields the data lacks are null. */
export function structChildren(data: arrow.Data, type: StructType, where: string): Column[] {
  if (!arrow.DataType.isStruct(data.type)) throw mismatch(data.type, type, where);
  const stored = data.type.children;
  return type.fields.map((field) => {
    const index = stored.findIndex((candidate) => candidate.name === field.name);
    const path = where === '' ? field.name : `${where}.${field.name}`;
    return index < 0 ? nullColumn(field.type, data.length) : toColumn(childOf(data, index), field.type, path);
  });
}

function baseOf(data: arrow.Data, type: DataType): Base {
  const { length, nullCount } = data;
  return { type, length, nullCount, validity: nullCount === 0 ? undefined : data.nullBitmap };
}

function childOf(data: arrow.Data, index: number): arrow.Data {
  const child = data.children[index];
  return child ?? fail(serviceError.corrupt('PARQUET_CORRUPT', `arrow data lacks child ${index}`));
}

function offsetsOf(data: arrow.Data): Int32Array {
  // The library leaves out the offsets of zero values.
  if (data.length === 0) return new Int32Array(1);
  // 64-bit offsets of large lists fit: more than 2^31 entries do not fit into the library's memory.
  return arrow.DataType.isLargeList(data.type)
    ? Int32Array.from(data.valueOffsets as unknown as BigInt64Array, Number)
    : (data.valueOffsets as Int32Array);
}

const integerRank: Readonly<Record<string, number>> = { byte: 8, short: 16, integer: 32, long: 64 };

function fixedOf(data: arrow.Data, kind: FixedKind): FixedValues | undefined {
  const stored = data.type;
  if (arrow.DataType.isTimestamp(stored)) return instantsOf(data, stored.unit, kind);
  if (arrow.DataType.isTime(stored)) return kind === 'time' ? timesOf(data, stored.unit) : undefined;
  if (arrow.DataType.isDate(stored)) return datesOf(data, stored.unit, kind);
  if (arrow.DataType.isFloat(stored)) return floatsOf(data, stored.precision, kind);
  if (!arrow.DataType.isInt(stored)) return undefined;
  const bits = stored.isSigned ? stored.bitWidth : stored.bitWidth * 2;
  if (kind === 'double' && bits <= 32) return Float64Array.from(data.values as Int32Array);
  const wanted = integerRank[kind];
  if (wanted === undefined || bits > wanted) return undefined;
  if (stored.isSigned && stored.bitWidth === wanted) return data.values as FixedValues;
  return widen(data.values as Int32Array, fixedValues(kind, data.length));
}

function widen(source: ArrayLike<number>, target: FixedValues): FixedValues {
  for (let index = 0; index < target.length; index++) {
    const value = source[index] ?? 0;
    if (target instanceof BigInt64Array) target[index] = BigInt(value);
    else target[index] = value;
  }
  return target;
}

function floatsOf(data: arrow.Data, precision: arrow.Precision, kind: FixedKind): FixedValues | undefined {
  if (precision === arrow.Precision.DOUBLE) return kind === 'double' ? (data.values as Float64Array) : undefined;
  if (precision !== arrow.Precision.SINGLE) return undefined;
  if (kind === 'float') return data.values as Float32Array;
  return kind === 'double' ? Float64Array.from(data.values as Float32Array) : undefined;
}

const microsPerDay = 86_400_000_000n;

function datesOf(data: arrow.Data, unit: arrow.DateUnit, kind: FixedKind): FixedValues | undefined {
  if (unit === arrow.DateUnit.DAY && kind === 'date') return data.values as Int32Array;
  if (kind !== 'timestamp_ntz') return undefined;
  if (unit === arrow.DateUnit.DAY) return BigInt64Array.from(data.values as Int32Array, (day) => BigInt(day) * microsPerDay);
  return BigInt64Array.from(data.values as BigInt64Array, (millis) => millis * 1000n);
}

function instantsOf(data: arrow.Data, unit: arrow.TimeUnit, kind: FixedKind): BigInt64Array | undefined {
  if (kind === 'timestamp' || kind === 'timestamp_ntz') return microsOf(data, unit);
  if (kind !== 'timestamp_ns' && kind !== 'timestamp_ntz_ns') return undefined;
  return unit === arrow.TimeUnit.NANOSECOND ? (data.values as BigInt64Array) : microsOf(data, unit).map((micros) => micros * 1000n);
}

function timesOf(data: arrow.Data, unit: arrow.TimeUnit): BigInt64Array {
  if (unit === arrow.TimeUnit.MICROSECOND) return data.values as BigInt64Array;
  if (unit === arrow.TimeUnit.NANOSECOND) return (data.values as BigInt64Array).map((nanos) => nanos / 1000n);
  const factor = unit === arrow.TimeUnit.SECOND ? 1_000_000n : 1000n;
  return BigInt64Array.from(data.values as Int32Array, (value) => BigInt(value) * factor);
}

function microsOf(data: arrow.Data, unit: arrow.TimeUnit): BigInt64Array {
  const values = data.values as BigInt64Array;
  switch (unit) {
    case arrow.TimeUnit.MICROSECOND:
      return values;
    case arrow.TimeUnit.SECOND:
      return values.map((value) => value * 1_000_000n);
    case arrow.TimeUnit.MILLISECOND:
      return values.map((value) => value * 1000n);
    case arrow.TimeUnit.NANOSECOND:
      // Division of a bigint truncates towards zero; instants before 1970 have to go down.
      return values.map((value) => (value < 0n ? (value - 999n) / 1000n : value / 1000n));
    default:
      return assertNever(unit);
  }
}

function decimalWords(data: arrow.Data, type: DataType & { kind: 'decimal' }, where: string): BigInt64Array {
  const stored = data.type;
  if (arrow.DataType.isInt(stored) && stored.isSigned) return decimalsOfIntegers(data, stored.bitWidth, type, where);
  if (!arrow.DataType.isDecimal(stored) || stored.bitWidth > 128) throw mismatch(stored, type, where);
  const shift = type.scale - stored.scale;
  if (shift < 0 || type.precision - type.scale < stored.precision - stored.scale) throw mismatch(stored, type, where);
  const words =
    stored.bitWidth === 128 ? pairs(data.values as Uint32Array) : signExtended(data.values as Uint32Array, stored.bitWidth, data.length);
  return shift === 0 ? words : rescaled(words, 10n ** BigInt(shift));
}

function decimalsOfIntegers(data: arrow.Data, bitWidth: number, type: DataType & { kind: 'decimal' }, where: string): BigInt64Array {
  if (type.precision - type.scale < (digitsOfIntegers[bitWidth] ?? Number.POSITIVE_INFINITY)) throw mismatch(data.type, type, where);
  const values = data.values as ArrayLike<number | bigint>;
  const words = new BigInt64Array(2 * data.length);
  for (let index = 0; index < data.length; index++) {
    const value = BigInt(values[index] ?? 0);
    words[2 * index] = value;
    words[2 * index + 1] = value >> 63n;
  }
  return type.scale === 0 ? words : rescaled(words, 10n ** BigInt(type.scale));
}

/** That all integers of so many bits have at most. */
const digitsOfIntegers: Readonly<Record<number, number>> = { 8: 3, 16: 5, 32: 10, 64: 19 };

function pairs(values: Uint32Array): BigInt64Array {
  if (values.byteOffset % 8 === 0) return new BigInt64Array(values.buffer, values.byteOffset, values.byteLength >> 3);
  return new BigInt64Array(values.slice().buffer);
}

function signExtended(values: Uint32Array, bitWidth: number, length: number): BigInt64Array {
  const words = new BigInt64Array(2 * length);
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  for (let index = 0; index < length; index++) {
    const low = bitWidth === 32 ? BigInt(view.getInt32(4 * index, true)) : view.getBigInt64(8 * index, true);
    words[2 * index] = low;
    words[2 * index + 1] = low >> 63n;
  }
  return words;
}

function rescaled(words: BigInt64Array, factor: bigint): BigInt64Array {
  const target = new BigInt64Array(words.length);
  for (let index = 0; index < words.length; index += 2) {
    const value = (((words[index + 1] ?? 0n) << 64n) | BigInt.asUintN(64, words[index] ?? 0n)) * factor;
    target[index] = BigInt.asIntN(64, value);
    target[index + 1] = value >> 64n;
  }
  return target;
}

function dictionaryColumn(data: arrow.Data, type: DataType, where: string): Column {
  // A dictionary is decoded by giving every index its value; only foreign writers' schema hints produce one.
  const dictionary = data.dictionary;
  if (dictionary === undefined) throw mismatch(data.type, type, where);
  const values = dictionary.data.map((chunk) => toColumn(chunk as arrow.Data, type, where));
  const [only] = values;
  if (only === undefined || values.length > 1) throw mismatch(data.type, type, where);
  const indices = Int32Array.from(data.values as ArrayLike<number>, Number);
  if (data.nullCount > 0) for (let index = 0; index < data.length; index++) if (!data.getValid(index)) indices[index] = -1;
  return takeColumn(only, indices.subarray(0, data.length));
}

function mismatch(stored: arrow.DataType, type: DataType, where: string): ServiceError {
  return serviceError.unsupported(
    'PARQUET_TYPE_MISMATCH',
    `column "${where}" is stored as ${arrowTypeText(stored)}, which cannot be read as ${describeType(type)}`,
  );
}

function fail(error: ServiceError): never {
  throw error;
}
