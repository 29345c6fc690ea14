import type { DataType, Field } from './types.ts';

/** A type in one line of SQL-like text: `struct<a:bigint not null,b:array<string>>`. Equal text means equal type, nullability and ids. */
export function describeType(type: DataType): string {
  switch (type.kind) {
    case 'struct':
      return `struct<${describeFields(type.fields)}>`;
    case 'list':
      return `array<${describeType(type.element)}${required(type.elementNullable)}>`;
    case 'map':
      return `map<${describeType(type.key)},${describeType(type.value)}${required(type.valueNullable)}>`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}

/** The fields of a struct, comma separated; ids are shown where a field has one. */
export function describeFields(fields: readonly Field[]): string {
  return fields
    .map((field) => `${field.name}:${describeType(field.type)}${required(field.nullable)}${field.id === undefined ? '' : `#${field.id}`}`)
    .join(',');
}

function required(nullable: boolean): string {
  return nullable ? '' : ' not null';
}
