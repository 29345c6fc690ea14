import { assertNever } from '../base/assert.ts';
import type { Column, FixedValues } from './columns.ts';
import type { DataType } from './types.ts';
import { variantFields } from './variant-type.ts';

/** A column of `length` nulls. */
export function nullColumn(type: DataType, length: number): Column {
  const base = { type, length, nullCount: length, validity: length === 0 ? undefined : new Uint8Array((length + 7) >> 3) };
  switch (type.kind) {
    case 'boolean':
      return { ...base, layout: 'boolean', bits: new Uint8Array((length + 7) >> 3) };
    case 'decimal':
      return { ...base, layout: 'decimal', words: new BigInt64Array(2 * length) };
    case 'string':
    case 'binary':
    case 'void':
      return { ...base, layout: 'bytes', offsets: new Int32Array(length + 1), data: new Uint8Array(0) };
    case 'variant':
      return { ...base, layout: 'struct', children: variantFields.map((field) => nullColumn(field.type, length)) };
    case 'struct':
      return { ...base, layout: 'struct', children: type.fields.map((field) => nullColumn(field.type, length)) };
    case 'list':
      return { ...base, layout: 'list', offsets: new Int32Array(length + 1), element: nullColumn(type.element, 0) };
    case 'map':
      return {
        ...base,
        layout: 'map',
        offsets: new Int32Array(length + 1),
        keys: nullColumn(type.key, 0),
        values: nullColumn(type.value, 0),
      };
    default:
      return { ...base, layout: 'fixed', values: fixedValues(type.kind, length) };
  }
}

/** Kinds of type whose values have a fixed width and a typed array of their own. */
export type FixedKind =
  | 'byte'
  | 'short'
  | 'integer'
  | 'date'
  | 'long'
  | 'time'
  | 'timestamp'
  | 'timestamp_ntz'
  | 'timestamp_ns'
  | 'timestamp_ntz_ns'
  | 'float'
  | 'double';

/** Zeroed storage for `length` values of a fixed-width type. */
export function fixedValues(kind: FixedKind, length: number): FixedValues {
  switch (kind) {
    case 'byte':
      return new Int8Array(length);
    case 'short':
      return new Int16Array(length);
    case 'integer':
    case 'date':
      return new Int32Array(length);
    case 'long':
    case 'timestamp':
    case 'time':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return new BigInt64Array(length);
    case 'float':
      return new Float32Array(length);
    case 'double':
      return new Float64Array(length);
    default:
      return assertNever(kind);
  }
}
