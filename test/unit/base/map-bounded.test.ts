import { describe, expect, it } from 'vitest';
import { mapBounded } from '../../../src/base/map-bounded.ts';

describe('bounded work', () => {
  it('gives results in the order of the items, running no more at a time than allowed', async () => {
    let [running, most] = [0, 0];
    const results = await mapBounded([30, 1, 20, 2], 2, async (ms, index) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
      return `${index}:${ms}`;
    });
    expect(results).toEqual(['0:30', '1:1', '2:20', '3:2']);
    expect(most).toBe(2);
  });

  it('starts nothing after a failure and throws it when what runs has ended', async () => {
    const started: number[] = [];
    let ended = false;
    const work = mapBounded([0, 1, 2, 3], 2, async (item) => {
      started.push(item);
      if (item === 0) throw new RangeError('first');
      await new Promise((resolve) => setTimeout(resolve, 10));
      ended = true;
    });
    await expect(work).rejects.toThrow('first');
    expect([started, ended]).toEqual([[0, 1], true]);
  });
});
