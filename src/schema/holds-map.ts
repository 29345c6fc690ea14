import type { DataType } from './types.ts';

/** Whether a value of the type has a map, which has no order and no equal. */
export function holdsMap(type: DataType): boolean {
  switch (type.kind) {
    case 'map':
      return true;
    case 'list':
      return holdsMap(type.element);
    case 'struct':
      return type.fields.some((field) => holdsMap(field.type));
    default:
      return false;
  }
}
