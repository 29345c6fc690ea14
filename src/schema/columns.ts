import type { DataType, Field, StructType } from './types.ts';

/**
 * Columnar values in Apache Arrow's physical layout, so that a column becomes an Arrow buffer without a copy
 * (https://arrow.apache.org/docs/format/Columnar.html). All buffers start at value 0.
 */
export type Column = FixedColumn | BooleanColumn | DecimalColumn | BytesColumn | StructColumn | ListColumn | MapColumn;

export interface ColumnBase {
  readonly type: DataType;
  /** Number of values. */
  readonly length: number;
  readonly nullCount: number;
  /** Least significant bit first, 1 = valid; `undefined` when `nullCount` is 0. At least ceil(length / 8) bytes. */
  readonly validity: Uint8Array | undefined;
}

export type FixedValues = Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** byte, short, integer, long, float, double, date (Int32Array days), timestamp, timestamp_ntz and time (BigInt64Array micros), timestamp_ns and timestamp_ntz_ns (BigInt64Array nanos). */
export interface FixedColumn extends ColumnBase {
  readonly layout: 'fixed';
  /** At least `length` values; slots of nulls are 0. */
  readonly values: FixedValues;
}

export interface BooleanColumn extends ColumnBase {
  readonly layout: 'boolean';
  /** Bitmap, least significant bit first. */
  readonly bits: Uint8Array;
}

/** decimal: unscaled two's complement, 16 bytes little-endian a value (as pairs of 64-bit words, low word first). */
export interface DecimalColumn extends ColumnBase {
  readonly layout: 'decimal';
  readonly words: BigInt64Array;
}

/** string (valid UTF-8), binary, and void, which has no values. */
export interface BytesColumn extends ColumnBase {
  readonly layout: 'bytes';
  /** `length + 1` ascending offsets into `data`. */
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** struct, and variant as its `metadata` and `value`. */
export interface StructColumn extends ColumnBase {
  readonly layout: 'struct';
  /** One per field of the type, each of the same `length`; a null struct has null (or zero) children. */
  readonly children: readonly Column[];
}

export interface ListColumn extends ColumnBase {
  readonly layout: 'list';
  readonly offsets: Int32Array;
  readonly element: Column;
}

export interface MapColumn extends ColumnBase {
  readonly layout: 'map';
  readonly offsets: Int32Array;
  readonly keys: Column;
  readonly values: Column;
}

/** Rows in columns: `columns[i]` holds field `schema.fields[i]`, all of length `rowCount`. */
export interface ColumnBatch {
  readonly schema: StructType;
  readonly rowCount: number;
  readonly columns: readonly Column[];
}

export function isValid(column: Column, index: number): boolean {
  return column.validity === undefined || ((column.validity[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

export function fieldOf(schema: StructType, name: string): Field | undefined {
  return schema.fields.find((field) => field.name === name);
}

/** A column of 64-bit numbers, all of them there. */
export function longColumn(values: BigInt64Array): FixedColumn {
  return { type: { kind: 'long' }, length: values.length, nullCount: 0, validity: undefined, layout: 'fixed', values };
}
