import { someType } from './type-tree.ts';
import type { DataType, Field, StructType } from './types.ts';

/** How columns hold variants: as a struct of two byte strings, neither of which is null where the variant is not. */
export const variantFields: readonly Field[] = [
  { name: 'metadata', type: { kind: 'binary' }, nullable: false },
  { name: 'value', type: { kind: 'binary' }, nullable: false },
];

export const variantStruct: StructType = { kind: 'struct', fields: variantFields };

/** The same in relations, by names that tell it from every struct of a table. */
export const variantInRelations: StructType = {
  kind: 'struct',
  fields: variantFields.map((field) => ({ ...field, name: `__variant_${field.name}` })),
};

/** Types whose values are neither equal nor ordered: no partitions, keys, groups, sorts or bounds by them. */
export function isComparable(type: DataType): boolean {
  return !someType(type, (inner) => inner.kind === 'variant');
}
