import type { StructType } from '../../schema/types.ts';
import type { StoredColumn } from '../../table/scan.ts';
import { columnId, type MappingMode, physicalName, physicalType } from '../column-mapping/physical-schema.ts';

/** Where files hold the table's columns. Partition columns, which files need not hold, are left out. */
export function storedColumnsOf(
  schema: StructType,
  options: { readonly mapping: MappingMode; readonly partitionColumns: readonly string[] },
): readonly StoredColumn[] {
  const { mapping, partitionColumns } = options;
  return schema.fields
    .filter((field) => !partitionColumns.includes(field.name))
    .map((field) => {
      const id = mapping === 'id' ? columnId(field) : undefined;
      return {
        field,
        match: id === undefined ? { by: 'name', name: mapping === 'none' ? field.name : physicalName(field) } : { by: 'id', id },
        storedType: physicalType(field.type, mapping),
      };
    });
}
