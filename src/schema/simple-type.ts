import { sqlTypeName } from './sql-type.ts';
import type { DataType } from './types.ts';

/**
 * A type as DESCRIBE and `dtypes` spell it: `bigint`, `decimal(10,2)`, `array<varchar(5)>`, `struct<a:int>`.
 *
 * @param memberName how the name of a struct's member is written; default: as it is.
 */
export function simpleTypeName(type: DataType, memberName: (name: string) => string = (name) => name): string {
  switch (type.kind) {
    case 'list':
      return `array<${simpleTypeName(type.element, memberName)}>`;
    case 'map':
      return `map<${simpleTypeName(type.key, memberName)},${simpleTypeName(type.value, memberName)}>`;
    case 'struct':
      return `struct<${type.fields.map((field) => `${memberName(field.name)}:${simpleTypeName(field.type, memberName)}`).join(',')}>`;
    case 'string':
      return type.length === undefined ? 'string' : `${type.length.kind}(${type.length.characters})`;
    default:
      return sqlTypeName(type).toLowerCase();
  }
}
