import { someType } from './type-tree.ts';
import type { DataType } from './types.ts';

/** Whether a value of the type has a map, which has no order and no equal. */
export function holdsMap(type: DataType): boolean {
  return someType(type, ({ kind }) => kind === 'map');
}
