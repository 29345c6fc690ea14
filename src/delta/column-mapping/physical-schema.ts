import { present } from '../../base/assert.ts';
import { serviceError } from '../../base/errors.ts';
import { withInnerTypes } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { MetadataAction, ProtocolAction } from '../actions.ts';

/** How files name columns: as the table does, by a name of their own, or by Parquet field id. */
export type MappingMode = 'none' | 'name' | 'id';

export const mappingKeys = {
  mode: 'delta.columnMapping.mode',
  maxColumnId: 'delta.columnMapping.maxColumnId',
  id: 'delta.columnMapping.id',
  physicalName: 'delta.columnMapping.physicalName',
} as const;

/**
 * The mode in force. The property only counts when the protocol knows of it.
 *
 * @throws ServiceError `DELTA_UNSUPPORTED_FEATURES_FOR_READ` (kind unsupported) for a mode that is none of the three.
 */
export function mappingModeOf(protocol: ProtocolAction, metadata: Pick<MetadataAction, 'configuration'>): MappingMode {
  const mode = metadata.configuration[mappingKeys.mode]?.toLowerCase() ?? 'none';
  const known = protocol.minReaderVersion === 2 || protocol.readerFeatures?.includes('columnMapping') === true;
  if (!known || mode === 'none') return 'none';
  if (mode === 'name' || mode === 'id') return mode;
  throw serviceError.unsupported('DELTA_UNSUPPORTED_FEATURES_FOR_READ', `column mapping mode "${mode}" is not known`, {
    hint: 'the modes are none, name and id',
  });
}

/** The name a column has in files, statistics and partition values. */
export function physicalName(field: Field): string {
  const name = field.metadata?.[mappingKeys.physicalName];
  return typeof name === 'string' ? name : field.name;
}

/** The Parquet field id of a mapped column; `undefined` when it has none. */
export function columnId(field: Field): number | undefined {
  const id = field.metadata?.[mappingKeys.id];
  return typeof id === 'number' ? id : undefined;
}

/** The schema as files have it: physical names at every level and `Field.id` for Parquet. The schema itself without mapping. */
export function physicalSchema(schema: StructType, mode: MappingMode): StructType {
  return mode === 'none' ? schema : physicalStruct(schema);
}

/** A type as files have it; the type itself without mapping. */
export function physicalType(type: DataType, mode: MappingMode): DataType {
  return mode === 'none' ? type : physical(type);
}

/**
 * The path of a column in files. Path parts are the schema's own spelling; `element`, `key` and `value` enter lists and maps and stay.
 *
 * @throws ServiceError `ASSERTION_FAILED` when the schema has no such column.
 */
export function physicalPath(schema: StructType, path: readonly string[], mode: MappingMode): readonly string[] {
  if (mode === 'none') return path;
  let type: DataType = schema;
  return path.map((part) => {
    if (type.kind === 'list' && part === 'element') type = type.element;
    else if (type.kind === 'map' && part === 'key') type = type.key;
    else if (type.kind === 'map' && part === 'value') type = type.value;
    else {
      const fields: readonly Field[] = type.kind === 'struct' ? type.fields : [];
      const field = present(
        fields.find((candidate) => candidate.name === part),
        `the schema has no column "${path.join('.')}"`,
      );
      type = field.type;
      return physicalName(field);
    }
    return part;
  });
}

/** Partition columns by the names `partitionValues` has them under, in order. */
export function physicalPartitionColumns(schema: StructType, partitionColumns: readonly string[], mode: MappingMode): readonly string[] {
  return mode === 'none' ? partitionColumns : partitionColumns.map((name) => physicalPath(schema, [name], mode)[0] ?? name);
}

function physicalStruct(struct: StructType): StructType {
  return { kind: 'struct', fields: struct.fields.map(mapped) };
}

function mapped(field: Field): Field {
  const id = columnId(field);
  return { ...field, name: physicalName(field), type: physical(field.type), ...(id === undefined ? {} : { id }) };
}

function physical(type: DataType): DataType {
  return withInnerTypes(type, physical, mapped);
}
