import { describe, expect, it } from 'vitest';
import { SeededNumbers } from '../../../src/engine/spark-random.ts';

describe('numbers of a seed', () => {
  it('are those that Spark documents of rand and randn', () => {
    const first = (seed: bigint, kind: 'uniform' | 'normal'): number => new SeededNumbers(seed, kind).at(0);
    expect([first(0n, 'uniform'), first(42n, 'uniform')]).toEqual([0.7604953758285915, 0.619189370225301]);
    expect([first(0n, 'normal'), first(42n, 'normal')]).toEqual([1.6034991609278433, 2.384479054241165]);
  });

  it.each(['uniform', 'normal'] as const)('are the same in whatever order they are asked for: %s', (kind) => {
    const inOrder = new SeededNumbers(-7n, kind);
    const expected = Array.from({ length: 10_000 }, (_, place) => inOrder.at(place));
    const jumping = new SeededNumbers(-7n, kind);
    const places = [9_999, 5, 4_096, 4_095, 4_097, 2_048, 7_000, 0, 1, 9_998, 2_047];
    expect(places.map((place) => jumping.at(place))).toEqual(places.map((place) => expected[place]));
    expect(new Set(expected).size).toBe(expected.length);
  });
});
