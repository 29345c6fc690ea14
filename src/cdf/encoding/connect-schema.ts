import { assertNever } from '../../base/assert.ts';
import { type JsonObject, printJson } from '../../base/bigint-json.ts';
import type { EventField, EventType, StructShape } from './event-type.ts';

/** A schema as Kafka Connect's JsonConverter has it with `schemas.enable`. */
export function connectSchema(schema: StructShape): string {
  return printJson(schemaOf(schema, false));
}

function schemaOf(type: EventType, optional: boolean): JsonObject {
  switch (type.kind) {
    case 'scalar': {
      const { primitive, name, parameters } = type;
      const meaning = name === undefined ? {} : { name, version: 1, ...(parameters === undefined ? {} : { parameters }) };
      return { type: primitive, optional, ...meaning };
    }
    case 'struct': {
      const { name, version, fields } = type;
      return {
        type: 'struct',
        fields: fields.map(memberOf),
        optional,
        ...(name === undefined ? {} : { name }),
        ...(version === undefined ? {} : { version }),
      };
    }
    case 'list':
      return { type: 'array', items: schemaOf(type.element, type.elementOptional), optional };
    case 'map':
      return { type: 'map', keys: { type: 'string', optional: false }, values: schemaOf(type.value, type.valueOptional), optional };
    default:
      return assertNever(type);
  }
}

function memberOf({ name, type, optional }: EventField): JsonObject {
  return { ...schemaOf(type, optional), field: name };
}
