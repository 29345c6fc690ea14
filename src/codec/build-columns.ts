import { type ServiceError, serviceError } from '../base/errors.ts';
import type { Column, ColumnBatch, FixedColumn } from '../schema/columns.ts';
import { parseDecimal } from '../schema/decimal-text.ts';
import { describeType } from '../schema/describe-type.ts';
import { fixedValues } from '../schema/null-column.ts';
import type { DataType, Field, ListType, MapType, StructType } from '../schema/types.ts';
import { variantColumn } from './variant/variant-column.ts';
import { variantOfValue } from './variant/variant-of-value.ts';

/**
 * A value to be put into a column: as `PlainValue` of rows.ts, and more freely: `undefined` for null, a safe integer for a long or
 * timestamp, an object for a map with string keys.
 */
export type InputValue =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly InputValue[]
  | ReadonlyMap<InputValue, InputValue>
  | InputRow;

export interface InputRow {
  readonly [name: string]: InputValue;
}

type Values = readonly InputValue[];

/**
 * Columns from rows, for slow paths (log checkpoints, tests). Members without a field are ignored, absent ones are null.
 *
 * @throws ServiceError `VALUE_TYPE_MISMATCH` (kind invalid) naming field, type and value; also for a null where the schema forbids it.
 */
export function buildBatch(schema: StructType, rows: readonly InputRow[]): ColumnBatch {
  const columns = schema.fields.map((field) =>
    requireValues(
      buildColumn(
        field.type,
        rows.map((row) => row[field.name]),
        field.name,
      ),
      field.nullable,
      field.name,
    ),
  );
  return { schema, rowCount: rows.length, columns };
}

/** One column from values. `where` names it in errors. */
export function buildColumn(type: DataType, values: Values, where: string): Column {
  const { validity, nullCount } = validityOf(values);
  const base = { type, length: values.length, nullCount, validity };
  switch (type.kind) {
    case 'struct':
      return { ...base, layout: 'struct', children: type.fields.map((field) => childColumn(field, values, where)) };
    case 'list':
      return { ...base, layout: 'list', ...listParts(type, values, where) };
    case 'map':
      return { ...base, layout: 'map', ...mapParts(type, values, where) };
    case 'string':
    case 'binary':
      return { ...base, layout: 'bytes', ...bytesParts(type, values, where) };
    case 'boolean':
      return { ...base, layout: 'boolean', bits: bitmap(values.length, (index) => booleanOf(values[index], where)) };
    case 'void':
      return { ...base, layout: 'bytes', ...bytesParts(type, values, where) };
    case 'variant':
      return variantColumn(values.map((value) => (isNull(value) ? undefined : variantOfValue(value))));
    case 'decimal':
      return { ...base, layout: 'decimal', words: decimalWords(type, values, where) };
    default:
      return fixedColumn(base, type, values, where);
  }
}

type FixedType = Exclude<DataType, { kind: 'struct' | 'list' | 'map' | 'string' | 'binary' | 'boolean' | 'decimal' | 'variant' | 'void' }>;

function fixedColumn(base: Omit<FixedColumn, 'layout' | 'values'>, type: FixedType, values: Values, where: string): FixedColumn {
  const target = fixedValues(type.kind, values.length);
  for (const [index, value] of values.entries()) {
    if (isNull(value)) continue;
    if (target instanceof BigInt64Array) target[index] = longOf(type, value, where);
    else target[index] = numberOf(type, value, where);
  }
  return { ...base, layout: 'fixed', values: target };
}

function longOf(type: DataType, value: InputValue, where: string): bigint {
  const long = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof long !== 'bigint' || BigInt.asIntN(64, long) !== long) throw mismatch(type, value, where);
  return long;
}

const integerLimit: Readonly<Record<string, number>> = { byte: 2 ** 7, short: 2 ** 15, integer: 2 ** 31, date: 2 ** 31 };

function numberOf(type: DataType, value: InputValue, where: string): number {
  if (typeof value !== 'number') throw mismatch(type, value, where);
  const limit = integerLimit[type.kind];
  if (limit !== undefined && !(Number.isInteger(value) && value >= -limit && value < limit)) throw mismatch(type, value, where);
  return value;
}

function booleanOf(value: InputValue, where: string): boolean {
  if (isNull(value)) return false;
  if (typeof value !== 'boolean') throw mismatch({ kind: 'boolean' }, value, where);
  return value;
}

