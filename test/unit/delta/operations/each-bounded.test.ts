import { describe, expect, it } from 'vitest';
import { eachBounded } from '../../../../src/delta/operations/each-bounded.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('eachBounded', () => {
  it('takes every item once, in order, with at most so many running', async () => {
    const taken: number[] = [];
    let running = 0;
    let most = 0;
    const items = Array.from({ length: 50 }, (_, index) => index);
    await eachBounded(items, 8, async (item) => {
      taken.push(item);
      most = Math.max(most, ++running);
      await turn();
      running -= 1;
    });
    expect(taken).toEqual(items);
    expect(most).toBe(8);
  });

  it('starts nothing after a failure, waits for what runs, and throws the failure', async () => {
    const taken: number[] = [];
    let running = 0;
    const work = async (item: number): Promise<void> => {
      taken.push(item);
      running += 1;
      await turn();
      running -= 1;
      if (item === 1) throw new RangeError('one');
    };
    await expect(eachBounded([0, 1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('one');
    expect(running).toBe(0);
    expect(taken.length).toBeLessThan(5);
  });

  it('stops between items when it is cancelled', async () => {
    const cancel = new AbortController();
    let taken = 0;
    const work = async (): Promise<void> => {
      taken += 1;
      cancel.abort();
      await turn();
    };
    await expect(eachBounded([1, 2, 3], 1, work, cancel.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(taken).toBe(1);
  });

  it('has nothing to do without items', async () => {
    await expect(eachBounded([], 8, () => Promise.reject(new RangeError('never')))).resolves.toBeUndefined();
  });
});
