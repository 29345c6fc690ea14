import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';

/** Types whose values are fewer than those of the types they are promoted to, and not only by their range. */
const coarse: readonly DataType['kind'][] = ['float', 'date'];

/** Ids of the columns of a schema which an earlier one has, or has something within, of a coarser type: files may still hold that. */
export function coarserColumns(schema: StructType, schemas: readonly IcebergSchema[]): ReadonlySet<number> {
  const before = new Map<number, Set<DataType['kind']>>();
  for (const { id, type } of schemas.flatMap(({ struct }) => allFields(struct))) {
    if (id === undefined || !coarse.includes(type.kind)) continue;
    before.set(id, (before.get(id) ?? new Set()).add(type.kind));
  }
  const changed = ({ id, type }: Field): boolean => id !== undefined && [...(before.get(id) ?? [])].some((kind) => kind !== type.kind);
  const columns = schema.fields.filter((field) => [field, ...allFields(field.type)].some(changed));
  return new Set(columns.flatMap(({ id }) => id ?? []));
}

function allFields(type: DataType): readonly Field[] {
  return innerFields(type).flatMap((field) => [field, ...allFields(field.type)]);
}
