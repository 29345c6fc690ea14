import { assertNever } from '../../base/assert.ts';
import { type JsonObject, type JsonValue, printJson } from '../../base/bigint-json.ts';
import type { EventField, EventType, Primitive, ScalarType, StructShape } from './event-type.ts';
import { adjustedFullName, adjustedName, adjustedNames, freeName } from './schema-names.ts';

/** An Avro schema as Confluent's Avro converter makes it of a Connect schema, properties and all. */
export function avroSchema(schema: StructShape): string {
  return printJson(new AvroSchemas().record(schema, 'Record'));
}

class AvroSchemas {
  /** Records are written out once and then stand by their name. */
  readonly #known = new Set<string>();

  /** `place`: name of a record that has none of its own; `_` behind it where another one has it, as a column `a_item` beside the items of a list `a`. */
  record({ name, version, fields }: StructShape, place: string): JsonValue {
    const fullName = name === undefined ? freeName(adjustedFullName(place), this.#known) : adjustedFullName(name);
    if (this.#known.has(fullName)) return fullName;
    this.#known.add(fullName);
    const dot = fullName.lastIndexOf('.');
    const names = adjustedNames(fields.map((field) => field.name));
    return {
      type: 'record',
      name: fullName.slice(dot + 1),
      ...(dot < 0 ? {} : { namespace: fullName.slice(0, dot) }),
      fields: fields.map((field, position) => this.#field(field, names[position] ?? field.name, fullName)),
      ...(version === undefined ? {} : { 'connect.version': version }),
      ...(name === undefined ? {} : { 'connect.name': name }),
    };
  }

  #field({ name, type, optional }: EventField, adjusted: string, record: string): JsonObject {
    const place = `${record}.${adjustedName(name)}`;
    const told = this.#type(type, place);
    return optional ? { name: adjusted, type: ['null', told], default: null } : { name: adjusted, type: told };
  }

  #type(type: EventType, place: string): JsonValue {
    switch (type.kind) {
      case 'scalar':
        return scalarSchema(type);
      case 'struct':
        return this.record(type, place);
      case 'list':
        return { type: 'array', items: this.#item(type.element, type.elementOptional, `${place}_item`) };
      case 'map':
        return { type: 'map', values: this.#item(type.value, type.valueOptional, `${place}_value`) };
      default:
        return assertNever(type);
    }
  }

  #item(type: EventType, optional: boolean, place: string): JsonValue {
    const told = this.#type(type, place);
    return optional ? ['null', told] : told;
  }
}

const types: Readonly<Record<Primitive, string>> = {
  boolean: 'boolean',
  int8: 'int',
  int16: 'int',
  int32: 'int',
  int64: 'long',
  float: 'float',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
};

const logicalTypes: Readonly<Record<string, string>> = {
  'org.apache.kafka.connect.data.Decimal': 'decimal',
  'org.apache.kafka.connect.data.Date': 'date',
  'org.apache.kafka.connect.data.Time': 'time-millis',
  'org.apache.kafka.connect.data.Timestamp': 'timestamp-millis',
};

function scalarSchema({ primitive, name, parameters }: ScalarType): JsonValue {
  const type = types[primitive];
  if (name === undefined) return primitive === 'int8' || primitive === 'int16' ? { type, 'connect.type': primitive } : type;
  const logicalType = logicalTypes[name];
  const scale = parameters?.['scale'];
  return {
    type,
    ...(scale === undefined ? {} : { scale: Number(scale), precision: Number(parameters?.['connect.decimal.precision']) }),
    'connect.version': 1,
    ...(parameters === undefined ? {} : { 'connect.parameters': parameters }),
    'connect.name': name,
    ...(logicalType === undefined ? {} : { logicalType }),
  };
}
