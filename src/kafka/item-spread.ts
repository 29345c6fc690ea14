/** What a member of a work group brings into a generation. */
export interface WorkClaim {
  readonly memberId: string;
  /** What people call it. */
  readonly member: string;
  readonly wanted: readonly string[];
  /** What it worked on before, as of `generation`. */
  readonly owned: readonly string[];
  readonly generation: number;
}

/**
 * Divides items evenly among those that want them: item -> member id. Whoever works on an item keeps it as long as nobody is short of work,
 * because a change of hands costs a new opening; of two that claim to, the one of the newer generation does. The same claims give the same
 * answer, in whatever order.
 */
export function spreadItems(claims: readonly WorkClaim[]): ReadonlyMap<string, string> {
  const members = [...claims].sort((a, b) => b.generation - a.generation || (a.memberId < b.memberId ? -1 : 1));
  const items = [...new Set(members.flatMap(({ wanted }) => wanted))].sort();
  const least = Math.floor(items.length / Math.max(1, members.length));
  /** How many members may hold one more than `least`. */
  let spare = items.length - least * members.length;
  const loads = new Map<string, number>(members.map(({ memberId }) => [memberId, 0]));
  const owners = new Map<string, string>();
  const give = (item: string, memberId: string): void => {
    owners.set(item, memberId);
    loads.set(memberId, (loads.get(memberId) ?? 0) + 1);
  };
  for (const { memberId, owned, wanted } of members) {
    for (const item of owned) {
      const over = (loads.get(memberId) ?? 0) - least;
      if (owners.has(item) || !wanted.includes(item) || over > 0 || (over === 0 && spare === 0)) continue;
      if (over === 0) spare -= 1;
      give(item, memberId);
    }
  }
  for (const item of items) {
    if (owners.has(item)) continue;
    const takers = members.filter(({ wanted }) => wanted.includes(item));
    const [first] = takers.sort(
      (a, b) => (loads.get(a.memberId) ?? 0) - (loads.get(b.memberId) ?? 0) || (a.memberId < b.memberId ? -1 : 1),
    );
    if (first !== undefined) give(item, first.memberId);
  }
  return owners;
}

/** Who owns each item, by the members' names. */
export function ownersByName(claims: readonly WorkClaim[], owners: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const names = new Map(claims.map(({ memberId, member }) => [memberId, member]));
  return new Map([...owners].map(([item, memberId]) => [item, names.get(memberId) ?? memberId]));
}
