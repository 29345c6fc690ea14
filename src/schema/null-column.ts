import { assertNever } from '../base/assert.ts';
import { serviceError } from '../base/errors.ts';
import type { Column, FixedValues } from './columns.ts';
import type { DataType } from './types.ts';
import { variantFields } from './variant-type.ts';

/** Far more than the rows of any batch take: who asks for more has counted elements of lists that take no bytes in their file. */
const maxBytes = 2 ** 31;

/** A column of `length` nulls. @throws ServiceError as `requireRoomForNulls`. */
export function nullColumn(type: DataType, length: number): Column {
  requireRoomForNulls([type], length);
  return nulls(type, length);
}

/** @throws ServiceError `COLUMN_TOO_LARGE` (kind unsupported) when columns of `length` nulls would take more than two gigabytes together. */
export function requireRoomForNulls(types: readonly DataType[], length: number): void {
  const bytes = length * types.reduce((sum, type) => sum + nullBytes(type), 0);
  if (bytes <= maxBytes) return;
  throw serviceError.unsupported(
    'COLUMN_TOO_LARGE',
    `${length} nulls take ${bytes} bytes, at most ${maxBytes} are taken for what a file does not store`,
    { hint: 'the file holds lists of very many elements: write them anew with fewer, or leave the column out' },
  );
}

/** What a null takes, at most. */
function nullBytes(type: DataType): number {
  switch (type.kind) {
    case 'struct':
      return type.fields.reduce((sum, field) => sum + nullBytes(field.type), 1);
    case 'decimal':
    case 'variant':
      return 16;
    default:
      return 8;
  }
}

function nulls(type: DataType, length: number): Column {
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
      return { ...base, layout: 'struct', children: variantFields.map((field) => nulls(field.type, length)) };
    case 'struct':
      return { ...base, layout: 'struct', children: type.fields.map((field) => nulls(field.type, length)) };
    case 'list':
      return { ...base, layout: 'list', offsets: new Int32Array(length + 1), element: nulls(type.element, 0) };
    case 'map':
      return {
        ...base,
        layout: 'map',
        offsets: new Int32Array(length + 1),
        keys: nulls(type.key, 0),
        values: nulls(type.value, 0),
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
