import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTable } from '../support/checks.ts';
import { missingFiles } from '../support/checks-log.ts';
import { type KillResult, killAndRecover, vacuumAway } from '../support/kill-run.ts';
import { type IcebergKind, type PipelineCase, Workload } from '../support/process-workload.ts';
import { privateRestCatalog, type TestRestCatalog } from '../support/rest-catalog.ts';
import { type PrivateServer, removeDirectory, temporaryDirectory } from '../support/servers.ts';

/*
 * The pipeline into Iceberg tables, killed where a commit differs from Delta's: around manifests, their list and the swap, in each kind of
 * catalog. The judges are those of kill.test.ts; manifests are read by code that shares nothing with the product.
 */

const compaction = '{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, vacuum: { enabled: false }, expiry: { enabled: false } }';

describe('killed at a failpoint, the product loses nothing of an Iceberg table and doubles nothing', () => {
  const dir = temporaryDirectory('iceberg');
  const workload = new Workload();
  let rest: PrivateServer<TestRestCatalog> | undefined;
  beforeAll(async () => {
    await workload.connect();
    rest = await privateRestCatalog();
  });
  afterAll(async () => {
    await workload.close();
    await rest?.[Symbol.asyncDispose]();
    removeDirectory(dir);
  });

  /** Everything that must hold after any kill. */
  async function expectSound(result: KillResult): Promise<void> {
    expect(result.findings).toEqual([]);
    expect(result.dishonest).toEqual([]);
    // Explained orphans: written by the process that was killed. The one that drained leaves none.
    expect(result.orphans.filter(({ modifiedMs }) => modifiedMs > result.killedAtMs)).toEqual([]);
    // Unfinished files of the local store are hidden to everybody.
    const listed = result.orphans.flatMap(({ path }) => (/\/\.tmp-[^/]*$/.test(path) ? [] : [path])).sort();
    if (listed.length === 0) return;
    expect([...(await vacuumAway(result))].sort()).toEqual(listed);
    expect(missingFiles(result.pipeline.tableDir, readTable(result.pipeline))).toEqual([]);
  }

  it.each([
    ['before-commit', 2],
    ['after-dead-letters', 2],
    ['after-manifests', 2],
    ['after-manifest-list', 2],
    ['commit-applied', 2],
    ['before-transaction-end', 2],
  ])('in a directory, at %s, passed for the %i. time', async (point, nth) => {
    await expectSound(await killAndRecover({ workload, dir, point, nth, iceberg: { kind: 'files' } }));
  });

  it.each([['commit-applied', 2]])('X13: with a transform between records and rows, at %s, passed for the %i. time', async (point, nth) => {
    await expectSound(await killAndRecover({ workload, dir, point, nth, iceberg: { kind: 'files' }, transform: true }));
  });

  it.each([
    ['before-swap', 2],
    ['commit-applied', 2],
  ])('in an SQL catalog, at %s, passed for the %i. time', async (point, nth) => {
    await expectSound(await killAndRecover({ workload, dir, point, nth, iceberg: { kind: 'sql' } }));
  });

  it.for([
    ['before-swap', 2],
    ['commit-applied', 2],
  ] as const)('in a REST catalog, at %s, passed for the %i. time', async ([point, nth], context) => {
    if (rest === undefined) return context.skip();
    const { uri, warehouse, database } = rest.server;
    const iceberg: IcebergKind = { kind: 'rest', uri, warehouse, database };
    await expectSound(await killAndRecover({ workload, dir, point, nth, iceberg }));
  });

  it('at before-compaction-commit, in a compaction, which another attempt completes', async () => {
    const rewritten = (_: string, pipeline: PipelineCase): boolean =>
      readTable(pipeline).versions.some(({ operation }) => operation === 'OPTIMIZE');
    const iceberg: IcebergKind = { kind: 'files' };
    await expectSound(
      await killAndRecover({
        workload,
        dir,
        point: 'before-compaction-commit',
        nth: 1,
        iceberg,
        maintenance: compaction,
        until: rewritten,
      }),
    );
  });
});
