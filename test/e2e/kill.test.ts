import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge } from '../support/checks.ts';
import { missingFiles, readLog } from '../support/checks-log.ts';
import { type KillResult, killAndRecover, vacuumAway } from '../support/kill-run.ts';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/*
 * SIGKILL at every failpoint (docs/spec/failpoints.md), with a real broker and a real Redis, under load; then a restart, a drain, and
 * the invariants of the design by code that shares nothing with the product.
 */

const compaction = '{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, vacuum: { enabled: false }, checkpoint: { enabled: false } }';
const vacuum = '{ sweepInterval: 300ms, compaction: { enabled: false }, checkpoint: { enabled: false } }';

describe('killed at a failpoint, the product loses nothing and doubles nothing', () => {
  const dir = temporaryDirectory('kill');
  const workload = new Workload();
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  /** Everything that must hold after any kill. */
  async function expectSound(result: KillResult): Promise<void> {
    expect(result.findings).toEqual([]);
    expect(result.dishonest).toEqual([]);
    // Explained orphans: written by the process that was killed. The one that drained leaves none.
    expect(result.orphans.filter(({ modifiedMs }) => modifiedMs > result.killedAtMs)).toEqual([]);
    const data = result.orphans.filter(({ path }) => path.endsWith('.parquet')).map(({ path }) => path);
    if (data.length === 0) return;
    expect([...(await vacuumAway(result))].sort()).toEqual([...data].sort());
    expect(missingFiles(result.pipeline.tableDir, readLog(result.pipeline.tableDir))).toEqual([]);
  }

  it.each([
    ['after-fetch', 3],
    ['before-data-file', 3],
    ['after-dead-letters', 4],
    ['commit-applied', 1],
    ['commit-applied', 3],
    ['before-group-offsets', 2],
    ['after-group-offsets', 2],
    ['before-transaction', 2],
    ['within-transaction', 3],
    ['before-transaction-end', 3],
    ['transaction-end-applied', 3],
    ['after-transaction', 2],
  ])('P03: at %s, passed for the %i. time', async (point, nth) => {
    await expectSound(await killAndRecover({ workload, dir, point, nth }));
  });

  it.each([
    ['before-data-file', 3],
    ['after-dead-letters', 2],
  ])('X13: with a transform between records and rows, at %s, passed for the %i. time', async (point, nth) => {
    await expectSound(await killAndRecover({ workload, dir, point, nth, transform: true }));
  });

  it.each([
    ['within-data-files', 3],
    ['before-commit', 2],
  ])('at %s, passed for the %i. time, leaving files that vacuum takes away', async (point, nth) => {
    const result = await killAndRecover({ workload, dir, point, nth });
    expect(result.orphans.length).toBeGreaterThan(0);
    await expectSound(result);
  });

  it.each([
    ['after-compaction-plan', 1],
    ['before-compaction-commit', 1],
  ])('at %s, in a compaction, which another attempt completes', async (point, nth) => {
    const optimized = (tableDir: string): boolean => readLog(tableDir).versions.some(({ operation }) => operation === 'OPTIMIZE');
    await expectSound(await killAndRecover({ workload, dir, point, nth, maintenance: compaction, until: optimized }));
  });

  it.each([
    ['before-vacuum-deletes', 1],
    ['within-vacuum-deletes', 1],
  ])('at %s, in a vacuum, which another attempt completes', async (point, nth) => {
    const strays = 5;
    const gone = (tableDir: string): boolean =>
      Array.from({ length: strays }, (_, index) => index).every(
        (index) => !existsSync(join(tableDir, 'kind=blue', `stray-${index}.parquet`)),
      );
    await expectSound(await killAndRecover({ workload, dir, point, nth, maintenance: vacuum, strays, until: gone }));
  });

  it('at compaction-conflict, in a compaction that lost against another one', async () => {
    const pipeline = pipelineCase(dir, 'kill-m3');
    const produced = new Produced();
    await workload.createTopic(pipeline);
    const writer = new ProductProcess({ config: pipeline.config, args: ['serve'] });
    for (let part = 1; part <= 3; part += 1) {
      await workload.produce(pipeline, produced, 100);
      await untilThrough(writer, pipeline, produced);
    }
    const compact = ['maintain', 'compact', 'events'];
    const loser = new ProductProcess({
      config: pipeline.config,
      args: compact,
      env: { FAILPOINT: 'before-compaction-commit:pause,compaction-conflict:kill' },
    });
    try {
      await eventually('the first compaction stands still before its commit', () =>
        loser.said('failpoint before-compaction-commit: pause'),
      );
      const winner = await runProduct({ config: pipeline.config, args: compact });
      expect(winner.code, winner.log).toBe(0);
      loser.signal('SIGCONT');
      expect(await loser.exited()).toMatchObject({ signal: 'SIGKILL' });
      await workload.produce(pipeline, produced, 100);
      await untilThrough(writer, pipeline, produced);
      expect(await writer.terminate()).toMatchObject({ code: 0 });
    } finally {
      await Promise.all([loser.kill(), writer.kill()]);
    }
    const verdict = await judge(workload, pipeline, produced);
    expect(verdict.log.versions.filter(({ operation }) => operation === 'OPTIMIZE')).toHaveLength(1);
    expect(verdict.orphans.length).toBeGreaterThan(0);
    await expectSound({ ...verdict, pipeline, killedAtMs: Date.now(), dishonest: [] });
  });
});
