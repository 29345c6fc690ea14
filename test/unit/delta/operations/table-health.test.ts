import { describe, expect, it } from 'vitest';
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
});
