import type { Field, StructType } from '../schema/types.ts';

/** The columns that a change feed adds behind the table's own. */
export const changeFields: readonly Field[] = [
  { name: '_change_type', type: { kind: 'string' }, nullable: true },
  { name: '_commit_version', type: { kind: 'long' }, nullable: true },
  { name: '_commit_timestamp', type: { kind: 'timestamp' }, nullable: true },
];

export function changeSchema(schema: StructType): StructType {
  return { kind: 'struct', fields: [...schema.fields, ...changeFields] };
}
