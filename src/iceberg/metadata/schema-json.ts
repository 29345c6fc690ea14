import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { JsonMembers } from './json-members.ts';
import { invalidMetadata, unsupportedType } from './spec-errors.ts';
import type { IcebergSchema } from './table-metadata.ts';
import { icebergTypeOf, icebergTypeText } from './type-text.ts';

/**
 * A schema from its JSON (https://iceberg.apache.org/spec/#schemas). A schema without an id has 0.
 *
 * @throws ServiceError `ICEBERG_METADATA_INVALID` (kind corrupt), `ICEBERG_TYPE_UNSUPPORTED` (kind unsupported) naming column and type.
 */
export function schemaFromJson(json: JsonValue | undefined, where: string): IcebergSchema {
  const members = new JsonMembers(json, `${where}: schema`);
  if (members.text('type') !== 'struct') throw invalidMetadata(where, `cannot create schema, not a struct type: ${members.text('type')}`);
  const schemaId = members.optionalInt('schema-id') ?? 0;
  const identifierFieldIds = members.optionalInts('identifier-field-ids') ?? [];
  const parser = new TypeParser(`${where}: schema ${schemaId}`);
  const struct: StructType = { kind: 'struct', fields: parser.fields(members.list('fields'), '', 0) };
  for (const id of identifierFieldIds) {
    if (!parser.ids.has(id)) throw invalidMetadata(where, `cannot add fieldId ${id} as an identifier field: field does not exist`);
  }
  return { schemaId, struct, identifierFieldIds, ...unknownMembers(members.rest) };
}

/** Inverse of `schemaFromJson`. */
export function schemaToJson(schema: IcebergSchema): JsonObject {
  return {
    type: 'struct',
    'schema-id': schema.schemaId,
    ...(schema.identifierFieldIds.length === 0 ? {} : { 'identifier-field-ids': schema.identifierFieldIds }),
    fields: schema.struct.fields.map(fieldToJson),
    ...schema.unknown,
  };
}

/** A type as schemas have it: its text, or an object for a nested one. */
export function typeToJson(type: DataType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(fieldToJson) };
    case 'list':
      return {
        type: 'list',
        'element-id': type.elementId,
        element: typeToJson(type.element),
        'element-required': !type.elementNullable,
      };
    case 'map':
      return {
        type: 'map',
        'key-id': type.keyId,
        key: typeToJson(type.key),
        'value-id': type.valueId,
        value: typeToJson(type.value),
        'value-required': !type.valueNullable,
      };
    default:
      return icebergTypeText(type);
  }
}

/** Members of an object for what a form has kept of them: nothing without any. */
export function unknownMembers(rest: JsonObject | undefined): { readonly unknown?: JsonObject } {
  return rest === undefined ? {} : { unknown: rest };
}

/** Types nest at most this deep; deeper ones are damaged or hostile. */
const maxDepth = 100;
/** Members of a field that its metadata cannot take the place of. */
const fixedMembers: ReadonlySet<string> = new Set(['id', 'name', 'required', 'type', 'doc', 'comment']);

function fieldToJson(field: Field): JsonObject {
  // Metadata came from JSON and goes back as it was.
  const metadata = (field.metadata ?? {}) as JsonObject;
  const comment = metadata['comment'];
  return {
    id: field.id,
    name: field.name,
    required: !field.nullable,
    type: typeToJson(field.type),
    ...(comment === undefined ? {} : { doc: comment }),
    ...Object.fromEntries(Object.entries(metadata).filter(([key]) => !fixedMembers.has(key))),
  };
}

class TypeParser {
  readonly ids = new Set<number>();
  readonly #where: string;

  constructor(where: string) {
    this.#where = where;
  }

  fields(values: readonly JsonValue[], parent: string, depth: number): readonly Field[] {
    const names = new Set<string>();
    return values.map((value) => {
      const members = new JsonMembers(value, `${this.#where}: field`);
      const name = members.text('name');
      const path = parent === '' ? name : `${parent}.${name}`;
      if (names.has(name)) throw invalidMetadata(this.#where, `invalid schema: multiple fields for name ${path}`);
      names.add(name);
      const id = this.#id(members.int('id'), path);
      const nullable = !members.flag('required');
      const type = this.#type(members.value('type'), path, depth + 1);
      const doc = members.optionalText('doc');
      const metadata = { ...(doc === undefined ? {} : { comment: doc }), ...members.rest };
      return { name, type, nullable, id, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
    });
  }

  #type(value: JsonValue | undefined, path: string, depth: number): DataType {
    if (depth > maxDepth) throw invalidMetadata(this.#where, `types are nested deeper than ${maxDepth} at "${path}"`);
    if (typeof value === 'string') {
      const type = icebergTypeOf(value);
      if (type === undefined) throw unsupportedType(this.#where, path, value);
      return type;
    }
    if (!isJsonObject(value)) throw invalidMetadata(this.#where, `cannot parse type of "${path}" from json`);
    const members = new JsonMembers(value, `${this.#where}: type of "${path}"`);
    const kind = members.text('type');
    switch (kind) {
      case 'struct':
        return { kind, fields: this.fields(members.list('fields'), path, depth) };
      case 'list': {
        const elementId = this.#id(members.int('element-id'), `${path}.element`);
        const element = this.#type(members.value('element'), `${path}.element`, depth + 1);
        return { kind, element, elementNullable: !members.flag('element-required'), elementId };
      }
      case 'map': {
        const keyId = this.#id(members.int('key-id'), `${path}.key`);
        const key = this.#type(members.value('key'), `${path}.key`, depth + 1);
        const valueId = this.#id(members.int('value-id'), `${path}.value`);
        const entry = this.#type(members.value('value'), `${path}.value`, depth + 1);
        return { kind, key, value: entry, valueNullable: !members.flag('value-required'), keyId, valueId };
      }
      default:
        throw unsupportedType(this.#where, path, kind);
    }
  }

  #id(id: number, path: string): number {
    if (this.ids.has(id)) throw invalidMetadata(this.#where, `field id ${id} of "${path}" is used twice`);
    this.ids.add(id);
    return id;
  }
}
