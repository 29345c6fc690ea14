import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import type { JobHandler, JobQueue } from '../../src/maintenance/job-queue.ts';
import type { JobSpec } from '../../src/maintenance/job-spec.ts';
import { eventually } from '../support/process.ts';

const spec = (table: string, kind: JobSpec['kind'] = 'compact'): JobSpec => ({ table, kind, reason: 'a test' });

/** A handler whose jobs wait until the test lets them end. */
class HeldJobs {
  readonly started: string[] = [];
  running = 0;
  mostAtOnce = 0;
  #released = false;

  readonly handler: JobHandler = async ({ table, kind }, signal) => {
    this.started.push(`${table}/${kind}`);
    this.running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
    try {
      await eventually('the test lets its jobs end', () => this.#released || signal.aborted);
      if (!this.#released) throw new ServiceError({ code: 'ABORTED', kind: 'aborted', message: 'stopped' });
    } finally {
      this.running -= 1;
    }
  };

  release(): void {
    this.#released = true;
  }
}

/** What every job queue promises. `open` gives a queue over an empty server, with two attempts a job. */
export function describeJobQueue(name: string, open: () => Promise<JobQueue & AsyncDisposable>): void {
  describe(`${name} as a job queue`, () => {
    it('hands a job out as it was put in', async () => {
      await using queue = await open();
      const seen: JobSpec[] = [];
      queue.work((job) => {
        seen.push(job);
        return Promise.resolve();
      }, 1);
      expect(await queue.enqueue({ table: 'a.b', kind: 'vacuum', reason: '7 tombstones, "quoted"' })).toBe('queued');
      await eventually('the job is done', async () => (await queue.counts('vacuum')).completed === 1);
      expect(seen).toEqual([{ table: 'a.b', kind: 'vacuum', reason: '7 tombstones, "quoted"' }]);
    });

    it('keeps one job of a table and kind, waiting or running, and takes another when it is done', async () => {
      await using queue = await open();
      expect(await queue.enqueue(spec('t'))).toBe('queued');
      expect(await queue.enqueue({ ...spec('t'), reason: 'another one' })).toBe('already-queued');
      expect(await queue.enqueue(spec('t', 'vacuum'))).toBe('queued');
      expect(await queue.enqueue(spec('u'))).toBe('queued');
      expect(await queue.counts('compact')).toMatchObject({ waiting: 2, active: 0 });
      const jobs = new HeldJobs();
      queue.work(jobs.handler, 3);
      await eventually('three jobs run', () => jobs.running === 3);
      expect(await queue.enqueue(spec('t'))).toBe('already-queued');
      jobs.release();
      await eventually('two jobs are done', async () => (await queue.counts('compact')).completed === 2);
      expect(await queue.enqueue(spec('t'))).toBe('queued');
      await eventually('three jobs are done', async () => (await queue.counts('compact')).completed === 3);
    });

    it('tries a failed job again, gives it up after its attempts, and takes it anew', async () => {
      await using queue = await open();
      let attempts = 0;
      let broken = true;
      queue.work(() => {
        attempts += 1;
        return broken ? Promise.reject(new ServiceError({ code: 'BROKEN', kind: 'unavailable', message: 'broken' })) : Promise.resolve();
      }, 1);
      await queue.enqueue(spec('t'));
      await eventually('the job is given up', async () => (await queue.counts('compact')).failed === 1);
      expect(attempts).toBe(2);
      broken = false;
      expect(await queue.enqueue(spec('t'))).toBe('queued');
      await eventually('the job is done', async () => (await queue.counts('compact')).completed === 1);
      expect(attempts).toBe(3);
    });

    it('runs no more jobs at once than it was told to, over all kinds', async () => {
      await using queue = await open();
      const jobs = new HeldJobs();
      queue.work(jobs.handler, 2);
      for (const kind of ['compact', 'vacuum', 'checkpoint'] as const)
        for (const table of ['a', 'b']) await queue.enqueue(spec(table, kind));
      await eventually('two jobs run', () => jobs.running === 2);
      await pause(200);
      jobs.release();
      await eventually('six jobs have begun', () => jobs.started.length === 6);
      expect(jobs.mostAtOnce).toBe(2);
      expect(new Set(jobs.started).size).toBe(6);
    });

    it('keeps when work last ended well, for each table and kind', async () => {
      await using queue = await open();
      const identity = { table: 'a.b', kind: 'vacuum' } as const;
      expect(await queue.lastDoneMs(identity)).toBeUndefined();
      await queue.noteDone(identity, toEpochMs(1_700_000_000_000));
      await queue.noteDone(identity, toEpochMs(1_700_000_000_001));
      expect(await queue.lastDoneMs(identity)).toBe(1_700_000_000_001);
      expect(await queue.lastDoneMs({ ...identity, kind: 'compact' })).toBeUndefined();
      expect(await queue.lastDoneMs({ ...identity, table: 'a' })).toBeUndefined();
    });

    it('tells running jobs to stop when it closes, and waits for them', async () => {
      await using queue = await open();
      const jobs = new HeldJobs();
      queue.work(jobs.handler, 1);
      await queue.enqueue(spec('t'));
      await eventually('a job runs', () => jobs.running === 1);
      await queue.close();
      expect(jobs.running).toBe(0);
    });
  });
}
