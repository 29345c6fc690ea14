import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { runWalk } from '../support/walk/run-walk.ts';

/*
 * What operators, schedulers and machines do, in random order, to real processes with a real broker (docs/spec/operator-acts.md). Each walk
 * is a seed, printed when it fails: `SEED=17 npm run test:walk`. `WALKS=500 npm run test:walk` walks on.
 */

const given = process.env['SEED'] ?? '';
const count = Number(process.env['WALKS'] ?? 50);
const steps = Number(process.env['STEPS'] ?? 5);
const seeds = given === '' ? Array.from({ length: count }, (_, index) => index + 1) : given.split(',').map(Number);

describe('whatever is done to it, the product loses nothing and doubles nothing', () => {
  const dir = temporaryDirectory('walk');
  const workload = new Workload();
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it.concurrent.each(seeds)('P03: a walk of acts and kills, SEED=%i', async (seed) => {
    const { story, findings } = await runWalk({ workload, dir, seed, steps });
    if (given !== '') console.log(story.join('\n'));
    expect(findings, `seed ${seed}: ${story.join('; ')}`).toEqual([]);
  });
});
