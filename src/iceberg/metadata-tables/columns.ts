import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';

export const booleanType: DataType = { kind: 'boolean' };
export const intType: DataType = { kind: 'integer' };
export const longType: DataType = { kind: 'long' };
export const stringType: DataType = { kind: 'string' };
export const binaryType: DataType = { kind: 'binary' };
export const timestampType: DataType = { kind: 'timestamp' };

export function listType(element: DataType): DataType {
  return { kind: 'list', element, elementNullable: true };
}

export function mapType(key: DataType, value: DataType): DataType {
  return { kind: 'map', key, value, valueNullable: true };
}

/** Columns by name, all of which may be null. */
export function struct(columns: readonly (readonly [string, DataType])[]): StructType {
  return { kind: 'struct', fields: columns.map(([name, type]): Field => ({ name, type, nullable: true })) };
}

/** What a metadata table tells of each of something: a column's name and type, and its value. */
export type ColumnOf<From> = readonly [name: string, type: DataType, value: (from: From) => InputValue];

export interface RowsOf<From> {
  readonly schema: StructType;
  readonly rowOf: (from: From) => InputRow;
}

export function rowsOf<From>(columns: readonly ColumnOf<From>[]): RowsOf<From> {
  return {
    schema: struct(columns.map(([name, type]) => [name, type])),
    rowOf: (from) =>
      rowWith(
        columns,
        ([name]) => name,
        ([, , value]) => value(from),
      ),
  };
}

/** A row with a value for each of `columns`: made for each of a hundred thousand files, so without a list of pairs between. */
export function rowWith<Of>(columns: readonly Of[], nameOf: (column: Of) => string, valueOf: (column: Of) => InputValue): InputRow {
  const row: Record<string, InputValue> = {};
  for (const column of columns) row[nameOf(column)] = valueOf(column);
  return row;
}

/** Milliseconds since 1970 as a timestamp. */
export function microsOf(timeMs: number): bigint {
  return BigInt(timeMs) * 1_000n;
}
