import { expect, it } from 'vitest';
import { FeedHarness, feedSpec } from './feed-harness.ts';

const spec = { ...feedSpec, partitions: 1, start: { kind: 'snapshot' }, maxTransactionRows: 10 } as const;

/** A table of 25 rows. */
async function tableOf25(): Promise<FeedHarness> {
  const harness = new FeedHarness();
  const rows = Array.from({ length: 25 }, (_, id) => ({ id, name: `v0-${id}` }));
  await harness.table.commit([{ kind: 'insert', rows }]);
  await harness.table.setLive([{ kind: 'insert', rows }]);
  return harness;
}

async function opsAndKeys(harness: FeedHarness): Promise<readonly string[]> {
  return (await harness.published()).map(({ key, headers }) => {
    const op = headers.find(([name]) => name === 'op')?.[1] ?? new Uint8Array();
    return `${Buffer.from(op).toString()} ${(JSON.parse(Buffer.from(key ?? []).toString()) as { readonly id: number }).id}`;
  });
}

it('tells how far it is, and keeps to its rate in transactions of a second', async () => {
  const harness = await tableOf25();
  const seen: unknown[] = [];
  const beginMs = harness.clock.monotonicMs();
  const running = harness.start({ ...spec, snapshotMaxRowsPerSecond: 5 }, (name) => {
    if (name === 'after-transaction') seen.push(running.feed.status().snapshot);
    return Promise.resolve();
  });
  await running.feed.drain(harness.table.latestVersion);
  expect(harness.clock.monotonicMs() - beginMs).toBeGreaterThanOrEqual(4_000);
  expect(running.feed.status().snapshot).toBeUndefined();
  await running.stop();
  // Each as of the transaction before.
  expect(seen.slice(0, 5)).toMatchObject([
    undefined,
    { version: 0, rows: 5, totalRows: 25, percent: 20 },
    { rows: 10, percent: 40 },
    { rows: 15, percent: 60, rowsPerSecond: expect.closeTo(5, -1) as number, remainingSeconds: expect.any(Number) as number },
    { rows: 20, percent: 80 },
  ]);
});

it.each([1, 2])(
  'goes on inside a snapshot when the process died at transaction %i, and changes follow without gap or overlap',
  async (nth) => {
    const harness = await tableOf25();
    let left = nth;
    const first = harness.start(spec, (name) => {
      if (name !== 'before-transaction' || left-- > 0) return Promise.resolve();
      harness.crashNewest();
      return Promise.reject(new Error('crash'));
    });
    await first.ended;
    expect((await opsAndKeys(harness)).length).toBe(nth * 10);
    await harness.table.commit([{ kind: 'insert', rows: [{ id: 100, name: 'new' }] }]);
    await harness.catchUp(spec);
    expect(await opsAndKeys(harness)).toEqual([...Array.from({ length: 25 }, (_, id) => `r ${id}`), 'c 100']);
  },
);
