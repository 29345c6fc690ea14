import { groupBy } from '../../base/group-by.ts';

/** Members of each partition spec, the newest spec first, in their order. */
export function bySpec<T extends { readonly specId: number }>(
  members: Iterable<T>,
): readonly (readonly [specId: number, members: readonly T[]])[] {
  return [...groupBy(members, ({ specId }) => specId)].toSorted(([left], [right]) => right - left);
}
