import { describe, expect, it } from 'vitest';
import { planCompaction } from '../../../../src/delta/operations/optimize/plan-compaction.ts';
import { tableHealth } from '../../../../src/delta/operations/table-health.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { DeltaBench } from '../../../support/delta-bench.ts';

describe('tableHealth', () => {
  it('counts small files by partition, those with most first, and leaves out partitions with a single one', async () => {
    const bench = new DeltaBench();
    await bench.create({ partitionColumns: ['p'] });
    for (const p of ['x', 'y', 'y', 'x', 'y', 'z']) await bench.append([p], { p });
    const large = { ...(await bench.file(['l'], { p: 'x' })), sizeBytes: 64 << 20 };
    await bench.commit('WRITE', [large]);
    await bench.remove([await bench.append(['gone'], { p: 'x' })]);
    expect(tableHealth(await bench.process().refresh(), toVersion(4))).toEqual({
      version: 9,
      fileCount: 7,
      sizeBytes: 6 + (64 << 20),
      smallFileCount: 6,
      smallFilesByPartition: [
        { partitionValues: { p: 'y' }, smallFiles: 3 },
        { partitionValues: { p: 'x' }, smallFiles: 2 },
      ],
      tombstoneCount: 1,
      versionsSinceCheckpoint: 5,
    });
  });

  it('counts all versions when there is no log checkpoint', async () => {
    const bench = new DeltaBench();
    await bench.create();
    await bench.append(['a']);
    expect(tableHealth(await bench.process().refresh(), undefined).versionsSinceCheckpoint).toBe(2);
  });

  it('counts small files with deletion vectors exactly where compaction rewrites them', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const vector = { storageType: 'u', pathOrInlineDv: 'v', offset: 1, sizeInBytes: 1, cardinality: 1 };
    await bench.commit('WRITE', [await bench.file(['a']), { ...(await bench.file(['b'])), deletionVector: vector }]);
    const snapshot = await bench.process().refresh();
    const options = { targetFileBytes: 128 << 20, minInputFiles: 2, maxGroups: 10 };
    expect(tableHealth(snapshot, undefined).smallFileCount).toBe(1);
    expect(planCompaction(snapshot, options).groups).toEqual([]);
    expect(tableHealth(snapshot, undefined, { deletionVectors: true }).smallFileCount).toBe(2);
    expect(planCompaction(snapshot, { ...options, deletionVectors: true }).groups.map((group) => group.inputs.length)).toEqual([2]);
  });
});
