import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCompaction } from '../../../../src/delta/operations/optimize/plan-compaction.ts';
import { type HealthFacts, tableHealth } from '../../../../src/delta/operations/table-health.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { DeltaBench } from '../../../support/delta-bench.ts';

const compaction = { targetFileBytes: 128 << 20, minInputFiles: 2, maxGroups: 10 };
const facts: HealthFacts = { compaction, newestCheckpoint: undefined, lastVacuumMs: undefined };
const vector = { storageType: 'u', pathOrInlineDv: 'v', offset: 1, sizeInBytes: 1, cardinality: 1 } as const;

describe('the health of a Delta table', () => {
  it('counts what compaction would take, and all that is small', async () => {
    const bench = new DeltaBench();
    await bench.create({ partitionColumns: ['p'] });
    for (const p of ['x', 'y', 'y', 'x', 'y', 'z']) await bench.append([p], { p });
    const large = { ...(await bench.file(['l'], { p: 'x' })), sizeBytes: 96 << 20 };
    await bench.commit('WRITE', [large]);
    await bench.remove([await bench.append(['gone'], { p: 'x' })]);
    expect(tableHealth(await bench.process().refresh(), { ...facts, newestCheckpoint: toVersion(4) })).toEqual({
      version: 9,
      fileCount: 7,
      sizeBytes: 6 + (96 << 20),
      smallFileCount: 6,
      compactable: { files: 5, partitions: 2 },
      tombstoneCount: 1,
      versionsSinceCheckpoint: 5,
    });
  });

  it('counts all versions when there is no log checkpoint', async () => {
    const bench = new DeltaBench();
    await bench.create();
    await bench.append(['a']);
    expect(tableHealth(await bench.process().refresh(), facts).versionsSinceCheckpoint).toBe(2);
  });

  it('counts small files with deletion vectors exactly where compaction rewrites them', async () => {
    const bench = new DeltaBench();
    await bench.create();
    await bench.commit('WRITE', [await bench.file(['a']), { ...(await bench.file(['b'])), deletionVector: vector }]);
    const snapshot = await bench.process().refresh();
    expect(tableHealth(snapshot, facts).smallFileCount).toBe(1);
    expect(planCompaction(snapshot, compaction).groups).toEqual([]);
    const able = { ...compaction, deletionVectors: true };
    expect(tableHealth(snapshot, { ...facts, compaction: able }).smallFileCount).toBe(2);
    expect(planCompaction(snapshot, able).groups.map((group) => group.inputs.length)).toEqual([2]);
  });

  it('finds something to compact exactly when a plan by the same settings is not empty, for any files', async () => {
    const file = fc.record({
      p: fc.constantFrom('x', 'y'),
      sizeBytes: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(64 << 20, 95 << 20, 127 << 20, 190 << 20)),
      rows: fc.integer({ min: 0, max: 4_000_000 }),
      deleted: fc.constantFrom(0, 0, 0, 1, 2_000_000),
    });
    const rules = fc.record({
      targetFileBytes: fc.constantFrom(100, 1 << 20, 128 << 20, 1 << 30),
      minInputFiles: fc.integer({ min: 1, max: 10 }),
      maxGroups: fc.integer({ min: 1, max: 3 }),
      deletionVectors: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 25 }), rules, async (files, rule) => {
        const bench = new DeltaBench();
        await bench.create({ partitionColumns: ['p'] });
        const added = files.map(async ({ p, sizeBytes, rows, deleted }) => ({
          ...(await bench.file([], { p })),
          sizeBytes,
          stats: `{"numRecords":${rows}}`,
          ...(deleted === 0 ? {} : { deletionVector: { ...vector, cardinality: deleted } }),
        }));
        await bench.commit('WRITE', await Promise.all(added));
        const snapshot = await bench.process().refresh();
        const { compactable } = tableHealth(snapshot, { ...facts, compaction: rule });
        const taken = planCompaction(snapshot, { ...rule, maxGroups: 100 }).groups.flatMap(({ inputs }) => inputs);
        expect(compactable.files).toBe(taken.length);
        expect(planCompaction(snapshot, rule).groups.length > 0).toBe(compactable.files > 0);
      }),
    );
  });
});
