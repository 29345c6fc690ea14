import { describe, expect, it } from 'vitest';
import { runSimulation } from '../support/simulation/run-simulation.ts';

const asked = process.env['SEED'];
const seeds = asked === undefined || asked === '' ? [1, 2, 3, 4] : asked.split(',').map(Number);
const activeMs = Number(process.env['ACTIVE_MS'] ?? 8_000);

describe('the whole service under crashes, zombies, rebalances and faults', () => {
  for (const seed of seeds) {
    it(`keeps every invariant (SEED=${seed})`, async () => {
      const started = performance.now();
      const report = await runSimulation({ seed, activeMs });
      if (asked !== undefined) console.log(Math.round(performance.now() - started), [...report.counts].map(([what, count]) => `${what}: ${count}`).sort().join(', '));
      expect(report.violations).toEqual([]);
    });
  }
});
