import { duplicatePath } from './type-tree.ts';
import type { DataType } from './types.ts';

/**
 * The dotted path of a column whose struct has another one of its name, which the engine could not tell apart: the case of a name does not
 * count. `undefined` when there is none.
 */
export function duplicateColumn(type: DataType): string | undefined {
  return duplicatePath(type)?.join('.');
}
