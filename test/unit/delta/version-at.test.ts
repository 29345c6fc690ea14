import { beforeEach, describe, expect, it } from 'vitest';
import { versionAt } from '../../../src/delta/version-at.ts';
import { toVersion } from '../../../src/table/version.ts';
import { DeltaBench, metadataOf } from '../../support/delta-bench.ts';

const inCommit = { 'delta.enableInCommitTimestamps': 'true' };

describe('versionAt', () => {
  let bench: DeltaBench;

  beforeEach(() => {
    bench = new DeltaBench();
  });

  it('is the newest version committed at or before the time', async () => {
    const start = bench.clock.now();
    await bench.create();
    for (const row of ['a', 'b', 'c']) await bench.append([row]);
    const context = bench.process();
    // A version a second.
    for (const [offset, version] of [
      [0, 0],
      [999, 0],
      [1000, 1],
      [2500, 2],
      [3000, 3],
    ] as const) {
      expect(await versionAt(context, start + offset)).toBe(version);
    }
    await expect(versionAt(context, start + 3001)).rejects.toMatchObject({ errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT' });
    await expect(versionAt(context, start - 1)).rejects.toMatchObject({ errorClass: 'DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION' });
  });

  it('moves times that go back forward', async () => {
    const start = bench.clock.now();
    await bench.create();
    bench.clock.advance(-5000);
    await bench.append(['a']);
    await bench.append(['b']);
    const context = bench.process();
    const snapshots = [await context.snapshotAt(toVersion(0)), await context.refresh()];
    expect(snapshots.map(({ committedAt }) => committedAt - start)).toEqual([0, 2]);
    expect(await versionAt(context, start + 1)).toBe(1);
    expect(await versionAt(context, start + 2)).toBe(2);
  });

  it('goes by the times in the commits from the version on that has them', async () => {
    const start = bench.clock.now();
    await bench.create();
    await bench.append(['a']);
    const enabled = { ...inCommit, 'delta.inCommitTimestampEnablementVersion': '2' };
    await bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: enabled })], { inCommitTimestamp: start + 100_000 });
    await bench.commit('WRITE', [await bench.file(['b'])], { inCommitTimestamp: start + 200_000 });
    await bench.commit('WRITE', [await bench.file(['c'])], { inCommitTimestamp: start + 300_000 });
    const context = bench.process();
    expect(await versionAt(context, start + 99_999)).toBe(1);
    expect(await versionAt(context, start + 100_000)).toBe(2);
    expect(await versionAt(context, start + 299_999)).toBe(3);
    expect(await versionAt(context, start + 300_000)).toBe(4);
    await expect(versionAt(context, start + 300_001)).rejects.toMatchObject({ errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT' });
  });
});