function decimalWords(type: DataType & { kind: 'decimal' }, values: Values, where: string): BigInt64Array {
  const words = new BigInt64Array(2 * values.length);
  for (const [index, value] of values.entries()) {
    if (isNull(value)) continue;
    const unscaled = typeof value === 'string' ? parseDecimal(value, type.precision, type.scale) : undefined;
    if (unscaled === undefined) throw mismatch(type, value, where);
    words[2 * index] = BigInt.asIntN(64, unscaled);
    words[2 * index + 1] = unscaled >> 64n;
  }
  return words;
}

const encoder = new TextEncoder();

function bytesParts(type: DataType, values: Values, where: string): { offsets: Int32Array; data: Uint8Array } {
  const parts = values.map((value) => {
    if (isNull(value)) return undefined;
    if (type.kind === 'string' && typeof value === 'string') return encoder.encode(value);
    if (type.kind === 'binary' && value instanceof Uint8Array) return value;
    throw mismatch(type, value, where);
  });
  const offsets = offsetsOf(parts.map((part) => part?.length ?? 0));
  const data = new Uint8Array(offsets[values.length] ?? 0);
  for (const [index, part] of parts.entries()) if (part !== undefined) data.set(part, offsets[index]);
  return { offsets, data };
}

function listParts(type: ListType, values: Values, where: string): { offsets: Int32Array; element: Column } {
  const lists = values.map((value) => {
    if (isNull(value)) return [];
    if (!Array.isArray(value)) throw mismatch(type, value, where);
    return value as Values;
  });
  const element = buildColumn(type.element, lists.flat(), `${where}.element`);
  return {
    offsets: offsetsOf(lists.map((list) => list.length)),
    element: requireValues(element, type.elementNullable, `${where}.element`),
  };
}

function mapParts(type: MapType, values: Values, where: string): { offsets: Int32Array; keys: Column; values: Column } {
  const keys: InputValue[] = [];
  const mapped: InputValue[] = [];
  const lengths = values.map((value) => {
    const begin = keys.length;
    for (const [key, entry] of mapEntries(type, value, where)) {
      keys.push(key);
      mapped.push(entry);
    }
    return keys.length - begin;
  });
  return {
    offsets: offsetsOf(lengths),
    keys: requireValues(buildColumn(type.key, keys, `${where}.key`), false, `${where}.key`),
    values: requireValues(buildColumn(type.value, mapped, `${where}.value`), type.valueNullable, `${where}.value`),
  };
}

function mapEntries(type: MapType, value: InputValue, where: string): Iterable<readonly [InputValue, InputValue]> {
  if (isNull(value)) return [];
  if (value instanceof Map) return value as ReadonlyMap<InputValue, InputValue>;
  if (!isRow(value)) throw mismatch(type, value, where);
  return Object.entries(value).filter(([, entry]) => entry !== undefined);
}

function childColumn(field: Field, values: Values, where: string): Column {
  const path = `${where}.${field.name}`;
  const members = values.map((value) => {
    if (isNull(value)) return undefined;
    if (!isRow(value)) throw mismatch({ kind: 'struct', fields: [field] }, value, where);
    const member = value[field.name];
    if (!field.nullable && isNull(member)) throw missing(path);
    return member;
  });
  return buildColumn(field.type, members, path);
}

function validityOf(values: Values): { validity: Uint8Array | undefined; nullCount: number } {
  const nullCount = values.reduce<number>((count, value) => count + (isNull(value) ? 1 : 0), 0);
  return { nullCount, validity: nullCount === 0 ? undefined : bitmap(values.length, (index) => !isNull(values[index])) };
}

function bitmap(length: number, bit: (index: number) => boolean): Uint8Array {
  const bytes = new Uint8Array((length + 7) >> 3);
  for (let index = 0; index < length; index++) if (bit(index)) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (1 << (index & 7));
  return bytes;
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  let end = 0;
  for (const [index, length] of lengths.entries()) {
    end += length;
    offsets[index + 1] = end;
  }
  return offsets;
}

function requireValues(column: Column, nullable: boolean, where: string): Column {
  if (!nullable && column.nullCount > 0) throw missing(where);
  return column;
}

function isNull(value: InputValue): value is null | undefined {
  return value === null || value === undefined;
}

export function isRow(value: InputValue): value is InputRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Map);
}

function missing(where: string): ServiceError {
  return serviceError.invalid('VALUE_TYPE_MISMATCH', `"${where}" is required but a row has no value for it`);
}

function mismatch(type: DataType, value: InputValue, where: string): ServiceError {
  const shown = typeof value === 'object' ? 'an object' : `${typeof value} ${String(value).slice(0, 80)}`;
  return serviceError.invalid('VALUE_TYPE_MISMATCH', `"${where}": ${shown} does not fit ${describeType(type)}`);
}
