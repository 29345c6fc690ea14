import { sqlTypeName } from './sql-type.ts';
import type { DataType } from './types.ts';

/** A type as DESCRIBE and `dtypes` spell it: `bigint`, `decimal(10,2)`, `array<string>`, `struct<a:int>`. */
export function simpleTypeName(type: DataType): string {
  switch (type.kind) {
    case 'list':
      return `array<${simpleTypeName(type.element)}>`;
    case 'map':
      return `map<${simpleTypeName(type.key)},${simpleTypeName(type.value)}>`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.name}:${simpleTypeName(field.type)}`).join(',')}>`;
    default:
      return sqlTypeName(type).toLowerCase();
  }
}
