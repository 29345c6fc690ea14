import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { BullJobQueue } from '../../../src/maintenance/bull-queue.ts';
import { type JobSpec, printJobSpec } from '../../../src/maintenance/job-spec.ts';
import type { MaintenanceKind } from '../../../src/table/table.ts';
import { describeJobQueue } from '../../conformance/job-queue.ts';
import { eventually } from '../../support/process.ts';
import { privateRedis, redisUrl } from '../../support/servers.ts';

let opened = 0;
const freshPrefix = (): string => `test-${process.pid}-${(opened += 1)}`;
const job: JobSpec = { table: 'orders', kind: 'compact', reason: 'a test' };

class OpenQueue extends BullJobQueue {
  constructor(url: string, prefix: string, maxAttempts = 2, onRefused: (kind: MaintenanceKind, error: unknown) => void = () => undefined) {
    super({ url, prefix, maxAttempts, onConnection: () => undefined, onRefused });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Commands fail at once before the first connection. */
  async ready(): Promise<this> {
    await eventually('the queue is connected', () => this.connected);
    return this;
  }
}

describeJobQueue('BullMQ', () => new OpenQueue(redisUrl(), freshPrefix()).ready());

describe('jobs in redis', () => {
  it('go to another process when the one that ran them was killed', async () => {
    const prefix = freshPrefix();
    await using queue = await new OpenQueue(redisUrl(), prefix).ready();
    const [loader, script] = ['../../support/run-typescript.mjs', './hanging-worker.ts'].map((name) =>
      fileURLToPath(new URL(name, import.meta.url)),
    );
    const worker = spawn(process.execPath, ['--import', loader ?? '', script ?? '', redisUrl(), prefix]);
    try {
      await queue.enqueue(job);
      const [said] = (await once(worker.stdout, 'data')) as [Buffer];
      expect(said.toString()).toContain('working on orders');
    } finally {
      worker.kill('SIGKILL');
    }
    const seen: JobSpec[] = [];
    queue.work((spec) => {
      seen.push(spec);
      return Promise.resolve();
    }, 1);
    await eventually('the job is handed out', () => seen.length > 0);
    await eventually('the job is done', async () => (await queue.counts('compact')).completed === 1);
    expect(seen).toEqual([job]);
  });

  it('that are none are told and not tried again, and those behind them run', async () => {
    const prefix = freshPrefix();
    const refused: string[] = [];
    await using queue = await new OpenQueue(redisUrl(), prefix, 2, (kind, error) => refused.push(`${kind}: ${String(error)}`)).ready();
    const stranger = new Queue('compact', { connection: { url: redisUrl() }, prefix, skipVersionCheck: true });
    const hostile: unknown[] = [
      null,
      7,
      {},
      [printJobSpec(job)],
      { v: 1, table: 'orders' },
      'no JSON',
      'null',
      '{"v":2}',
      'x'.repeat(1_000_000),
    ];
    try {
      for (const payload of hostile) await stranger.add('\u001b[2Jcompact', payload, { attempts: 1000 });
      await queue.enqueue(job);
      const seen: JobSpec[] = [];
      queue.work((spec) => {
        seen.push(spec);
        return Promise.resolve();
      }, 1);
      await eventually('the job is done', async () => (await queue.counts('compact')).completed === 1);
      expect(seen).toEqual([job]);
      expect(await queue.counts('compact')).toMatchObject({ failed: hostile.length, waiting: 0, delayed: 0 });
      expect(refused).toHaveLength(hostile.length);
      for (const told of refused) expect(told.length).toBeLessThan(400);
    } finally {
      await stranger.close();
    }
  });

  it('outlive the process that asked for them', async () => {
    const prefix = freshPrefix();
    {
      await using asking = await new OpenQueue(redisUrl(), prefix).ready();
      await asking.enqueue(job);
    }
    await using working = await new OpenQueue(redisUrl(), prefix).ready();
    expect(await working.enqueue(job)).toBe('already-queued');
    working.work(() => Promise.resolve(), 1);
    await eventually('the job is done', async () => (await working.counts('compact')).completed === 1);
  });

  it('are dropped when what is stored is no job, and do not stop others', async () => {
    const prefix = freshPrefix();
    await using queue = await new OpenQueue(redisUrl(), prefix, 1).ready();
    const { Queue } = await import('bullmq');
    const foreign = new Queue<string, unknown>('compact', { connection: { url: redisUrl() }, prefix });
    await foreign.add('compact', '{"v":99}');
    await foreign.close();
    const seen: JobSpec[] = [];
    queue.work((spec) => {
      seen.push(spec);
      return Promise.resolve();
    }, 1);
    await queue.enqueue(job);
    await eventually('one job is done and one given up', async () => {
      const { completed, failed } = await queue.counts('compact');
      return completed === 1 && failed === 1;
    });
    expect(seen).toEqual([job]);
  });

  it('that redis forgot can be asked for again, while workers go on', async () => {
    await using redis = await privateRedis();
    await using queue = await new OpenQueue(redis.server.url, freshPrefix()).ready();
    expect(await queue.enqueue(job)).toBe('queued');
    const operator = new Redis(redis.server.url);
    await operator.flushall();
    expect(await queue.enqueue(job)).toBe('queued');
    const seen: string[] = [];
    queue.work(({ reason }) => {
      seen.push(reason);
      return Promise.resolve();
    }, 1);
    await eventually('a job is handed out', () => seen.length === 1);
    await operator.flushall();
    operator.disconnect();
    expect(await queue.enqueue({ ...job, reason: 'after the flush' })).toBe('queued');
    await eventually('the second job is handed out', () => seen.length === 2);
    expect(seen).toEqual(['a test', 'after the flush']);
  });

  it('are refused while redis is away, and worked on when it is back', async () => {
    await using redis = await privateRedis();
    const told: boolean[] = [];
    const onConnection = (connected: boolean): void => {
      told.push(connected);
    };
    const queue = new BullJobQueue({
      url: redis.server.url,
      prefix: freshPrefix(),
      maxAttempts: 2,
      onConnection,
      onRefused: () => undefined,
    });
    try {
      await eventually('the queue is connected', () => queue.connected);
      const seen: string[] = [];
      queue.work(({ reason }) => {
        seen.push(reason);
        return Promise.resolve();
      }, 1);
      const url = redis.server.url;
      await redis.stop();
      await eventually('the queue has noticed that redis is away', () => !queue.connected);
      await expect(queue.enqueue(job)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE', kind: 'unavailable' });
      await expect(queue.counts('compact')).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
      await redis.start();
      expect(redis.server.url).toBe(url);
      await eventually('the queue is connected', () => queue.connected);
      await queue.enqueue({ ...job, reason: 'redis is back' });
      await eventually('a job is handed out', () => seen.length === 1);
      expect(seen).toEqual(['redis is back']);
      expect(told).toEqual([true, false, true]);
    } finally {
      await queue.close();
    }
  });

  it('do not keep a process from leaving while redis is away', async () => {
    await using redis = await privateRedis();
    const queue = await new OpenQueue(redis.server.url, freshPrefix()).ready();
    queue.work(() => Promise.resolve(), 1);
    await redis.stop();
    await eventually('the queue has noticed that redis is away', () => !queue.connected);
    // Waits for nothing that only a server could answer.
    await queue.close();
    expect(queue.connected).toBe(false);
  });
});
