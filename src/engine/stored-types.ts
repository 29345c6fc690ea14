import { quoteName, typeSql } from '../expr/sql/engine-text.ts';
import type { DataType } from '../schema/types.ts';

/** The engine's type of a column in files: as `typeSql`, UUIDs in their own type. */
export function storedTypeSql(type: DataType): string {
  switch (type.kind) {
    case 'string':
      return type.format === 'uuid' ? 'UUID' : typeSql(type);
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoteName(field.name)} ${storedTypeSql(field.type)}`).join(', ')})`;
    case 'list':
      return `${storedTypeSql(type.element)}[]`;
    case 'map':
      return `MAP(${storedTypeSql(type.key)}, ${storedTypeSql(type.value)})`;
    default:
      return typeSql(type);
  }
}

/** Whether values of the type have another form in files than in relations. */
export function isStoredOtherwise(type: DataType): boolean {
  switch (type.kind) {
    case 'string':
      return type.format === 'uuid';
    case 'struct':
      return type.fields.some((field) => isStoredOtherwise(field.type));
    case 'list':
      return isStoredOtherwise(type.element);
    case 'map':
      return isStoredOtherwise(type.key) || isStoredOtherwise(type.value);
    default:
      return false;
  }
}
