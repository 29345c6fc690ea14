import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import type { DataType, Field, ListType, MapType, StructType } from '../../schema/types.ts';
import { UUID_BYTES } from '../uuid-text.ts';
import { avroUnsupported } from './avro-errors.ts';

/**
 * The Avro schema of a table's rows as Iceberg has it: an id on every field, element, key and value that has one, optional as a union with
 * null first, maps with other keys than strings as arrays of pairs, instants marked by adjust-to-utc.
 * See Iceberg spec, Appendix A: Avro.
 */
export function tableAvroSchema(schema: StructType, name: string): JsonObject {
  return new SchemaWriter().record(name, schema.fields);
}

/** A name that Avro allows: what is no ASCII letter, digit or underscore becomes `_x` and its code, a digit at the start gets one before it. */
export function sanitizeAvroName(name: string): string {
  if (name === '') return '_';
  return Array.from({ length: name.length }, (_, index) => {
    const character = name.charAt(index);
    if (/[A-Za-z_]/.test(character)) return character;
    if (/[0-9]/.test(character)) return index === 0 ? `_${character}` : character;
    return `_x${name.charCodeAt(index).toString(16).toUpperCase()}`;
  }).join('');
}

/** The fewest bytes that hold every decimal of so many digits. */
export function decimalBytes(precision: number): number {
  const largest = 10n ** BigInt(precision) - 1n;
  let bytes = 1;
  while (BigInt.asIntN(8 * bytes, largest) !== largest) bytes++;
  return bytes;
}

const plainTypes = {
  boolean: 'boolean',
  byte: 'int',
  short: 'int',
  integer: 'int',
  long: 'long',
  float: 'float',
  double: 'double',
  date: { type: 'int', logicalType: 'date' },
  time: { type: 'long', logicalType: 'time-micros' },
  timestamp: { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true },
  timestamp_ntz: { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': false },
  timestamp_ns: { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': true },
  timestamp_ntz_ns: { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': false },
  void: 'null',
} as const;

class SchemaWriter {
  /** Named types are written out once and then stand by their name. */
  readonly #defined = new Set<string>();

  record(wantedName: string, fields: readonly Field[]): JsonObject {
    const name = uniqueName(wantedName, this.#defined);
    const names = new Set<string>();
    const written = fields.map((field): JsonObject => {
      const avroName = uniqueName(sanitizeAvroName(field.name), names);
      return {
        name: avroName,
        ...this.#optional(this.#type(field.type, field.id), field.nullable),
        ...(field.id === undefined ? {} : { 'field-id': field.id }),
        ...(avroName === field.name ? {} : { 'iceberg-field-name': field.name }),
      };
    });
    return { type: 'record', name, fields: written };
  }

  #optional(type: JsonValue, nullable: boolean): { readonly type: JsonValue; readonly default?: null } {
    return nullable ? { type: ['null', type], default: null } : { type };
  }

  #type(type: DataType, id: number | undefined): JsonValue {
    switch (type.kind) {
      case 'decimal':
        return this.#fixed(`decimal_${type.precision}_${type.scale}`, decimalBytes(type.precision), {
          logicalType: 'decimal',
          precision: type.precision,
          scale: type.scale,
        });
      case 'string':
        return type.format === 'uuid' ? this.#fixed('uuid_fixed', UUID_BYTES, { logicalType: 'uuid' }) : 'string';
      case 'binary':
        return type.fixedLength === undefined ? 'bytes' : this.#fixed(`fixed_${type.fixedLength}`, type.fixedLength, {});
      case 'struct':
        return this.record(id === undefined ? 'r' : `r${id}`, type.fields);
      case 'list':
        return this.#list(type);
      case 'map':
        return this.#map(type);
      case 'variant':
        throw avroUnsupported('Avro files', 'columns of type variant are not written', 'write the table as Parquet');
      default:
        return plainTypes[type.kind];
    }
  }

  #list(type: ListType): JsonObject {
    const element = this.#type(type.element, type.elementId);
    return {
      type: 'array',
      items: type.elementNullable ? ['null', element] : element,
      ...(type.elementId === undefined ? {} : { 'element-id': type.elementId }),
    };
  }

  #map(type: MapType): JsonObject {
    if (isTextKeyed(type)) {
      const value = this.#type(type.value, type.valueId);
      return {
        type: 'map',
        values: type.valueNullable ? ['null', value] : value,
        ...(type.keyId === undefined ? {} : { 'key-id': type.keyId }),
        ...(type.valueId === undefined ? {} : { 'value-id': type.valueId }),
      };
    }
    const name = type.keyId === undefined || type.valueId === undefined ? 'kv' : `k${type.keyId}_v${type.valueId}`;
    const pair = this.record(name, [
      { name: 'key', type: type.key, nullable: false, id: type.keyId },
      { name: 'value', type: type.value, nullable: type.valueNullable, id: type.valueId },
    ]);
    return { type: 'array', items: pair, logicalType: 'map' };
  }

  #fixed(name: string, size: number, logical: JsonObject): JsonValue {
    if (this.#defined.has(name)) return name;
    this.#defined.add(name);
    return { type: 'fixed', name, size, ...logical };
  }
}

/** Whether Avro's own map holds it. */
function isTextKeyed(type: MapType): boolean {
  return type.key.kind === 'string' && type.key.format === undefined;
}

/** Names from ids are unique as ids are; the same name again gets a number. */
function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let suffix = 1; taken.has(unique); suffix++) unique = `${name}_${suffix}`;
  taken.add(unique);
  return unique;
}
