import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { judge, newestVersionOf, readTable } from '../support/checks.ts';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { bothFormats, deltaTable, icebergInDatabase, productBench, type TableKind } from '../support/product-bench.ts';
import { privateKafka, privateRedis } from '../support/servers.ts';

/*
 * What happens around a pipeline: workers come and go, servers go away, disks fill up, topics are replaced. Each scenario ends in a commit,
 * a refusal to commit or a read of the table, so each is for every format. The catalog in a database stands for Iceberg: it shares everything
 * above the swap with the directory, and both have their own scenarios where it is the swap that decides.
 */

const inDirectory: TableKind = { label: 'files', iceberg: { kind: 'files' } };

/** Where a worker is stopped: with everything of a commit done but the write that decides, or with a commit whose answer it has not heard. */
const standstills: readonly (readonly [string, string, TableKind])[] = [
  ['a Delta table', 'before-commit', deltaTable],
  ['a Delta table', 'commit-applied', deltaTable],
  ['an Iceberg table of an SQL catalog', 'before-swap', icebergInDatabase],
  ['an Iceberg table of an SQL catalog', 'commit-applied', icebergInDatabase],
  ['an Iceberg table in a directory', 'after-manifest-list', inDirectory],
  ['an Iceberg table in a directory', 'commit-applied', inDirectory],
];

const outageMs = 30_000;
const sessionMs = 3_000;
/** Limit on catching up after an outage: pauses between attempts have grown to half a minute by then. */
const recoveryMs = 180_000;
const others = 'vacuum: { enabled: false }, checkpoint: { enabled: false }, expiry: { enabled: false }';
const compaction = `{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, ${others} }`;

