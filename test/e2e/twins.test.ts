import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { twinFindings } from '../support/checks-twin.ts';
import { type KillOptions, killAndRecover } from '../support/kill-run.ts';
import { runProduct } from '../support/process.ts';
import { Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/*
 * A Delta table and its Iceberg twin over the same files, killed around the commits of both: after each kill both have the same rows, read by code that
 * shares nothing with the product, and an audit of each finds nothing.
 */

describe('killed at a failpoint, a table and its twin have the same rows, each once', () => {
  const dir = temporaryDirectory('twins');
  const workload = new Workload();
  beforeAll(async () => {
    await workload.connect();
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  async function expectSound(options: Pick<KillOptions, 'point' | 'nth' | 'twin'>): Promise<void> {
    const result = await killAndRecover({ workload, dir, ...options });
    expect(result.findings).toEqual([]);
    expect(result.dishonest).toEqual([]);
    expect(await twinFindings(result.pipeline)).toEqual([]);
    for (const table of ['events', 'twin']) {
      const audit = await runProduct({ config: result.pipeline.config, args: ['audit', table, '--rows', '--json'] });
      expect(JSON.parse(audit.stdout)).toMatchObject({ table, verdict: 'sound' });
    }
  }

  it.each([
    ['before-twin-commit', 2, { kind: 'files' }],
    ['after-twin-commit', 2, { kind: 'sql' }],
  ] as const)(
    'X07: a table and its twin have the same rows after a kill at %s, passed for the %i. time, in a catalog of %o',
    async (point, nth, twin) => {
      await expectSound({ point, nth, twin });
    },
  );
});
