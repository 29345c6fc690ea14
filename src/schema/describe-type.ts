import type { DataType, Field } from './types.ts';

/** A type in one line of SQL-like text: `struct<a:bigint not null,b:array<string>>`. Equal text means equal type, nullability and ids. */
export function describeType(type: DataType, describeMembers: (fields: readonly Field[]) => string = describeFields): string {
  const inside = (inner: DataType, nullable: boolean): string => `${describeType(inner, describeMembers)}${required(nullable)}`;
  switch (type.kind) {
    case 'struct':
      return `struct<${describeMembers(type.fields)}>`;
    case 'list':
      return `array<${inside(type.element, type.elementNullable)}>`;
    case 'map':
      return `map<${inside(type.key, true)},${inside(type.value, type.valueNullable)}>`;
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

/** As it stands behind the type of a column or member. */
export function required(nullable: boolean): string {
  return nullable ? '' : ' not null';
}
