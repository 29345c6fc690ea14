import type { DataType, Field, StructType } from '../../schema/types.ts';

/** What a table keeps for itself: another one with the same columns gets its own. */
const ownProperty = /^delta\.(columnMapping\.maxColumnId|rowTracking\.materialized\w+|inCommitTimestampEnablement\w+)$/i;
const ownMetadata = /^delta\.(columnMapping\.|identity\.highWaterMark$)/i;

/** Properties for a table made like another. */
export function propertiesLike(properties: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !ownProperty.test(key)));
}

/** Columns for a table made like another: without the ids and names that its files have. */
export function schemaLike(schema: StructType): StructType {
  return { kind: 'struct', fields: schema.fields.map(fieldLike) };
}

function fieldLike(field: Field): Field {
  const { metadata, ...rest } = field;
  const kept = Object.entries(metadata ?? {}).filter(([key]) => !ownMetadata.test(key));
  return { ...rest, type: typeLike(field.type), ...(kept.length === 0 ? {} : { metadata: Object.fromEntries(kept) }) };
}

function typeLike(type: DataType): DataType {
  switch (type.kind) {
    case 'struct':
      return schemaLike(type);
    case 'list':
      return { ...type, element: typeLike(type.element) };
    case 'map':
      return { ...type, key: typeLike(type.key), value: typeLike(type.value) };
    default:
      return type;
  }
}
