import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PersistentMap } from '../../../src/delta/persistent-map.ts';

describe('PersistentMap', () => {
  it('behaves as a map whose older states stay as they were', () => {
    const key = fc.integer({ min: 0, max: 60 }).map(String);
    const step = fc.record({ key, value: fc.option(fc.integer(), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let map = PersistentMap.empty<number>();
        const model = new Map<string, number>();
        const states: (readonly [PersistentMap<number>, ReadonlyMap<string, number>])[] = [];
        for (const { key, value } of steps) {
          map = value === undefined ? map.without(key) : map.with(key, value);
          if (value === undefined) model.delete(key);
          else model.set(key, value);
          states.push([map, new Map(model)]);
        }
        for (const [state, expected] of states) {
          expect(state.size).toBe(expected.size);
          expect(new Map(state)).toEqual(expected);
          for (const [name, value] of expected) expect(state.get(name)).toBe(value);
        }
      }),
    );
  });

  it('holds many keys and gives them all up again', () => {
    let map = PersistentMap.empty<number>();
    for (let index = 0; index < 20_000; index++) map = map.with(`part-${index}.parquet`, index);
    expect(map.size).toBe(20_000);
    expect(map.get('part-19999.parquet')).toBe(19_999);
    for (let index = 0; index < 20_000; index++) map = map.without(`part-${index}.parquet`);
    expect([...map]).toEqual([]);
  });

  it('keeps keys apart that share a hash', () => {
    // Found by search: the same 32-bit hash.
    const keys = collidingKeys();
    let map = PersistentMap.empty<string>();
    for (const key of keys) map = map.with(key, key);
    expect(keys.map((key) => map.get(key))).toEqual(keys);
    const [first = '', ...rest] = keys;
    map = map.without(first);
    expect(map.get(first)).toBeUndefined();
    expect(rest.map((key) => map.get(key))).toEqual(rest);
  });
});

/** FNV-1a of 32 bits collides among some hundred thousand short keys; the finish after it keeps equal hashes equal. */
function collidingKeys(): readonly string[] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index++) {
    const key = `k${index}`;
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    const other = seen.get(hash);
    if (other !== undefined) return [other, key];
    seen.set(hash, key);
  }
}
