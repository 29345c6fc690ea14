import { describe, expect, it } from 'vitest';
import { runSimulation, type SimulationReport } from '../support/simulation/run-simulation.ts';

const asked = process.env['SEED'] ?? '';
const activeMs = Number(process.env['ACTIVE_MS'] ?? 5_000);
/** Chosen so that together they reach every kind of trouble; `scripts/soak.mjs` runs random ones. */
const seeds = asked === '' ? [2, 3, 4, 7, 8, 10, 19, 21, 85] : asked.split(',').map(Number);

function story(report: SimulationReport): string {
  return [...report.counts]
    .map(([what, count]) => `${what} ${count}`)
    .sort()
    .join(', ');
}

describe('the whole service under crashes, zombies, rebalances and faults', () => {
  const reports: SimulationReport[] = [];

  for (const seed of seeds) {
    it(`keeps every invariant (SEED=${seed})`, async () => {
      const report = await runSimulation({ seed, activeMs });
      reports.push(report);
      if (asked !== '') console.log(story(report));
      expect(report.violations).toEqual([]);
    });
  }

  it.runIf(asked === '')('meets, over all seeds, everything it is meant to meet', () => {
    const met = new Set(reports.flatMap((report) => [...report.counts.keys()]));
    const meant = [
      'crash',
      'suspension',
      'rolling restart',
      'night',
      'foreign append',
      'storage trouble',
      'broker trouble',
      'feed fenced',
      'feed resolved absent',
      'feed resolved landed',
      'batch discarded',
      'dead letters found',
      'commit conflicted',
      'commit unavailable',
      'commit resolved own',
      'commit resolved absent',
      'compact done',
      'compact conflicted',
      'vacuum done',
      'checkpoint done',
    ];
    expect(meant.filter((what) => !met.has(what))).toEqual([]);
  });
});

describe('the whole service, into an Iceberg table', () => {
  const reports: SimulationReport[] = [];

  for (const seed of seeds) {
    it(`keeps every invariant (SEED=${seed})`, async () => {
      const report = await runSimulation({ seed, activeMs, format: 'iceberg' });
      reports.push(report);
      if (asked !== '') console.log(story(report));
      expect(report.violations).toEqual([]);
    });
  }

  it.runIf(asked === '')('meets, over all seeds, what differs from Delta', () => {
    const met = new Set(reports.flatMap((report) => [...report.counts.keys()]));
    const meant = [
      'crash',
      'suspension',
      'foreign append',
      'feed fenced',
      'batch discarded',
      'dead letters found',
      'commit conflicted',
      // A lost answer of the file system is looked up by the pointer itself.
      'commit committed',
      'expire done',
      'rewrite-manifests done',
      'vacuum nothing-to-do',
    ];
    expect(meant.filter((what) => !met.has(what))).toEqual([]);
  });
});

/** The engine computes in real time: few seeds, and short ones. */
const keyedSeeds = { delta: [7, 9], iceberg: [5, 20, 22] };
const keyedMs = Math.min(activeMs, 2_500);

describe('the whole service, into a table with one row for each key', () => {
  const reports: SimulationReport[] = [];

  for (const format of ['delta', 'iceberg'] as const)
    for (const seed of asked === '' ? keyedSeeds[format] : seeds) {
      it(`of ${format} equals the fold of its topic, and the fold of its feed (SEED=${seed})`, async () => {
        const report = await runSimulation({ seed, activeMs: asked === '' ? keyedMs : activeMs, format, keyed: true });
        reports.push(report);
        if (asked !== '') console.log(story(report));
        expect(report.violations).toEqual([]);
      });
    }

  it.runIf(asked === '')('meets, over all seeds, everything it is meant to meet', () => {
    const met = new Set(reports.flatMap((report) => [...report.counts.keys()]));
    const meant = [
      'keys by an order',
      'keys in order',
      'keys in an index',
      'old rows marked',
      'old files written anew',
      'crash',
      'suspension',
      'rolling restart',
      'foreign append',
      'feed fenced',
      'batch discarded',
      'commit conflicted',
      'commit resolved own',
      'compact done',
    ];
    expect(meant.filter((what) => !met.has(what))).toEqual([]);
  });
});

describe.runIf(asked === '')('the simulation itself', () => {
  it.each(['delta', 'iceberg'] as const)('gives the same history for the same seed, and another one for another: %s', async (format) => {
    const [first, again, other] = [
      await runSimulation({ seed: 10, activeMs: 2_500, format }),
      await runSimulation({ seed: 10, activeMs: 2_500, format }),
      await runSimulation({ seed: 11, activeMs: 2_500, format }),
    ];
    expect(again).toEqual(first);
    expect(other.history).not.toBe(first.history);
  });

  // Each of these breaks the product at one place; a checker that stays silent then is worth nothing.
  it.each([
    ['skip-mark-check', 'I1: '],
    ['lose-dead-letters', 'I10: '],
    ['repeat-dead-letters', 'I10: '],
    ['forget-feed-positions', 'I9: '],
  ] as const)('notices the sabotage "%s"', async (sabotage, invariant) => {
    const found: string[] = [];
    for (const seed of [7, 1, 9, 3]) {
      found.push(...(await runSimulation({ seed, activeMs: 4_000, sabotage })).violations);
      if (found.some((violation) => violation.startsWith(invariant))) break;
    }
    expect(found).toContainEqual(expect.stringContaining(invariant));
  });

  it('notices that deletes are forgotten', async () => {
    const found: string[] = [];
    for (const seed of [5, 3, 20, 13]) {
      found.push(...(await runSimulation({ seed, activeMs: 3_000, keyed: true, sabotage: 'forget-deletes' })).violations);
      if (found.length > 0) break;
    }
    expect(found).toContainEqual(expect.stringContaining('K1: '));
  });

  // What the engine writes has the times at which it did.
  it('meets the same for the same seed of a keyed table', async () => {
    const run = async (): Promise<unknown> => [...(await runSimulation({ seed: 22, activeMs: 2_500, keyed: true })).counts];
    expect(await run()).toEqual(await run());
  });
});
