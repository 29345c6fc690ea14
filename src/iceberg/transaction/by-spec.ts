/** Members of each partition spec, the newest spec first, in their order. */
export function bySpec<T extends { readonly specId: number }>(
  members: Iterable<T>,
): readonly (readonly [specId: number, members: readonly T[]])[] {
  const groups = new Map<number, T[]>();
  for (const member of members) {
    const group = groups.get(member.specId);
    if (group === undefined) groups.set(member.specId, [member]);
    else group.push(member);
  }
  return [...groups].toSorted(([left], [right]) => right - left);
}
