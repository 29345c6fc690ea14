import type { InputRow, InputValue } from '../../codec/build-columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { resultType } from '../../table/partitioning/apply-transform.ts';
import type { ContentFile, PartitionValue } from '../metadata/content-file.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import type { PartitionField, TableMetadata } from '../metadata/table-metadata.ts';
import { valueOfPartition } from '../scan/constant-columns.ts';

/** The partitions of all specs as one type: a member for each partition field there ever was whose column there is still, by its id. */
export interface UnifiedPartition {
  /** `undefined`: no spec has fields. */
  readonly type: StructType | undefined;
  /** Of the members, in their order. */
  readonly fieldIds: readonly number[];
  /** The partition of a file; fields its spec does not have are null. */
  valueOf(file: ContentFile): InputRow;
  /** The same as its values are in the manifest. */
  tupleOf(file: ContentFile): readonly PartitionValue[];
}

export function unifiedPartition(metadata: TableMetadata): UnifiedPartition {
  const fields = new Map<number, PartitionField>();
  // The newest spec has the names that count; what was dropped from format version 1 stays there as void.
  for (const spec of metadata.partitionSpecs.toSorted((a, b) => b.specId - a.specId)) {
    for (const field of spec.fields) {
      const known = fields.get(field.fieldId);
      if (known === undefined) fields.set(field.fieldId, field);
      else if (known.transform.kind === 'void') fields.set(field.fieldId, { ...field, name: known.name });
    }
  }
  const current = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
  const isActive = ({ sourceId }: PartitionField): boolean => current !== undefined && columnsById(current).has(sourceId);
  const ordered = [...fields.values()].filter(isActive).sort((a, b) => a.fieldId - b.fieldId);
  const types = new Map(ordered.map((field) => [field.fieldId, partitionType(metadata, field)]));
  const places = new Map(
    metadata.partitionSpecs.map((spec) => [spec.specId, new Map(spec.fields.map(({ fieldId }, place) => [fieldId, place]))]),
  );
  const tupleOf = (file: ContentFile): readonly PartitionValue[] => {
    const place = places.get(file.specId);
    return ordered.map(({ fieldId }) => {
      const at = place?.get(fieldId);
      return at === undefined ? undefined : file.partition[at];
    });
  };
  return {
    fieldIds: ordered.map(({ fieldId }) => fieldId),
    tupleOf,
    type:
      ordered.length === 0
        ? undefined
        : {
            kind: 'struct',
            fields: ordered.map(({ name, fieldId }) => ({ name, type: types.get(fieldId) ?? { kind: 'string' }, nullable: true })),
          },
    valueOf: (file) => {
      const tuple = tupleOf(file);
      return Object.fromEntries(
        ordered.map(({ fieldId, name }, index): [string, InputValue] => {
          return [name, valueOfPartition(types.get(fieldId) ?? { kind: 'string' }, tuple[index])];
        }),
      );
    },
  };
}

/** Type of a field's values, by whichever schema has its column, the current one first. */
export function partitionType(metadata: TableMetadata, field: PartitionField): DataType {
  const schemas = metadata.schemas.toSorted(
    (a, b) => Number(b.schemaId === metadata.currentSchemaId) - Number(a.schemaId === metadata.currentSchemaId),
  );
  for (const schema of schemas) {
    const source = columnsById(schema).get(field.sourceId);
    const made = source === undefined ? undefined : resultType(field.transform, source.type);
    if (made !== undefined) return made;
  }
  return { kind: 'string' };
}