describe('the product survives', () => {
  const { dir, workload, serve, killAll } = productBench('faults');
  const produceParts = async (pipeline: PipelineCase, produced: Produced, parts: number, by: Workload = workload): Promise<void> => {
    for (let part = 0; part < parts; part += 1) {
      await by.produce(pipeline, produced, 50);
      await sleep(100);
    }
  };

  it.each(bothFormats)('P03: workers of %s that join, leave and die under load', async (_, { label, iceberg }) => {
    const pipeline = pipelineCase(dir, `rebalance-${label}`, { partitions: 6, iceberg });
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

  it.each(standstills)('P03: a worker of %s that is stopped at %s, replaced, and wakes up again', async (_, point, { label, iceberg }) => {
    const pipeline = pipelineCase(dir, `zombie-${label}-${point.toLowerCase()}`, { iceberg });
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
    // What it held before its commit the heir has read and committed meanwhile. It is the table that refuses: nothing that the group says is
    // heard between waking up and the attempt.
    if (point !== 'commit-applied') {
      expect((await zombie.metrics()).sum('tidewater_commits_total', { result: 'conflicted' })).toBeGreaterThan(0);
      expect(zombie.said('batch discarded')).toBe(true);
    }
    expect((await zombie.terminate()).code, zombie.log).toBe(0);
    expect((await heir.terminate()).code, heir.log).toBe(0);
    const verdict = await judge(workload, pipeline, produced);
    expect(verdict.findings).toEqual([]);
    // A commit that certainly lost leaves data files to vacuum and nothing else: what lists them is deleted.
    expect(verdict.orphans.filter(({ path }) => !path.endsWith('.parquet'))).toEqual([]);
  });

  // All sit through one outage: waiting is nearly all there is to it.
  it('P03: a broker that is away longer than sessions and requests last, and one that is not there yet at the start', async () => {
    await using kafka = await privateKafka();
    const brokers = kafka.server.brokers;
    const own = new Workload(brokers);
    await own.connect();
    try {
      const working = bothFormats.map(([, { label, iceberg }]) => pipelineCase(dir, `outage-${label}`, { brokers, iceberg }));
      const late = pipelineCase(dir, 'outage-late', { brokers });
      await Promise.all([...working, late].map((pipeline) => own.createTopic(pipeline)));
      const running = working.map((pipeline) => ({ pipeline, produced: new Produced(), worker: serve(pipeline) }));
      await Promise.all(
        running.map(({ pipeline, produced, worker }) =>
          eventually('changes are published', async () => {
            await own.produce(pipeline, produced, 50);
            return (await worker.status()).feeds.every(({ publishedVersion }) => publishedVersion !== null);
          }),
        ),
      );
      await Promise.all(running.map(({ pipeline, produced }) => produceParts(pipeline, produced, 5, own)));
      await kafka.kill();
      const all = [...running, { pipeline: late, produced: new Produced(), worker: serve(late) }];
      await sleep(Math.max(outageMs, 2 * sessionMs));
      for (const { worker } of all) {
        expect(worker.exit, worker.log).toBeUndefined();
        expect((await worker.probe('/livez')).status).toBe(200);
      }
      await kafka.start();
      expect(kafka.server.brokers).toEqual(brokers);
      for (const { pipeline, produced } of all) {
        await eventually('the broker takes records', async () => {
          await own.produce(pipeline, produced, 50);
          return true;
        });
      }
      await Promise.all(all.map(({ pipeline, produced }) => produceParts(pipeline, produced, 5, own)));
      for (const { pipeline, produced, worker } of all) {
        await untilThrough(worker, pipeline, produced, recoveryMs);
        expect((await worker.terminate()).code, worker.log).toBe(0);
        expect((await judge(own, pipeline, produced)).findings, pipeline.name).toEqual([]);
      }
    } finally {
      await own.close();
    }
  });

  it.each(bothFormats)('a Redis that goes away and comes back empty, with %s', async (_, { label, iceberg }) => {
    await using redis = await privateRedis();
    const pipeline = pipelineCase(dir, `redis-${label}`, { redis: redis.server.url, maintenance: compaction, iceberg });
    const produced = new Produced();
    const compactions = (): number => readTable(pipeline).versions.filter(({ operation }) => operation === 'OPTIMIZE').length;
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

  it.for(bothFormats)('a disk that is full for a while, with %s', async ([, { label, iceberg }], context) => {
    const disk = join(dir, `disk-${label}`);
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status !== 0) {
      console.error('SKIPPED: a small file system cannot be mounted here (needs root), a full disk was NOT tested');
      context.skip();
    }
    try {
      const pipeline = pipelineCase(dir, `disk-case-${label}`, { dataDir: disk, iceberg });
      const produced = new Produced();
      await workload.createTopic(pipeline);
      const lasting = serve(pipeline, { args: ['--set', 'server.notReadyAfter=2s'] });
      await produceParts(pipeline, produced, 5);
      await untilThrough(lasting, pipeline, produced);
      const filler = join(disk, 'filler');
      fill(filler);
      await produceParts(pipeline, produced, 5);
      await eventually('the full disk is reported', async () =>
        JSON.stringify((await lasting.probe('/readyz')).body).includes('STORAGE_FULL'),
      );
      await eventually('commits count as standing still', async () =>
        JSON.stringify((await lasting.probe('/readyz')).body).includes('"state":"failed","detail":"failing for'),
      );
      // Between two attempts the process looks as if it were at work: it must not count as ready then.
      for (let look = 0; look < 50; look += 1) {
        expect((await lasting.probe('/readyz')).status).toBe(503);
        await sleep(100);
      }
      expect((await lasting.probe('/startupz')).status).toBe(200);
      const version = newestVersionOf(pipeline);
      rmSync(filler);
      await untilThrough(lasting, pipeline, produced);
      expect(newestVersionOf(pipeline)).toBeGreaterThan(version);
      expect((await lasting.probe('/readyz')).status).toBe(200);
      expect((await lasting.terminate()).code, lasting.log).toBe(0);
      const verdict = await judge(workload, pipeline, produced);
      expect(verdict.findings).toEqual([]);
      expect(verdict.orphans.filter(({ path }) => !path.endsWith('.parquet'))).toEqual([]);
    } finally {
      await killAll();
      // Lazily: the reader's connection to the catalog's database is closed, its descriptor only when its statements are collected.
      spawnSync('umount', ['-l', disk]);
    }
  });

  it.each(bothFormats)('a topic with nothing but poison, for %s', async (_, { label, iceberg }) => {
    const pipeline = pipelineCase(dir, `poison-${label}`, { iceberg });
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

  it.each(bothFormats)(
    'X05: a topic of %s that is deleted and created again, by waiting for an operator',
    async (_, { label, iceberg }) => {
      const pipeline = pipelineCase(dir, `recreated-${label}`, { iceberg });
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
      const version = newestVersionOf(pipeline);
      await expectDiscontinuity(watchful);
      expect(watchful.said('OFFSET_DISCONTINUITY')).toBe(true);
      expect((await watchful.metrics()).sum('tidewater_ingest_offset_discontinuities')).toBeGreaterThan(0);
      await sleep(2_000);
      expect(newestVersionOf(pipeline)).toBe(version);
      expect((await watchful.terminate()).code, watchful.log).toBe(0);

      const restarted = serve(pipeline);
      await expectDiscontinuity(restarted);
      expect(newestVersionOf(pipeline)).toBe(version);
      expect((await restarted.terminate()).code, restarted.log).toBe(0);

      const decided = serve(pipeline, { args: ['--set', 'ingest.onOffsetDiscontinuity=accept'] });
      await untilThrough(decided, pipeline, fresh);
      expect((await decided.status()).tables[0]?.rowCount).toBe(old.rowCount + fresh.rowCount);
      expect((await decided.terminate()).code, decided.log).toBe(0);
      expect(readTable(pipeline).findings).toEqual([]);
      const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
      expect(JSON.parse(audit.stdout)).toMatchObject({ rows: old.rowCount + fresh.rowCount, sound: true });
    },
  );
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
