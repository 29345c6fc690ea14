import { describe, expect, it } from 'vitest';
import { LruCache } from '../../../src/base/lru-cache.ts';

describe('a cache by weight', () => {
  it('lets go of what was unused for longest', () => {
    const cache = new LruCache<string, number>({ maxWeight: 10 });
    cache.put('a', 1, 4);
    cache.put('b', 2, 4);
    cache.take('a');
    cache.put('c', 3, 4);
    expect([cache.take('a'), cache.take('b'), cache.take('c')]).toEqual([1, undefined, 3]);
  });

  it('does not keep what is heavier than the whole, nor an older value in its place', () => {
    const cache = new LruCache<string, number>({ maxWeight: 10 });
    cache.put('a', 1, 4);
    cache.put('a', 2, 11);
    expect(cache.take('a')).toBeUndefined();
    cache.put('b', 3, 10);
    expect(cache.take('b')).toBe(3);
  });
});
