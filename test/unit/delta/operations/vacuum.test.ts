import { beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { ServiceError } from '../../../../src/base/errors.ts';
import type { Failpoint, FailpointName } from '../../../../src/base/failpoint.ts';
import { removeOf } from '../../../../src/delta/actions.ts';
import { ChangeReader } from '../../../../src/delta/changes/change-reader.ts';
import { commitInfoOf } from '../../../../src/delta/delta-snapshot.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { heldBytes } from '../../../../src/delta/operations/vacuum/held-bytes.ts';
import { vacuum } from '../../../../src/delta/operations/vacuum/vacuum.ts';
import { filesRemovedSince } from '../../../../src/delta/operations/vacuum/vacuum-keep-set.ts';
import { type NotedReader, putReaderNote } from '../../../../src/table/reader-notes.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { DeltaBench, dayMs, hourMs, metadataOf } from '../../../support/delta-bench.ts';
import { intercepted } from '../../../support/intercepted-store.ts';
import { StepClock } from '../../../support/step-clock.ts';

const at =
  (name: FailpointName, action: () => Promise<unknown>): Failpoint =>
  async (reached) => {
    if (reached === name) await action();
  };
const run = { dryRun: false };

describe('vacuum', () => {
  let bench: DeltaBench;

  beforeEach(async () => {
    bench = new DeltaBench();
    await bench.create({ configuration: { 'delta.enableChangeDataFeed': 'true' } });
  });

  it('deletes orphans and expired tombstones, keeps live files, and writes both ends into the history', async () => {
    const live = await bench.append(['a']);
    const gone = await bench.append(['bb']);
    const orphan = await bench.file(['ccc']);
    await bench.remove([gone]);
    bench.clock.advance(8 * dayMs);
    const result = await vacuum(bench.process(), run);
    expect(result).toEqual({ paths: [gone.storedPath, orphan.storedPath], fileCount: 2, sizeBytes: 5, heldByFeeds: 0, folderCount: 0 });
    expect(await bench.paths()).toEqual([live.storedPath]);
    expect((await bench.operations()).slice(-2)).toEqual(['VACUUM START', 'VACUUM END']);
    const infoOf = async (version: number) => commitInfoOf((await bench.process().readCommit(toVersion(version)))?.actions ?? [])?.body;
    expect(await infoOf(4)).toMatchObject({
      operationParameters: { retentionCheckEnabled: true, defaultRetentionMillis: 604_800_000 },
      operationMetrics: { numFilesToDelete: '2', sizeOfDataToDelete: '5' },
    });
    expect(await infoOf(5)).toMatchObject({
      operationParameters: { status: 'COMPLETED' },
      operationMetrics: { numDeletedFiles: '2', numVacuumedDirectories: '1' },
    });
  });

  it('keeps a tombstone within the retention however old its file is', async () => {
    const old = await bench.append(['a']);
    bench.clock.advance(30 * dayMs);
    await bench.remove([old]);
    bench.clock.advance(6 * dayMs);
    expect((await vacuum(bench.process(), run)).fileCount).toBe(0);
    expect(await bench.rowsAt(toVersion(1))).toEqual(['a']);
    bench.clock.advance(2 * dayMs);
    expect((await vacuum(bench.process(), run)).paths).toEqual([old.storedPath]);
  });

  it('keeps files of a commit in flight, which only their age protects', async () => {
    await bench.append(['a']);
    bench.clock.advance(30 * dayMs);
    const inFlight = await bench.file(['b']);
    bench.clock.advance(6 * dayMs);
    expect((await vacuum(bench.process(), run)).fileCount).toBe(0);
    await bench.commit('WRITE', [inFlight]);
    expect(await bench.rowsAt()).toEqual(['a', 'b']);
  });

  it('commits nothing and deletes nothing in a dry run, or when it shall be quiet with nothing to delete', async () => {
    const orphan = await bench.file(['a']);
    bench.clock.advance(8 * dayMs);
    expect((await vacuum(bench.process(), { dryRun: true })).paths).toEqual([orphan.storedPath]);
    expect(await bench.paths()).toEqual([orphan.storedPath]);
    await vacuum(bench.process(), run);
    const version = (await bench.process().refresh()).version;
    const nothing = { paths: [], fileCount: 0, sizeBytes: 0, heldByFeeds: 0, folderCount: 0 };
    expect(await vacuum(bench.process(), { ...run, quietWhenIdle: true })).toEqual(nothing);
    expect((await bench.process().refresh()).version).toBe(version);
  });

  it('writes both ends into the history although there is nothing to delete, as other engines do', async () => {
    const nothing = { paths: [], fileCount: 0, sizeBytes: 0, heldByFeeds: 0, folderCount: 0 };
    expect(await vacuum(bench.process(), { ...run, retentionHours: 200 })).toEqual(nothing);
    expect((await bench.operations()).slice(-2)).toEqual(['VACUUM START', 'VACUUM END']);
    const start = commitInfoOf((await bench.process().readCommit(toVersion(1)))?.actions ?? [])?.body;
    expect(start?.['operationParameters']).toEqual({
      retentionCheckEnabled: true,
      defaultRetentionMillis: 604_800_000,
      specifiedRetentionMillis: 720_000_000,
    });
  });

  it('lets recorded changes go by age, and only by age', async () => {
    const recorded = await bench.recordedChanges('cdc-0', ['a']);
    const version = await bench.commit('UPDATE', [recorded]);
    bench.clock.advance(6 * dayMs);
    expect((await vacuum(bench.process(), run)).fileCount).toBe(0);
    bench.clock.advance(2 * dayMs);
    expect((await vacuum(bench.process(), run)).paths).toEqual([recorded.storedPath]);
    await expect(new ChangeReader(bench.process()).changesOf(version)).rejects.toMatchObject({ code: 'CDF_GAP' });
  });

  it('keeps what the slowest feed still needs, whatever its age, and says how much that is', async () => {
    const before = await bench.append(['a']);
    await bench.remove([before]);
    const old = await bench.append(['b']);
    const deletes = await bench.remove([old]);
    const recorded = await bench.recordedChanges('cdc-0', ['c']);
    await bench.commit('UPDATE', [recorded]);
    const rewritten = await bench.append(['d']);
    const same = { ...(await bench.file(['d'])), dataChange: false };
    await bench.commit('OPTIMIZE', [removeOf(rewritten, { deletedMs: bench.clock.now(), dataChange: false }), same]);
    bench.clock.advance(30 * dayMs);
    const result = await vacuum(bench.process(), { ...run, keepChangesFrom: deletes });
    expect(result).toMatchObject({ paths: [before.storedPath], heldByFeeds: 3 });
    const reader = new ChangeReader(bench.process());
    const { version } = await bench.process().refresh();
    for (let feed: number = deletes; feed <= version; feed++) await expect(reader.changesOf(toVersion(feed))).resolves.toBeDefined();
    expect((await vacuum(bench.process(), run)).fileCount).toBe(3);
  });

  it('keeps what readers noted beside the table need, and nothing for readers of another table, or of none', async () => {
    const old = await bench.append(['a']);
    const removal = await bench.remove([old]);
    bench.clock.advance(8 * dayMs);
    const note = (tableId: string, readers: readonly NotedReader[]) =>
      putReaderNote(bench.store, { pipeline: 'shop', table: 'orders', readers }, tableId);
    const { tableId } = await bench.process().refresh();
    const readers = [{ by: 'shop/orders/nl', fromVersion: removal }];
    await note(tableId, readers);
    expect(await heldBytes(bench.process(), removal)).toBe(1);
    expect(await heldBytes(bench.process(), toVersion(removal + 1))).toBe(0);
    expect(await vacuum(bench.process(), run)).toMatchObject({ fileCount: 0, heldByFeeds: 1 });
    // Whoever knows of a reader that is further on does not delete what this one needs.
    expect(await vacuum(bench.process(), { ...run, keepChangesFrom: toVersion(removal + 1) })).toMatchObject({ fileCount: 0 });
    await bench.store.put('_tidewater/readers/shop.orders.json', new TextEncoder().encode('{'));
    await expect(vacuum(bench.process(), run)).rejects.toMatchObject({ kind: 'corrupt' });
    await note('another table', readers);
    expect((await vacuum(bench.process(), { ...run, dryRun: true })).fileCount).toBe(1);
    await note(tableId, []);
    expect((await vacuum(bench.process(), run)).fileCount).toBe(1);
  });

  it('leaves hidden names alone, except recorded changes and folders of partition columns', async () => {
    await bench.commit('SET TBLPROPERTIES', [metadataOf({ partitionColumns: ['_p'] })]);
    const garbage = ['_change_data/x', '_p=1/x', 'sub/x', 'x'];
    for (const path of [...garbage, '_delta_log/_sidecars/x', '_staging/x', '.x', 'sub/.x', 'sub/_y/x', '_q=1/x'])
      await bench.store.put(path, new Uint8Array(1));
    bench.clock.advance(8 * dayMs);
    expect((await vacuum(bench.process(), run)).paths).toEqual(garbage);
  });

  it('refuses a retention below the table’s own unless it is allowed, and impossible ones', async () => {
    const old = await bench.append(['a']);
    await bench.remove([old]);
    bench.clock.advance(2 * hourMs);
    const context = bench.process();
    await expect(vacuum(context, { ...run, retentionHours: 1 })).rejects.toMatchObject({
      errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT',
      sqlState: '22003',
      kind: 'invalid',
      message: expect.stringMatching(
        /^The specified VACUUM retention period is too low[^]+\n\nOtherwise, use a retention period of at least 168 hours\.$/,
      ) as string,
    });
    const negative = { errorClass: 'DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE', sqlState: '22003' };
    await expect(vacuum(context, { ...run, retentionHours: -1 })).rejects.toMatchObject(negative);
    await expect(vacuum(context, { ...run, retentionHours: Number.NaN })).rejects.toMatchObject(negative);
    expect((await vacuum(context, { ...run, retentionHours: 1, allowShortRetention: true })).paths).toEqual([old.storedPath]);
  });

  it('follows the retention the table asks for', async () => {
    await bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: { 'delta.deletedFileRetentionDuration': 'interval 2 hours' } })]);
    const orphan = await bench.file(['a']);
    bench.clock.advance(3 * hourMs);
    expect((await vacuum(bench.process(), run)).paths).toEqual([orphan.storedPath]);
  });

  it('keeps a deletion vector’s file for as long as its data file', async () => {
    const file = await bench.append(['a', 'b']);
    const vectorPath = 'ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin';
    await bench.store.put(vectorPath, new Uint8Array(1));
    // The example of the protocol's description of deletion vectors.
    const vector = { storageType: 'u', pathOrInlineDv: 'ab^-aqEH.-t@S}K{vb[*k^', offset: 4, sizeInBytes: 40, cardinality: 1 };
    await bench.commit('DELETE', [removeOf(file, { deletedMs: 0, dataChange: true }), { ...file, deletionVector: vector }]);
    bench.clock.advance(30 * dayMs);
    expect((await vacuum(bench.process(), run)).fileCount).toBe(0);
  });

  it('looks at the newest version again just before deleting', async () => {
    const orphan = await bench.file(['a']);
    bench.clock.advance(8 * dayMs);
    const context = bench.process({ failpoint: at('before-vacuum-deletes', () => bench.commit('RESTORE', [orphan])) });
    expect((await vacuum(context, run)).fileCount).toBe(0);
    expect(await bench.rowsAt()).toEqual(['a']);
  });

  it('does not let a clock that runs ahead of the storage shorten the retention', async () => {
    const orphan = await bench.file(['a']);
    bench.clock.advance(6 * dayMs);
    const skewed = bench.process({ clock: new StepClock(bench.clock.now() + 3 * dayMs) });
    expect((await vacuum(skewed, run)).fileCount).toBe(0);
    expect(await bench.paths()).toEqual([orphan.storedPath]);
  });

  it('writes a failed end into the history, and goes on from there the next time', async () => {
    for (const row of ['a', 'b', 'c', 'd']) await bench.file([row]);
    bench.clock.advance(8 * dayMs);
    const broken = new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: 'down' });
    let deletes = 0;
    const store = intercepted(bench.store, { delete: (path) => (++deletes > 2 ? Promise.reject(broken) : bench.store.delete(path)) });
    await expect(vacuum(bench.process({ store }), run)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const { version } = await bench.process().refresh();
    const info = commitInfoOf((await bench.process().readCommit(version))?.actions ?? [])?.body;
    expect(info).toMatchObject({
      operation: 'VACUUM END',
      operationParameters: { status: 'FAILED' },
      operationMetrics: { numDeletedFiles: '2' },
    });
    expect((await vacuum(bench.process(), run)).fileCount).toBe(2);
    expect(await bench.paths()).toEqual([]);
  });

  it('reaches within-vacuum-deletes with half of the files deleted', async () => {
    for (const row of ['a', 'b', 'c', 'd']) await bench.file([row]);
    bench.clock.advance(8 * dayMs);
    let left = 0;
    await vacuum(bench.process({ failpoint: at('within-vacuum-deletes', async () => (left = (await bench.paths()).length)) }), run);
    expect(left).toBe(2);
  });

  it('honours a longer retention than the table’s for removed files, although checkpoints forget their tombstones', async () => {
    const old = await bench.append(['a']);
    bench.clock.advance(20 * dayMs);
    await bench.remove([old]);
    bench.clock.advance(10 * dayMs);
    const context = bench.process();
    const { version } = await context.refresh();
    const since = (days: number) => filesRemovedSince(context, version, toEpochMs(bench.clock.now() - days * dayMs));
    expect(await since(14)).toEqual(new Set([old.storedPath]));
    expect(await since(7)).toEqual(new Set());
    expect((await vacuum(context, { dryRun: true, retentionHours: 24 * 14 })).fileCount).toBe(0);
    expect((await vacuum(context, { dryRun: true })).fileCount).toBe(1);
  });

  describe('that looks at the log only', () => {
    const lite = { dryRun: false, mode: 'lite' } as const;

    it('deletes what versions older than the retention removed, with vectors and recorded changes, and leaves what the log never knew', async () => {
      const live = await bench.append(['a']);
      const [gone, young] = [await bench.append(['b']), await bench.append(['c'])];
      const recorded = await bench.recordedChanges('cdc-0', ['b']);
      const orphan = await bench.file(['d']);
      await bench.remove([gone]);
      await bench.commit('UPDATE', [recorded]);
      bench.clock.advance(8 * dayMs);
      await bench.remove([young]);
      const result = await vacuum(bench.process(), lite);
      expect(result.paths).toEqual([recorded.storedPath, gone.storedPath]);
      expect(await bench.paths()).toEqual([live.storedPath, young.storedPath, orphan.storedPath].sort());
      expect((await bench.operations()).slice(-2)).toEqual(['VACUUM START', 'VACUUM END']);
    });

    it('goes on where the last vacuum ended, full or lite', async () => {
      const [one, two] = [await bench.append(['a']), await bench.append(['b'])];
      await bench.remove([one]);
      bench.clock.advance(8 * dayMs);
      await vacuum(bench.process(), run);
      expect(new TextDecoder().decode(await bench.store.read('_delta_log/_last_vacuum_info'))).toBe(
        '{"latestCommitVersionOutsideOfRetentionWindow":3}\n',
      );
      await bench.remove([two]);
      bench.clock.advance(8 * dayMs);
      // The versions before were looked at: their commits are not needed any more.
      const context = bench.process();
      await context.refresh();
      for (const version of [0, 1, 2, 3]) await bench.store.delete(commitPath(version));
      expect((await vacuum(context, { ...lite, dryRun: true })).paths).toEqual([two.storedPath]);
    });

    it('refuses when the log does not reach back to where the last vacuum ended', async () => {
      const old = await bench.append(['a']);
      await bench.remove([old]);
      const context = bench.process();
      await context.refresh();
      await bench.store.delete(commitPath(0));
      bench.clock.advance(8 * dayMs);
      await expect(vacuum(context, lite)).rejects.toMatchObject({ errorClass: 'DELTA_CANNOT_VACUUM_LITE', sqlState: '55000' });
    });

    it('notes nothing while a feed holds files back, so that they are found again', async () => {
      const old = await bench.append(['a']);
      const removal = await bench.remove([old]);
      bench.clock.advance(8 * dayMs);
      expect(await vacuum(bench.process(), { ...lite, keepChangesFrom: removal })).toMatchObject({ fileCount: 0, heldByFeeds: 1 });
      expect((await vacuum(bench.process(), lite)).paths).toEqual([old.storedPath]);
    });

    it('never deletes a file outside the table', async () => {
      const outside = { ...(await bench.file(['a'])), path: 'file:///elsewhere/x', storedPath: '/elsewhere/x' };
      await bench.commit('CLONE', [outside]);
      await bench.remove([outside]);
      bench.clock.advance(8 * dayMs);
      expect((await vacuum(bench.process(), lite)).fileCount).toBe(0);
    });
  });
});
