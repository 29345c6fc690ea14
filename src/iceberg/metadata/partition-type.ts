import type { DataType, Field, StructType } from '../../schema/types.ts';
import { resultType } from '../../table/partitioning/apply-transform.ts';
import { fieldById } from './schema-fields.ts';
import type { IcebergSchema, PartitionField, PartitionSpec, TableMetadata } from './table-metadata.ts';

/**
 * The type of a spec's partition tuples: a nullable field for each of its fields, by name and id. A source column that the current schema
 * has no more is looked for in older ones. What cannot be known is text for a transform that is not, int for a column that is nowhere.
 */
export function partitionType(metadata: TableMetadata, spec: PartitionSpec): StructType {
  return { kind: 'struct', fields: spec.fields.map((field) => partitionColumn(schemasNewestFirst(metadata), field)) };
}

export function specById(metadata: TableMetadata, specId: number): PartitionSpec | undefined {
  return metadata.partitionSpecs.find((spec) => spec.specId === specId);
}

/** The schema new rows have. Metadata was checked for it. */
export function currentSchema(metadata: TableMetadata): IcebergSchema {
  const current = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
  return current ?? { schemaId: metadata.currentSchemaId, struct: { kind: 'struct', fields: [] }, identifierFieldIds: [] };
}

function schemasNewestFirst(metadata: TableMetadata): readonly IcebergSchema[] {
  return [currentSchema(metadata), ...metadata.schemas.toReversed()];
}

function partitionColumn(schemas: readonly IcebergSchema[], field: PartitionField): Field {
  return { name: field.name, type: partitionFieldType(schemas, field), nullable: true, id: field.fieldId };
}

function partitionFieldType(schemas: readonly IcebergSchema[], { transform, sourceId }: PartitionField): DataType {
  if (transform.kind === 'unknown') return { kind: 'string' };
  for (const schema of schemas) {
    const source = fieldById(schema, sourceId);
    const type = source === undefined ? undefined : resultType(transform, source.type);
    if (type !== undefined) return type;
  }
  return transform.kind === 'day' ? { kind: 'date' } : { kind: 'integer' };
}
