import { buildBatch, type InputRow, type InputValue } from '../../../src/codec/build-columns.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';

export type ModelType = 'int' | 'long' | 'double' | 'string' | 'timestamp' | 'struct';

/** A member of a struct column, by an identity that its name does not touch. */
export interface ModelMember {
  readonly key: string;
  readonly name: string;
  readonly type: Exclude<ModelType, 'struct'>;
}

/** A column by an identity that its name does not touch: a column that is dropped and added again under its name is another one. */
export interface ModelColumn {
  readonly key: number;
  readonly name: string;
  readonly type: ModelType;
  /** Of a struct. Default: `defaultMembers`. */
  readonly members?: readonly ModelMember[] | undefined;
}

/** Instants are microseconds since the epoch. */
export type ModelValue = number | string | null | ModelStruct;

/** Values by the keys of members; what is absent is null. */
export type ModelStruct = Readonly<Record<string, number | string | null>>;

/** Values by the keys of columns; what is absent is null. */
export type ModelRow = ReadonlyMap<number, ModelValue>;

/** One version of the table. */
export interface ModelState {
  readonly columns: readonly ModelColumn[];
  readonly rows: readonly ModelRow[];
}

/** The column that tells rows apart: never dropped, never assigned. */
export const idKey = 0;

const types: Readonly<Record<Exclude<ModelType, 'struct'>, DataType>> = {
  int: { kind: 'integer' },
  long: { kind: 'long' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  timestamp: { kind: 'timestamp' },
};

const defaultMembers: readonly ModelMember[] = [
  { key: 'x', name: 'x', type: 'int' },
  { key: 'y', name: 'ÿ', type: 'string' },
];

export function membersOf({ members = defaultMembers }: Pick<ModelColumn, 'members'>): readonly ModelMember[] {
  return members;
}

export function typeOf(column: Pick<ModelColumn, 'type' | 'members'>): DataType {
  if (column.type !== 'struct') return types[column.type];
  return { kind: 'struct', fields: membersOf(column).map(({ name, type }) => ({ name, type: types[type], nullable: true })) };
}

export function schemaOf(columns: readonly ModelColumn[]): StructType {
  return { kind: 'struct', fields: columns.map((column) => ({ name: column.name, type: typeOf(column), nullable: true })) };
}

export function batchOf({ columns, rows }: ModelState): ColumnBatch {
  const inputs = rows.map(
    (row): InputRow => Object.fromEntries(columns.map((column) => [column.name, inputOf(column, row.get(column.key) ?? null)])),
  );
  return buildBatch(schemaOf(columns), inputs);
}

function inputOf(column: Pick<ModelColumn, 'type' | 'members'>, value: ModelValue): InputValue {
  if (value === null) return null;
  if (typeof value === 'object') {
    return Object.fromEntries(membersOf(column).map((member) => [member.name, inputOf(member, value[member.key] ?? null)]));
  }
  return column.type === 'timestamp' ? BigInt(value) : value;
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
