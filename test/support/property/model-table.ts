import { buildBatch, type InputRow, type InputValue } from '../../../src/codec/build-columns.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';

export type ModelType = 'int' | 'long' | 'double' | 'string' | 'struct';

/** A column by an identity that its name does not touch: a column that is dropped and added again under its name is another one. */
export interface ModelColumn {
  readonly key: number;
  readonly name: string;
  readonly type: ModelType;
}

export type ModelValue = number | string | null | ModelStruct;

export interface ModelStruct {
  readonly x: number | null;
  readonly y: string | null;
}

/** Values by the keys of columns; what is absent is null. */
export type ModelRow = ReadonlyMap<number, ModelValue>;

/** One version of the table. */
export interface ModelState {
  readonly columns: readonly ModelColumn[];
  readonly rows: readonly ModelRow[];
}

/** The column that tells rows apart: never dropped, never assigned. */
export const idKey = 0;

const types: Readonly<Record<ModelType, DataType>> = {
  int: { kind: 'integer' },
  long: { kind: 'long' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  struct: {
    kind: 'struct',
    fields: [
      { name: 'x', type: { kind: 'integer' }, nullable: true },
      { name: 'ÿ', type: { kind: 'string' }, nullable: true },
    ],
  },
};

export function typeOf(type: ModelType): DataType {
  return types[type];
}

export function schemaOf(columns: readonly ModelColumn[]): StructType {
  return { kind: 'struct', fields: columns.map(({ name, type }) => ({ name, type: types[type], nullable: true })) };
}

export function batchOf({ columns, rows }: ModelState): ColumnBatch {
  const inputs = rows.map(
    (row): InputRow => Object.fromEntries(columns.map((column) => [column.name, inputOf(row.get(column.key) ?? null)])),
  );
  return buildBatch(schemaOf(columns), inputs);
}

function inputOf(value: ModelValue): InputValue {
  return typeof value === 'object' && value !== null ? { x: value.x, ÿ: value.y } : value;
}

/** Columns as one text: versions of the same text have rows that can be compared. */
export function shapeOf({ columns }: ModelState): string {
  return JSON.stringify(columns);
}

export function idOf(row: ModelRow): number {
  return Number(row.get(idKey));
}

/** Equal, smaller or greater as SQL has it: NaN is itself and above all, zeros are one, text is ordered by its bytes. */
export function compareValues(left: number | string, right: number | string): number {
  if (typeof left === 'string' || typeof right === 'string') return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}
