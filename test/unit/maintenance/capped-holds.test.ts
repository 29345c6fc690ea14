import { expect, it } from 'vitest';
import { CappedHolds, type HoldState } from '../../../src/maintenance/capped-holds.ts';
import { JobRunner } from '../../../src/maintenance/job-runner.ts';
import type { FeedHoldSettings } from '../../../src/maintenance/settings.ts';
import type { RetentionHold } from '../../../src/protocol/table-events.ts';
import type { Table } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';
import { MaintenanceBench } from './maintenance-bench.ts';

const hour = 3_600_000;
const hold = (by: string, from: number, releasable = true): RetentionHold => ({ by, fromVersion: toVersion(from), releasable });

/** Versions 0 to 3, two hours apart, as of one hour after the last. */
async function benchWith(settings: FeedHoldSettings, holds: readonly RetentionHold[], more: Partial<Pick<Table, 'heldBytes'>> = {}) {
  const bench = new MaintenanceBench();
  for (let version = 1; version <= 3; version++) {
    await bench.append(1);
    await bench.finished(bench.clock.sleep((version === 3 ? 1 : 2) * hour));
  }
  const looks: (readonly HoldState[])[] = [];
  const capped = new CappedHolds({
    holdsOf: () => Promise.resolve(holds),
    load: async () => {
      const table = await bench.catalog.load('orders');
      return {
        history: (range) => table.history(range),
        refresh: () => table.refresh(),
        heldBytes: more.heldBytes ?? ((version) => table.heldBytes(version)),
      };
    },
    settings,
    clock: bench.clock,
    onLook: (_, states) => {
      looks.push(states);
    },
  });
  return { bench, capped, looks };
}

it('holds for the slowest reader, and tells its age and what it has yet to read', async () => {
  const { capped } = await benchWith({ maxAgeMs: undefined, past: 'release' }, [hold('slow', 2), hold('fast', 4)]);
  expect(await capped.lowWatermark('orders')).toBe(2);
  const states = (await capped.look('orders')).map(({ by, ageMs, versions }) => [by, Math.round(ageMs / hour), versions]);
  expect(states).toEqual([
    ['slow', 3, 2],
    ['fast', 0, 0],
  ]);
});

it.each([
  ['hold', 1, [true, false]],
  ['release', 3, [true, true]],
] as const)('behind the cap, under %s, the watermark is %i and the alarm says so', async (past, watermark, [over, released]) => {
  const { capped, looks } = await benchWith({ maxAgeMs: 4 * hour, past }, [hold('slow', 1), hold('fast', 3)]);
  expect(await capped.lowWatermark('orders')).toBe(watermark);
  expect(looks.at(-1)?.map(({ by, isOver, isReleased }) => [by, isOver, isReleased])).toEqual([
    ['slow', over, released],
    ['fast', false, false],
  ]);
});

it('has a cap by bytes, too', async () => {
  const { capped } = await benchWith({ maxAgeMs: undefined, maxBytes: 1_000, past: 'release' }, [hold('slow', 1), hold('fast', 3)], {
    heldBytes: (version) => Promise.resolve(version === 1 ? 1_001 : 1_000),
  });
  expect((await capped.look('orders')).map(({ by, bytes, isOver }) => [by, bytes, isOver])).toEqual([
    ['slow', 1_001, true],
    ['fast', 1_000, false],
  ]);
  expect(await capped.lowWatermark('orders')).toBe(3);
});

it('never lets go of what a twin shows', async () => {
  const { capped } = await benchWith({ maxAgeMs: 1, past: 'release' }, [hold('twin lake', 0, false), hold('slow', 0)]);
  expect(await capped.lowWatermark('orders')).toBe(0);
});

it('is what jobs ask: the log is cleaned up behind a reader only when that is let go of', async () => {
  for (const [past, kept] of [
    ['hold', true],
    ['release', false],
  ] as const) {
    const { bench, capped } = await benchWith({ maxAgeMs: 24 * hour, past }, [hold('slow', 1)]);
    const runner = new JobRunner({ ...bench.parts, watermarks: capped });
    const job = { table: 'orders', kind: 'checkpoint', reason: 'test' } as const;
    await bench.finished(runner.run(job, new AbortController().signal));
    await bench.finished(bench.clock.sleep(40 * 24 * hour));
    await bench.append(1);
    await bench.finished(runner.run(job, new AbortController().signal));
    const objects: string[] = [];
    for await (const { path } of bench.store.list({ prefix: '_delta_log/' })) objects.push(path);
    expect(objects.includes('_delta_log/00000000000000000001.json')).toBe(kept);
  }
});
