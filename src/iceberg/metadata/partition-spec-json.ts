import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import { parseTransform, printTransform } from '../../table/partitioning/transform.ts';
import { JsonMembers } from './json-members.ts';
import { unknownMembers } from './schema-json.ts';
import { invalidMetadata } from './spec-errors.ts';
import type { PartitionField, PartitionSpec } from './table-metadata.ts';

/** First id of partition fields; a table that was never partitioned has one less as its last. */
export const firstPartitionFieldId = 1000;

/** https://iceberg.apache.org/spec/#partition-specs @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt). */
export function partitionSpecFromJson(json: JsonValue | undefined, where: string): PartitionSpec {
  const members = new JsonMembers(json, `${where}: partition spec`);
  const specId = members.optionalInt('spec-id') ?? 0;
  const fields = partitionFieldsFromJson(members.list('fields'), `${where}: partition spec ${specId}`);
  return { specId, fields, ...unknownMembers(members.rest) };
}

/** The bare list of fields, as format version 1 and manifests have it. Fields without ids count from 1000. */
export function partitionFieldsFromJson(values: readonly JsonValue[], where: string): readonly PartitionField[] {
  let withIds = 0;
  const fields = values.map((value, index): PartitionField => {
    const members = new JsonMembers(value, `${where}: field`);
    const fieldId = members.optionalInt('field-id');
    if (fieldId !== undefined) withIds += 1;
    const source = sourceOf(members);
    return {
      ...source,
      fieldId: fieldId ?? firstPartitionFieldId + index,
      name: members.text('name'),
      transform: source.several ? { kind: 'unknown', text: members.text('transform') } : parseTransform(members.text('transform')),
      ...unknownMembers(members.rest),
    };
  });
  if (withIds > 0 && withIds < values.length) throw invalidMetadata(where, 'cannot parse spec with missing field ids');
  return fields.map(({ sourceId, fieldId, name, transform, unknown }) => ({
    sourceId,
    fieldId,
    name,
    transform,
    ...unknownMembers(unknown),
  }));
}

/** Inverse of `partitionSpecFromJson`. */
export function partitionSpecToJson(spec: PartitionSpec): JsonObject {
  return { 'spec-id': spec.specId, fields: partitionFieldsToJson(spec), ...spec.unknown };
}

/** Inverse of `partitionFieldsFromJson`. */
export function partitionFieldsToJson(spec: PartitionSpec): readonly JsonObject[] {
  return spec.fields.map((field) => ({
    name: field.name,
    transform: printTransform(field.transform),
    ...sourceMember(field),
    'field-id': field.fieldId,
    ...field.unknown,
  }));
}

/** The source of a transform: a transform of several (`source-ids`) is one that this version does not know. */
export function sourceOf(members: JsonMembers): { readonly sourceId: number; readonly several: boolean } {
  const single = members.optionalInt('source-id');
  if (single !== undefined) return { sourceId: single, several: false };
  const ids = sourceIdsOf(members.rest?.['source-ids']);
  const [first] = ids;
  if (first === undefined) throw invalidMetadata(members.where, 'cannot parse missing int: source-id');
  return { sourceId: first, several: ids.length > 1 };
}

/** The member that names the source: none where `source-ids` stands among the unknown ones. */
export function sourceMember(field: { readonly sourceId: number; readonly unknown?: JsonObject | undefined }): JsonObject {
  return field.unknown?.['source-ids'] === undefined ? { 'source-id': field.sourceId } : {};
}

function sourceIdsOf(value: JsonValue | undefined): readonly number[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter((id) => typeof id === 'number') : [];
}
