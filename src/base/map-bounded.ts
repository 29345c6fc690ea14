import { throwIfAborted } from './abort.ts';

/**
 * The results of `work` on every item, in their order; at most `concurrency` run at a time, started in order. After the first failure no
 * further item is started, and the failure is thrown when the running ones have ended; the signal ends the work between items.
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let failed = false;
  const runs = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    for (const [index, item] of queue) {
      if (failed) return;
      try {
        throwIfAborted(signal);
        results[index] = await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  });
  const rejected = (await Promise.allSettled(runs)).find((run) => run.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
  return results;
}
