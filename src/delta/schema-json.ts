import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { duplicateColumn } from '../schema/duplicate-column.ts';
import type { DataType, Field, PrimitiveType, StructType } from '../schema/types.ts';

/** Types nest at most this deep; deeper ones are damaged or hostile. */
const maxDepth = 100;
const plainKinds: ReadonlySet<string> = new Set([
  'boolean',
  'byte',
  'short',
  'integer',
  'long',
  'float',
  'double',
  'string',
  'binary',
  'date',
  'timestamp',
  'timestamp_ntz',
  'variant',
  'void',
]);

/**
 * The columns of a Delta `schemaString`. Field metadata is kept verbatim.
 *
 * @throws ServiceError `DELTA_SCHEMA_INVALID` (kind corrupt) also for names that differ in case only, `DELTA_TYPE_UNSUPPORTED` (kind unsupported)
 * naming column and type.
 */
export function parseSchemaString(text: string, where: string): StructType {
  const schema = parseType(schemaJson(text, where), where, 0);
  if (schema.kind !== 'struct') throw damaged(where, 'the schema is not a struct');
  const duplicate = duplicateColumn(schema);
  if (duplicate !== undefined) throw damaged(where, `the schema has the column "${duplicate}" twice; the case of a name does not count`);
  return schema;
}

function schemaJson(text: string, where: string): JsonValue {
  try {
    return parseJson(text, 'schemaString');
  } catch (error) {
    throw isServiceError(error, 'corrupt') ? damaged(where, error.message, error) : error;
  }
}

/** Inverse of `parseSchemaString`. */
export function printSchemaString(schema: StructType): string {
  return printJson(printType(schema));
}

/** A column as the schema's JSON has it. */
export function fieldForm(field: Field): JsonObject {
  // Metadata came from JSON and goes back as it was.
  const metadata = field.metadata as JsonObject | undefined;
  return { name: field.name, type: printType(field.type), nullable: field.nullable, metadata: metadata ?? {} };
}

/** A type as a schema's JSON names it, for plain types. */
export function plainTypeName(type: DataType): string {
  const form = printType(type);
  return typeof form === 'string' ? form : printJson(form);
}

function parseType(value: JsonValue | undefined, where: string, depth: number): DataType {
  if (depth > maxDepth) throw damaged(where, `types nest deeper than ${maxDepth}`);
  if (typeof value === 'string') return parsePrimitive(value, where);
  if (!isJsonObject(value)) throw damaged(where, 'a type is neither a name nor an object');
  switch (value['type']) {
    case 'struct': {
      const fields = value['fields'];
      if (!Array.isArray(fields)) throw damaged(where, 'a struct has no fields');
      return { kind: 'struct', fields: fields.map((field: JsonValue) => parseField(field, where, depth)) };
    }
    case 'array':
      return {
        kind: 'list',
        element: parseType(value['elementType'], `${where}.element`, depth + 1),
        elementNullable: value['containsNull'] !== false,
      };
    case 'map':
      return {
        kind: 'map',
        key: parseType(value['keyType'], `${where}.key`, depth + 1),
        value: parseType(value['valueType'], `${where}.value`, depth + 1),
        valueNullable: value['valueContainsNull'] !== false,
      };
    default:
      throw unsupported(where, printJson(value).slice(0, 80));
  }
}

function parseField(value: JsonValue, where: string, depth: number): Field {
  const name = isJsonObject(value) ? value['name'] : undefined;
  if (!isJsonObject(value) || typeof name !== 'string') throw damaged(where, 'a field has no name');
  const metadata = value['metadata'];
  return {
    name,
    type: parseType(value['type'], `${where}.${name}`, depth + 1),
    nullable: value['nullable'] !== false,
    ...(isJsonObject(metadata) && Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

function parsePrimitive(name: string, where: string): DataType {
  const decimal = /^decimal(?:\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\))?$/.exec(name);
  if (decimal !== null) {
    const precision = Number(decimal[1] ?? 10);
    const scale = Number(decimal[2] ?? 0);
    if (precision < 1 || precision > 38 || scale > precision) throw damaged(where, `${name} is not a decimal type`);
    return { kind: 'decimal', precision, scale };
  }
  if (!isPlainKind(name)) throw unsupported(where, name);
  return { kind: name };
}

function isPlainKind(name: string): name is Exclude<PrimitiveType['kind'], 'decimal'> {
  return plainKinds.has(name);
}

function printType(type: DataType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(fieldForm) };
    case 'list':
      return { type: 'array', elementType: printType(type.element), containsNull: type.elementNullable };
    case 'map':
      return { type: 'map', keyType: printType(type.key), valueType: printType(type.value), valueContainsNull: type.valueNullable };
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}

function damaged(where: string, what: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('DELTA_SCHEMA_INVALID', `${where}: ${what}`, { cause });
}

function unsupported(where: string, type: string): ServiceError {
  return serviceError.unsupported('DELTA_TYPE_UNSUPPORTED', `${where}: type ${type} is not supported`, {
    hint: 'leave the column out of the table, or use a table without it',
  });
}
