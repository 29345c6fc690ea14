import { type JsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { JsonMembers } from './json-members.ts';
import { invalidMetadata } from './spec-errors.ts';

/** Names that columns of files without field ids have (https://iceberg.apache.org/spec/#name-mapping-serialization). */
export interface MappedField {
  /** `undefined`: files may have the column, the table does not. */
  readonly fieldId: number | undefined;
  /** As they are: a dot in one is part of the name. */
  readonly names: readonly string[];
  /** Of a struct's fields, or the `element`, `key` and `value` of a list or map. */
  readonly fields: readonly MappedField[];
}

/** Table property that holds the mapping. */
export const nameMappingProperty = 'schema.name-mapping.default';

/** @throws ServiceError `ICEBERG_METADATA_INVALID`, `JSON_INVALID` (kind corrupt). */
export function parseNameMapping(text: string): readonly MappedField[] {
  const json = parseJson(text, nameMappingProperty);
  if (!Array.isArray(json)) throw invalidMetadata(nameMappingProperty, 'cannot parse from non-array');
  return mappedFields(json as readonly JsonValue[], 0);
}

/** Inverse of `parseNameMapping`. */
export function printNameMapping(mapping: readonly MappedField[]): string {
  return printJson(mapping.map(mappedFieldToJson));
}

/** The mapping that names every column of a schema as it is called. */
export function nameMappingOf(schema: StructType): readonly MappedField[] {
  return schema.fields.map(mappedField);
}

/** The same of some columns, as the property has them. */
export function nameMappingJson(columns: readonly Field[]): readonly JsonObject[] {
  return columns.map((column) => mappedFieldToJson(mappedField(column)));
}

/**
 * The id of a column of a file by its path of names, `element`, `key` and `value` inside lists and maps; `undefined` for a column that the
 * mapping does not know.
 */
export function mappedId(mapping: readonly MappedField[], path: readonly string[]): number | undefined {
  return mappedAt(mapping, path)?.fieldId;
}

/** As `mappedId`, the whole field. */
export function mappedAt(mapping: readonly MappedField[], path: readonly string[]): MappedField | undefined {
  let fields = mapping;
  let found: MappedField | undefined;
  for (const name of path) {
    found = fields.find(({ names }) => names.includes(name));
    if (found === undefined) return undefined;
    fields = found.fields;
  }
  return found;
}

/** Mappings nest at most this deep. */
const maxDepth = 100;

function mappedFields(values: readonly JsonValue[], depth: number): readonly MappedField[] {
  if (depth > maxDepth) throw invalidMetadata(nameMappingProperty, `fields are nested deeper than ${maxDepth}`);
  const taken = new Set<string>();
  return values.map((value) => {
    const members = new JsonMembers(value, nameMappingProperty);
    const names = members.value('names') === undefined ? [] : members.texts('names');
    for (const name of names) {
      if (taken.has(name)) throw invalidMetadata(nameMappingProperty, `multiple fields for name ${name}`);
      taken.add(name);
    }
    return { fieldId: members.optionalInt('field-id'), names, fields: mappedFields(members.optionalList('fields') ?? [], depth + 1) };
  });
}

function mappedFieldToJson({ fieldId, names, fields }: MappedField): JsonObject {
  return { 'field-id': fieldId, names, ...(fields.length === 0 ? {} : { fields: fields.map(mappedFieldToJson) }) };
}

function mappedField({ name, id, type }: Field): MappedField {
  return { fieldId: id, names: [name], fields: innerFields(type).map(mappedField) };
}
