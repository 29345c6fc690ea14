import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import type { JobQueue } from '../../../src/maintenance/job-queue.ts';
import { MaintenanceService } from '../../../src/maintenance/maintenance-service.ts';
import { MemoryJobQueue } from '../../support/memory-queue.ts';
import { MaintenanceBench, maintenanceSettings } from './maintenance-bench.ts';

function serviceOn(bench: MaintenanceBench, queue: JobQueue = new MemoryJobQueue({ maxAttempts: 2 })): MaintenanceService {
  return new MaintenanceService({ ...bench.parts, queue });
}

/** Runs the service for so much simulated time, then stops it. */
async function runFor(bench: MaintenanceBench, service: MaintenanceService, durationMs: number): Promise<void> {
  const stop = new AbortController();
  const running = service.run(stop.signal);
  await bench.clock.runUntil(() => false, bench.clock.monotonicMs() + durationMs);
  stop.abort();
  await bench.finished(running);
}

describe('the maintenance service', () => {
  it('finds the debt of a table and pays it, once', async () => {
    const bench = new MaintenanceBench();
    const table = await bench.append(5);
    await runFor(bench, serviceOn(bench), 3_500);
    expect(await table.refresh()).toMatchObject({ fileCount: 1, rowCount: 5 });
    const paid = bench.log.filter((entry) => entry.startsWith('finished'));
    expect(paid).toEqual(['finished checkpoint: done', 'finished compact: done', 'finished vacuum: nothing-to-do']);
    expect(bench.log).toContain('queued compact: 5 small files in 1 partition');
    expect(bench.log).toContain('queued checkpoint: 6 versions since the last log checkpoint');
  });

  it('finds the same debt again after a restart, or after the queue lost everything', async () => {
    const bench = new MaintenanceBench();
    await bench.append(5);
    const asked = async (): Promise<readonly string[]> => {
      bench.log.length = 0;
      await bench.finished(serviceOn(bench).sweep());
      return bench.log.filter((entry) => entry.startsWith('queued'));
    };
    const first = await asked();
    expect(first).toHaveLength(3);
    expect(await asked()).toEqual(first);
  });

  it('does not ask again for what waits already', async () => {
    const bench = new MaintenanceBench();
    await bench.append(5);
    const service = serviceOn(bench);
    await bench.finished(service.sweep());
    bench.log.length = 0;
    await bench.finished(service.sweep());
    expect(bench.log).toEqual(['health orders: 5 files, 5 small']);
  });

  it('passes over tables that nobody has made, and goes on after a table it cannot look at', async () => {
    const bench = new MaintenanceBench();
    await bench.append(1);
    const service = serviceOn(bench);
    bench.store.failNext('read', 'before');
    await bench.finished(service.sweep());
    expect(bench.log).toEqual([expect.stringContaining('sweep failed orders: STORAGE_UNAVAILABLE')]);
    await bench.finished(service.sweep());
    expect(bench.log).toContain('health orders: 1 files, 1 small');
  });

  it('goes on while the queue is away, and asks again when it is back', async () => {
    const bench = new MaintenanceBench();
    const table = await bench.append(5);
    const queue = new MemoryJobQueue({ maxAttempts: 2 });
    let away = true;
    const flaky: JobQueue = {
      enqueue: (spec) =>
        away
          ? Promise.reject(new ServiceError({ code: 'QUEUE_UNAVAILABLE', kind: 'unavailable', message: 'redis does not answer' }))
          : queue.enqueue(spec),
      work: (handler, concurrency) => {
        queue.work(handler, concurrency);
      },
      counts: (kind) => queue.counts(kind),
      noteDone: (identity, atMs) => queue.noteDone(identity, atMs),
      lastDoneMs: (identity) => queue.lastDoneMs(identity),
      connected: true,
      close: () => queue.close(),
    };
    const stop = new AbortController();
    const running = serviceOn(bench, flaky).run(stop.signal);
    await bench.clock.runUntil(() => false, 2_500);
    expect(bench.log).toContain('sweep failed orders: QUEUE_UNAVAILABLE: redis does not answer');
    away = false;
    await bench.clock.runUntil(() => false, 5_000);
    stop.abort();
    await bench.finished(running);
    expect((await table.refresh()).fileCount).toBe(1);
  });

  it('vacuums once an interval, whatever the result and however often it starts anew', async () => {
    const bench = new MaintenanceBench();
    await bench.append(1);
    const vacuums = (): number => bench.log.filter((entry) => entry === 'started vacuum').length;
    for (let start = 0; start < 3; start += 1) await runFor(bench, serviceOn(bench), 10_000);
    expect(vacuums()).toBe(1);
    const passed = bench.clock.sleep(maintenanceSettings.vacuum.intervalMs);
    await bench.clock.runUntil(() => false, bench.clock.monotonicMs() + maintenanceSettings.vacuum.intervalMs);
    await passed;
    await runFor(bench, serviceOn(bench), 10_000);
    expect(vacuums()).toBe(2);
  });

  it('takes the word of the queue for a vacuum that left nothing in the table', async () => {
    const bench = new MaintenanceBench();
    await bench.append(1);
    const queue = new MemoryJobQueue({ maxAttempts: 2 });
    await queue.noteDone({ table: 'orders', kind: 'vacuum' }, toEpochMs(bench.clock.now()));
    await runFor(bench, serviceOn(bench, queue), 10_000);
    expect(bench.log).not.toContain('started vacuum');
  });
});
