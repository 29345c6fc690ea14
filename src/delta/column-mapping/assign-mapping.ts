import type { IdSource } from '../../base/ids.ts';
import { innerFields, withInnerTypes } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { columnId, mappingKeys } from './physical-schema.ts';

export interface MappingAssignment {
  readonly schema: StructType;
  /** Highest id ever given in the table; goes into `delta.columnMapping.maxColumnId`. Never falls. */
  readonly maxColumnId: number;
}

export interface AssignmentOptions {
  /** Highest id given so far, from the table's properties. */
  readonly maxColumnId: number;
  readonly ids: IdSource;
  /**
   * What columns without a physical name get. `made`: a name of their own, so that a dropped name can come back as another column.
   * `present`: the name they have, for a table whose files were written without mapping.
   */
  readonly names: 'made' | 'present';
}

/** Gives an id and a physical name to every column, at every level, that lacks one; others keep theirs. Ids ascend, parents first. */
export function assignMapping(schema: StructType, options: AssignmentOptions): MappingAssignment {
  let last = Math.max(options.maxColumnId, highestColumnId(schema));
  const assigned = (field: Field): Field => {
    const present = field.metadata?.[mappingKeys.physicalName];
    const name = typeof present === 'string' ? present : options.names === 'present' ? field.name : `col-${options.ids.uuid()}`;
    const id = columnId(field) ?? ++last;
    const metadata = { ...field.metadata, [mappingKeys.id]: id, [mappingKeys.physicalName]: name };
    return { ...field, metadata, type: within(field.type) };
  };
  const within = (type: DataType): DataType => withInnerTypes(type, within, assigned);
  const fields = schema.fields.map(assigned);
  return { schema: { kind: 'struct', fields }, maxColumnId: last };
}

/** Forgets ids and physical names at every level, for a schema that becomes another table's. */
export function withoutMapping(schema: StructType): StructType {
  return { kind: 'struct', fields: schema.fields.map(unmapped) };
}

/** Highest id in the schema; 0 without any. */
function highestColumnId(type: DataType): number {
  return Math.max(0, ...innerFields(type).map((field) => Math.max(columnId(field) ?? 0, highestColumnId(field.type))));
}

function unmapped(field: Field): Field {
  const { metadata, ...rest } = field;
  const kept = Object.entries(metadata ?? {}).filter(([key]) => key !== mappingKeys.id && key !== mappingKeys.physicalName);
  return { ...rest, type: unmappedType(field.type), ...(kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) }) };
}

function unmappedType(type: DataType): DataType {
  return withInnerTypes(type, unmappedType, unmapped);
}
