import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../support/checks.ts';
import { newestVersion, readLog } from '../support/checks-log.ts';
import { eventually, ProductProcess, type RunOptions, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { privateKafka, privateRedis, removeDirectory, temporaryDirectory } from '../support/servers.ts';

/* What happens around a pipeline: workers come and go, servers go away, disks fill up, topics are replaced. */

const outageMs = 30_000;
const sessionMs = 6_000;
const compaction = '{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, vacuum: { enabled: false }, checkpoint: { enabled: false } }';

describe('the product survives', () => {
  const dir = temporaryDirectory('faults');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  const serve = (pipeline: PipelineCase, options: Partial<RunOptions> = {}): ProductProcess => {
    const started = new ProductProcess({ config: pipeline.config, ...options, args: ['serve', ...(options.args ?? [])] });
    running.push(started);
    return started;
  };
  const produceParts = async (pipeline: PipelineCase, produced: Produced, parts: number, by: Workload = workload): Promise<void> => {
    for (let part = 0; part < parts; part += 1) {
      await by.produce(pipeline, produced, 50);
      await sleep(100);
    }
  };
  beforeAll(() => workload.connect());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it('workers that join, leave and die under load', async () => {
    const pipeline = pipelineCase(dir, 'rebalance', { partitions: 6 });
    const produced = new Produced();
    await workload.createTopic(pipeline);
    const lasting = serve(pipeline);
    await produceParts(pipeline, produced, 10);
    const leaving = serve(pipeline, { args: ['--role', 'ingest'] });
    const dying = serve(pipeline, { args: ['--role', 'ingest'] });
    await Promise.all([leaving.url(), dying.url()]);
    await produceParts(pipeline, produced, 20);
    await eventually('all three have partitions', async () => {
      const assigned = await Promise.all(
        [lasting, leaving, dying].map(async (one) => (await one.metrics()).sum('tidewater_ingest_partitions_assigned')),
      );
      await workload.produce(pipeline, produced, 20);
      return assigned.every((count) => count === 2);
    });
    await produceParts(pipeline, produced, 10);
    expect((await leaving.terminate()).code, leaving.log).toBe(0);
    await produceParts(pipeline, produced, 10);
    await dying.kill();
    await produceParts(pipeline, produced, 10);
    await untilThrough(lasting, pipeline, produced);
    expect((await lasting.terminate()).code, lasting.log).toBe(0);
    expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
  });

  it.each(['F4', 'F5'])('a worker that is stopped at %s, replaced, and wakes up again', async (point) => {
    const pipeline = pipelineCase(dir, `zombie-${point.toLowerCase()}`);
    // No poison but the first record: writing dead letters would give the zombie time to hear that it was replaced.
    const produced = new Produced(Number.MAX_SAFE_INTEGER);
    await workload.createTopic(pipeline);
    const zombie = serve(pipeline, { args: ['--role', 'ingest'], env: { FAILPOINT: `${point}:pause:4` } });
    await eventually('the worker stands still', async () => {
      await workload.produce(pipeline, produced, 50);
      return zombie.said(`failpoint ${point}: pause`);
    });
    const heir = serve(pipeline);
    await produceParts(pipeline, produced, 10);
    // The session of the zombie runs out in here, and its partitions go to the heir.
    await untilThrough(heir, pipeline, produced);
    zombie.signal('SIGCONT');
    await produceParts(pipeline, produced, 20);
    await eventually('both have partitions', async () => {
      const assigned = await Promise.all(
        [zombie, heir].map(async (one) => (await one.metrics()).sum('tidewater_ingest_partitions_assigned')),
      );
      return assigned.every((count) => count === 2);
    });
    await produceParts(pipeline, produced, 10);
    await untilThrough(heir, pipeline, produced);
    // What it held at F4 was read and committed by the heir meanwhile.
    if (point === 'F4') expect(zombie.said('batch discarded')).toBe(true);
    expect((await zombie.terminate()).code, zombie.log).toBe(0);
    expect((await heir.terminate()).code, heir.log).toBe(0);
    expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
  });

  it('a broker that is away longer than sessions and requests last', async () => {
    await using kafka = await privateKafka();
    const brokers = kafka.server.brokers;
    const own = new Workload(brokers);
    await own.connect();
    try {
      const pipeline = pipelineCase(dir, 'outage', { brokers });
      const produced = new Produced();
      await own.createTopic(pipeline);
      const lasting = serve(pipeline);
      await produceParts(pipeline, produced, 10, own);
      await kafka.kill();
      await sleep(Math.max(outageMs, 2 * sessionMs));
      expect(lasting.exit, lasting.log).toBeUndefined();
      expect((await lasting.probe('/livez')).status).toBe(200);
      await kafka.start();
      expect(kafka.server.brokers).toEqual(brokers);
      await eventually('the broker takes records', async () => {
        await own.produce(pipeline, produced, 50);
        return true;
      });
      await produceParts(pipeline, produced, 5, own);
      await untilThrough(lasting, pipeline, produced);
      expect((await lasting.terminate()).code, lasting.log).toBe(0);
      expect((await judge(own, pipeline, produced)).findings).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it('a Redis that goes away and comes back empty', async () => {
    await using redis = await privateRedis();
    const pipeline = pipelineCase(dir, 'redis', { redis: redis.server.url, maintenance: compaction });
    const produced = new Produced();
    const compactions = (): number => readLog(pipeline.tableDir).versions.filter(({ operation }) => operation === 'OPTIMIZE').length;
    await workload.createTopic(pipeline);
    const lasting = serve(pipeline);
    await eventually('a compaction is done', async () => {
      await workload.produce(pipeline, produced, 50);
      return compactions() > 0;
    });
    await redis.stop();
    await eventually('the queue is reported away', async () => (await lasting.status()).queues.every(({ connected }) => !connected));
    const before = compactions();
    await produceParts(pipeline, produced, 10);
    await untilThrough(lasting, pipeline, produced);
    expect((await lasting.probe('/readyz')).status).toBe(200);
    await redis.start();
    const client = new Redis(redis.server.url);
    await client.flushall();
    await client.quit();
    await eventually('compaction is planned again', async () => {
      await workload.produce(pipeline, produced, 50);
      return compactions() > before;
    });
    await untilThrough(lasting, pipeline, produced);
    expect((await lasting.terminate()).code, lasting.log).toBe(0);
    expect((await judge(workload, pipeline, produced)).findings).toEqual([]);
  });

  it('a disk that is full for a while', async (context) => {
    const disk = join(dir, 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status !== 0) {
      console.error('SKIPPED: a small file system cannot be mounted here (needs root), a full disk was NOT tested');
      context.skip();
    }
    try {
      const pipeline = pipelineCase(dir, 'disk', { dataDir: disk });
      const produced = new Produced();
      await workload.createTopic(pipeline);
      const lasting = serve(pipeline);
      await produceParts(pipeline, produced, 5);
      await untilThrough(lasting, pipeline, produced);
      const filler = join(disk, 'filler');
      fill(filler);
      await produceParts(pipeline, produced, 5);
      await eventually('the full disk is reported', async () =>
        JSON.stringify((await lasting.probe('/readyz')).body).includes('STORAGE_FULL'),
      );
      const version = newestVersion(pipeline.tableDir);
      rmSync(filler);
      await untilThrough(lasting, pipeline, produced);
      expect(newestVersion(pipeline.tableDir)).toBeGreaterThan(version);
      expect((await lasting.terminate()).code, lasting.log).toBe(0);
      const verdict = await judge(workload, pipeline, produced);
      expect(verdict.findings).toEqual([]);
      expect(verdict.orphans.filter(({ path }) => !path.endsWith('.parquet'))).toEqual([]);
    } finally {
      await Promise.all(running.map((started) => started.kill()));
      spawnSync('umount', [disk]);
    }
  });

  it('a topic with nothing but poison', async () => {
    const pipeline = pipelineCase(dir, 'poison');
    const produced = new Produced(1);
    await workload.createTopic(pipeline);
    const lasting = serve(pipeline);
    await produceParts(pipeline, produced, 6);
    await untilThrough(lasting, pipeline, produced);
    expect((await lasting.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(produced.count);
    expect((await lasting.terminate()).code, lasting.log).toBe(0);
    const verdict = await judge(workload, pipeline, produced);
    expect(verdict.findings).toEqual([]);
    expect(verdict.deadLetters).toHaveLength(produced.count);
  });

  it('a topic that is deleted and created again, by waiting for an operator', async () => {
    const pipeline = pipelineCase(dir, 'recreated');
    const [old, fresh] = [new Produced(), new Produced()];
    await workload.createTopic(pipeline);
    const watchful = serve(pipeline);
    await workload.produce(pipeline, old, 400);
    await untilThrough(watchful, pipeline, old);
    await workload.admin.deleteTopics({ topics: [pipeline.topic] });
    await eventually('the topic is gone', async () => !(await workload.admin.listTopics()).includes(pipeline.topic));
    await workload.createTopic(pipeline);
    await eventually('the topic takes records', async () => {
      await workload.produce(pipeline, fresh, 100);
      return true;
    });
    const version = newestVersion(pipeline.tableDir);
    await expectDiscontinuity(watchful);
    expect(watchful.said('OFFSET_DISCONTINUITY')).toBe(true);
    await sleep(2_000);
    expect(newestVersion(pipeline.tableDir)).toBe(version);
    expect((await watchful.terminate()).code, watchful.log).toBe(0);

    const restarted = serve(pipeline);
    await expectDiscontinuity(restarted);
    expect(newestVersion(pipeline.tableDir)).toBe(version);
    expect((await restarted.terminate()).code, restarted.log).toBe(0);

    const decided = serve(pipeline, { args: ['--set', 'ingest.onOffsetDiscontinuity=accept'] });
    await untilThrough(decided, pipeline, fresh);
    expect((await decided.status()).tables[0]?.rowCount).toBe(old.rowCount + fresh.rowCount);
    expect((await decided.terminate()).code, decided.log).toBe(0);
    expect(readLog(pipeline.tableDir).findings).toEqual([]);
    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    expect(JSON.parse(audit.stdout)).toMatchObject({ rows: old.rowCount + fresh.rowCount, sound: true });
  });
});

async function expectDiscontinuity(running: ProductProcess): Promise<void> {
  await eventually('the discontinuity is reported', async () => {
    const table = (await running.status()).tables[0];
    return table?.ingest === 'discontinuity' && table.partitions.every(({ problem }) => problem !== null);
  });
  const ready = await running.probe('/readyz');
  expect(ready.status).toBe(503);
  expect(JSON.stringify(ready.body)).toContain('incarnation');
}

/** Takes all space that is left. */
function fill(file: string): void {
  for (const size of [1_048_576, 65_536, 4_096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Full for this size; the smaller ones take the rest.
    }
  }
}
