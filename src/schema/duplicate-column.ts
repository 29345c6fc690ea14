import type { DataType } from './types.ts';

/**
 * The dotted path of a column whose struct has another one of its name, which the engine could not tell apart: the case of a name does not
 * count. `undefined` when there is none.
 */
export function duplicateColumn(type: DataType): string | undefined {
  return duplicateIn(type, []);
}

function duplicateIn(type: DataType, path: readonly string[]): string | undefined {
  switch (type.kind) {
    case 'struct': {
      const seen = new Set<string>();
      for (const field of type.fields) {
        const at = [...path, field.name];
        const name = field.name.toLowerCase();
        if (seen.has(name)) return at.join('.');
        seen.add(name);
        const inside = duplicateIn(field.type, at);
        if (inside !== undefined) return inside;
      }
      return undefined;
    }
    case 'list':
      return duplicateIn(type.element, [...path, 'element']);
    case 'map':
      return duplicateIn(type.key, [...path, 'key']) ?? duplicateIn(type.value, [...path, 'value']);
    default:
      return undefined;
  }
}
