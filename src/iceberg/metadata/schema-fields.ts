import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { IcebergSchema } from './table-metadata.ts';

/** A node of a schema that has an id: a field, a list's element, a map's key or value. */
export interface SchemaColumn {
  readonly id: number;
  /** Names from the top; `element`, `key` and `value` inside lists and maps. */
  readonly path: readonly string[];
  readonly type: DataType;
  readonly nullable: boolean;
  /** Whether it is inside a list or map: such a column has no one value a row. */
  readonly repeated: boolean;
  /** The field, for fields of structs. */
  readonly field: Field | undefined;
}

/** Every node of a schema by id, parents before children. Kept for as long as the schema is. */
export function columnsById(schema: IcebergSchema): ReadonlyMap<number, SchemaColumn> {
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const columns = new Map<number, SchemaColumn>();
  addInside(columns, schema.struct, [], false);
  cache.set(schema, columns);
  return columns;
}

/** The node with an id; `undefined` when the schema does not have it. */
export function fieldById(schema: IcebergSchema, id: number): SchemaColumn | undefined {
  return columnsById(schema).get(id);
}

/** The dotted name of the node with an id. */
export function columnPath(schema: IcebergSchema, id: number): string | undefined {
  return fieldById(schema, id)?.path.join('.');
}

/** The node at a path of names, each matched exactly, or else without regard to case when that leaves one. */
export function columnAt(schema: IcebergSchema, path: readonly string[]): SchemaColumn | undefined {
  const columns = [...columnsById(schema).values()].filter((column) => column.path.length === path.length);
  const exact = columns.find((column) => column.path.every((name, index) => name === path[index]));
  if (exact !== undefined) return exact;
  const lower = path.map((name) => name.toLowerCase());
  const loose = columns.filter((column) => column.path.every((name, index) => name.toLowerCase() === lower[index]));
  return loose.length === 1 ? loose[0] : undefined;
}

const cache = new WeakMap<IcebergSchema, ReadonlyMap<number, SchemaColumn>>();

function addInside(columns: Map<number, SchemaColumn>, within: DataType, above: readonly string[], repeated: boolean): void {
  for (const member of innerFields(within)) {
    const { id, name, type, nullable } = member;
    const path = [...above, name];
    const isPart = within.kind !== 'struct';
    const inRepeated = repeated || isPart;
    if (id !== undefined) columns.set(id, { id, path, type, nullable, repeated: inRepeated, field: isPart ? undefined : member });
    addInside(columns, type, path, inRepeated);
  }
}
