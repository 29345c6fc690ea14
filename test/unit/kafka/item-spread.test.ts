import { expect, it } from 'vitest';
import { spreadItems, type WorkClaim } from '../../../src/kafka/item-spread.ts';

const claim = (memberId: string, owned: readonly string[] = [], more: Partial<WorkClaim> = {}): WorkClaim => ({
  memberId,
  member: memberId,
  wanted: ['a', 'b', 'c', 'd', 'e'],
  owned,
  generation: 1,
  ...more,
});

const shares = (claims: readonly WorkClaim[]): Readonly<Record<string, string>> => Object.fromEntries(spreadItems(claims));

it('gives every item to one of those that want it, evenly', () => {
  const given = Object.values(shares([claim('x'), claim('y')]));
  expect(given.toSorted()).toEqual(['x', 'x', 'x', 'y', 'y']);
  expect(shares([claim('x', [], { wanted: ['a'] }), claim('y', [], { wanted: ['b'] })])).toEqual({ a: 'x', b: 'y' });
  expect(shares([])).toEqual({});
});

it('leaves items where they are, and moves only what makes it even', () => {
  const before = { a: 'x', b: 'x', c: 'x', d: 'y', e: 'y' };
  expect(shares([claim('x', ['a', 'b', 'c']), claim('y', ['d', 'e'])])).toEqual(before);
  const after = shares([claim('x', ['a', 'b', 'c']), claim('y', ['d', 'e']), claim('z')]);
  expect(Object.entries(after).filter(([item, owner]) => owner !== before[item as keyof typeof before]).length).toBe(1);
});

it('believes the newer of two that claim an item', () => {
  const zombie = claim('zombie', ['a'], { wanted: ['a'], generation: 3 });
  expect(shares([zombie, claim('heir', ['a'], { wanted: ['a'], generation: 4 })])).toEqual({ a: 'heir' });
});

it('gives the same answer in whatever order the claims come', () => {
  const claims = [claim('x', ['a']), claim('y', ['b', 'c']), claim('z', [], { wanted: ['e'] })];
  expect(shares(claims.toReversed())).toEqual(shares(claims));
});
