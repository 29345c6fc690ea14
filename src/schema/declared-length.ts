import { simpleTypeName } from './simple-type.ts';
import { quotedWhenNeeded } from './sql-type.ts';
import type { DataType, StructType } from './types.ts';

/** Field metadata, by Spark's name, that keeps the declared type of a column whose text has a length: `varchar(5)`, `array<char(2)>`. */
export const declaredTypeKey = '__CHAR_VARCHAR_TYPE_STRING';

/** A declared type as rows have it: text without its length. */
export function withoutLengths(type: DataType): DataType {
  switch (type.kind) {
    case 'string':
      return type.length === undefined ? type : { kind: 'string' };
    case 'struct':
      return structWithoutLengths(type);
    case 'list':
      return { ...type, element: withoutLengths(type.element) };
    case 'map':
      return { ...type, key: withoutLengths(type.key), value: withoutLengths(type.value) };
    default:
      return type;
  }
}

function structWithoutLengths(type: StructType): StructType {
  return { kind: 'struct', fields: type.fields.map((field) => ({ ...field, type: withoutLengths(field.type) })) };
}

/** What the metadata of a field of the declared type has to keep; empty when no text of it has a length. */
export function declaredMetadata(type: DataType): Readonly<Record<string, unknown>> {
  return hasLength(type) ? { [declaredTypeKey]: simpleTypeName(type, quotedWhenNeeded) } : {};
}

/** Whether text of the declared type has a length somewhere. */
export function hasLength(type: DataType): boolean {
  switch (type.kind) {
    case 'string':
      return type.length !== undefined;
    case 'struct':
      return type.fields.some((field) => hasLength(field.type));
    case 'list':
      return hasLength(type.element);
    case 'map':
      return hasLength(type.key) || hasLength(type.value);
    default:
      return false;
  }
}
