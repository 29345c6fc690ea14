import { describe, expect, it } from 'vitest';
import { JobRunner } from '../../../src/maintenance/job-runner.ts';
import type { JobSpec } from '../../../src/maintenance/job-spec.ts';
import { toVersion } from '../../../src/table/version.ts';
import { MaintenanceBench, maintenanceSettings } from './maintenance-bench.ts';

const never = new AbortController().signal;
const job = (kind: JobSpec['kind'], table = 'orders'): JobSpec => ({ table, kind, reason: 'a test' });
const weekMs = 7 * 86_400_000;

describe('running a job', () => {
  it('compacts small files once; the second run finds nothing to do', async () => {
    const bench = new MaintenanceBench();
    const table = await bench.append(4);
    const runner = new JobRunner(bench.parts);
    expect(await bench.finished(runner.run(job('compact'), never))).toBe('done');
    expect(await table.refresh()).toMatchObject({ version: 5, fileCount: 1, rowCount: 4 });
    expect(await bench.finished(runner.run(job('compact'), never))).toBe('nothing-to-do');
    expect(bench.log).toEqual(['started compact', 'finished compact: done', 'started compact', 'finished compact: nothing-to-do']);
  });

  it('writes a log checkpoint of the newest version, if there is none', async () => {
    const bench = new MaintenanceBench();
    await bench.append(2);
    const runner = new JobRunner(bench.parts);
    expect(await bench.finished(runner.run(job('checkpoint'), never))).toBe('done');
    expect(await bench.finished(runner.run(job('checkpoint'), never))).toBe('nothing-to-do');
  });

  it('vacuums what the slowest feed no longer needs, and asks where it stands at every run', async () => {
    const bench = new MaintenanceBench();
    await bench.append(4);
    const runner = new JobRunner(bench.parts);
    await bench.finished(runner.run(job('compact'), never));
    await bench.clock.runUntil(() => false, bench.clock.monotonicMs());
    const slept = bench.clock.sleep(weekMs + 3_600_000);
    await bench.clock.runUntil(() => false, weekMs * 2);
    await slept;
    bench.watermark = toVersion(1);
    expect(await bench.finished(runner.run(job('vacuum'), never))).toBe('nothing-to-do');
    bench.watermark = toVersion(6);
    expect(await bench.finished(runner.run(job('vacuum'), never))).toBe('done');
    expect(bench.store.calls.get('delete')).toBeGreaterThanOrEqual(4);
  });

  it('rejects with what the table threw, after telling the observer', async () => {
    const bench = new MaintenanceBench();
    const runner = new JobRunner(bench.parts);
    await expect(bench.finished(runner.run(job('compact', 'empty'), never))).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' });
    expect(bench.log).toEqual(['started compact', expect.stringContaining('failed compact: TABLE_NOT_FOUND')]);
  });

  it('runs jobs of one table one after another, and goes on after one that failed', async () => {
    const bench = new MaintenanceBench();
    await bench.append(4);
    bench.store.rates = { before: 0, after: 0, maxLatencyMs: 50 };
    const runner = new JobRunner(bench.parts);
    bench.store.failNext('read', 'before');
    const [first, second] = [runner.run(job('compact'), never), runner.run(job('checkpoint'), never)];
    first.catch(() => undefined);
    expect(await bench.finished(second)).toBe('done');
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
    expect(bench.log.map((entry) => entry.split(':')[0])).toEqual([
      'started compact',
      'failed compact',
      'started checkpoint',
      'finished checkpoint',
    ]);
  });

  it('tells of a job that the end of its process cuts off as stopped', async () => {
    const bench = new MaintenanceBench();
    await bench.append(4);
    bench.store.rates = { before: 0, after: 0, maxLatencyMs: 50_000 };
    const runner = new JobRunner(bench.parts);
    const stop = new AbortController();
    const running = runner.run(job('compact'), stop.signal);
    stop.abort();
    await expect(bench.finished(running)).rejects.toMatchObject({ kind: 'aborted' });
    expect(bench.log).toEqual(['started compact', 'stopped compact']);
  });

  it('stops a job that exceeds its time', async () => {
    const bench = new MaintenanceBench();
    await bench.append(4);
    bench.store.rates = { before: 0, after: 0, maxLatencyMs: 50_000 };
    const runner = new JobRunner({ ...bench.parts, settings: { ...maintenanceSettings, jobTimeoutMs: 100 } });
    const startedMs = bench.clock.monotonicMs();
    await expect(bench.finished(runner.run(job('compact'), never))).rejects.toMatchObject({ kind: 'aborted' });
    expect(bench.clock.monotonicMs() - startedMs).toBeLessThan(1_000);
    expect(bench.log).toEqual(['started compact', expect.stringContaining('failed compact: ABORTED')]);
  });
});
