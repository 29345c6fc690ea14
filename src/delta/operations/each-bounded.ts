import { throwIfAborted } from '../../base/abort.ts';

/**
 * Runs `action` on every item, at most `concurrency` at a time, started in order. After the first failure no further item is started, and
 * the failure is thrown when the running ones have ended.
 */
export async function eachBounded<Item>(
  items: readonly Item[],
  concurrency: number,
  action: (item: Item) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failed) return;
      throwIfAborted(signal);
      await action(item);
    }
  };
  const runs = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    try {
      await worker();
    } catch (error) {
      failed = true;
      throw error;
    }
  });
  const rejected = (await Promise.allSettled(runs)).find((run) => run.status === 'rejected');
  if (rejected !== undefined) throw rejected.reason;
}
