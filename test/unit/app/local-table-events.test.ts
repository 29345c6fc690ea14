import { describe, expect, it } from 'vitest';
import { LocalTableEvents } from '../../../src/app/local-table-events.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('table events within a process', () => {
  it('wake those who wait for the table, and nobody else', async () => {
    const clock = new SimulatedClock();
    const events = new LocalTableEvents(clock);
    const woken: string[] = [];
    void events.waitForCommit('orders', 10_000).then(() => woken.push('orders'));
    void events.waitForCommit('flights', 10_000).then(() => woken.push('flights'));
    events.committed('orders');
    await clock.runUntil(() => woken.length > 0, 5_000);
    expect({ woken, atMs: clock.monotonicMs() }).toEqual({ woken: ['orders'], atMs: 0 });
  });

  it('cost one poll interval when they are missed, and end a wait when the caller stops', async () => {
    const clock = new SimulatedClock();
    const events = new LocalTableEvents(clock);
    events.committed('orders');
    let ended = 0;
    void events.waitForCommit('orders', 1_000).then(() => (ended += 1));
    await clock.runUntil(() => ended === 1, 5_000);
    expect(clock.monotonicMs()).toBe(1_000);
    const stop = new AbortController();
    void events.waitForCommit('orders', 1_000, stop.signal).then(() => (ended += 1));
    stop.abort();
    await clock.runUntil(() => ended === 2, 5_000);
    expect(clock.monotonicMs()).toBe(1_000);
  });
});
