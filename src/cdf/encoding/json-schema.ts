import { assertNever } from '../../base/assert.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import type { EventType, Primitive, StructShape } from './event-type.ts';

/** A JSON Schema (draft 7) as Confluent's JSON Schema converter makes it of a Connect schema. */
export function jsonSchema(schema: StructShape): string {
  return printJson({ $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(schema) });
}

function schemaOf(type: EventType): JsonObject {
  switch (type.kind) {
    case 'scalar': {
      const { primitive, name, parameters } = type;
      const connect = connectTypes[primitive];
      return {
        type: types[primitive],
        ...(name === undefined ? {} : { title: name, 'connect.version': 1 }),
        ...(parameters === undefined ? {} : { 'connect.parameters': parameters }),
        ...(connect === undefined ? {} : { 'connect.type': connect }),
      };
    }
    case 'struct': {
      const { name, version, fields } = type;
      const properties = fields.map(({ name: member, type: of, optional }, index): [string, JsonObject] => [
        member,
        { 'connect.index': index, ...itemOf(of, optional) },
      ]);
      // Members that can be null may be absent: what was written before a column came fits too.
      const required = fields.filter((field) => !field.optional).map((field) => field.name);
      return {
        type: 'object',
        ...(name === undefined ? {} : { title: name }),
        ...(version === undefined ? {} : { 'connect.version': version }),
        properties: Object.fromEntries(properties),
        ...(required.length === 0 ? {} : { required }),
      };
    }
    case 'list':
      return { type: 'array', items: itemOf(type.element, type.elementOptional) };
    case 'map':
      return { type: 'object', 'connect.type': 'map', additionalProperties: itemOf(type.value, type.valueOptional) };
    default:
      return assertNever(type);
  }
}

function itemOf(type: EventType, optional: boolean): JsonObject {
  return optional ? { oneOf: [{ type: 'null' }, schemaOf(type)] } : schemaOf(type);
}

const types: Readonly<Record<Primitive, string>> = {
  boolean: 'boolean',
  int8: 'integer',
  int16: 'integer',
  int32: 'integer',
  int64: 'integer',
  float: 'number',
  double: 'number',
  string: 'string',
  bytes: 'string',
};

const connectTypes: Readonly<Partial<Record<Primitive, string>>> = {
  int8: 'int8',
  int16: 'int16',
  int32: 'int32',
  int64: 'int64',
  float: 'float32',
  double: 'float64',
  bytes: 'bytes',
};
