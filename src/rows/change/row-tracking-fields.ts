import type { Field, StructType } from '../../schema/types.ts';
import type { RowTrackingColumns } from '../../table/scan.ts';

/** The columns as fields of rows that are written: null means that the file decides. */
export function rowTrackingFields(columns: RowTrackingColumns | undefined): readonly Field[] {
  if (columns === undefined) return [];
  const { fieldIds } = columns;
  return [
    { name: columns.rowId, type: { kind: 'long' }, nullable: true, id: fieldIds?.rowId },
    { name: columns.commitVersion, type: { kind: 'long' }, nullable: true, id: fieldIds?.commitVersion },
  ];
}

/** A schema with the columns behind its own. */
export function withRowTrackingFields(schema: StructType, columns: RowTrackingColumns | undefined): StructType {
  return columns === undefined ? schema : { kind: 'struct', fields: [...schema.fields, ...rowTrackingFields(columns)] };
}
