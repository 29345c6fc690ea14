import { describe, expect, it } from 'vitest';
import { mapBounded } from '../../../src/base/map-bounded.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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

  it('takes every item once, in order, with at most so many running', async () => {
    const taken: number[] = [];
    let running = 0;
    let most = 0;
    const items = Array.from({ length: 50 }, (_, index) => index);
    await mapBounded(items, 8, async (item) => {
      taken.push(item);
      most = Math.max(most, ++running);
      await turn();
      running -= 1;
    });
    expect(taken).toEqual(items);
    expect(most).toBe(8);
  });

  it('starts few after a failure, waits for what runs, and throws the failure', async () => {
    const taken: number[] = [];
    let running = 0;
    const work = async (item: number): Promise<void> => {
      taken.push(item);
      running += 1;
      await turn();
      running -= 1;
      if (item === 1) throw new RangeError('one');
    };
    await expect(mapBounded([0, 1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('one');
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
    await expect(mapBounded([1, 2, 3], 1, work, cancel.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(taken).toBe(1);
  });

  it('has nothing to do without items', async () => {
    await expect(mapBounded([], 8, () => Promise.reject(new RangeError('never')))).resolves.toEqual([]);
  });
});
