import { describe, expect, it } from 'vitest';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { requirementsFor } from '../../../../src/iceberg/metadata/requirements.ts';
import { expireSnapshots, notesOf } from '../../../../src/iceberg/operations/expire/expire-snapshots.ts';
import { heldBytes } from '../../../../src/iceberg/operations/expire/retained-snapshots.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { commitUpdates } from '../../../../src/iceberg/transaction/commit-updates.ts';
import type { SnapshotChange } from '../../../../src/iceberg/transaction/snapshot-change.ts';
import { type NotedReader, putReaderNote } from '../../../../src/table/reader-notes.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { change, created, dataFile, liveNames, memoryContext, memoryStore, pathsBelow } from '../../../support/iceberg/memory-table.ts';
import { StepClock } from '../../../support/step-clock.ts';

const always = Number.MAX_SAFE_INTEGER;

/** Commits changes one after the other; the files they add are really there. */
async function history(
  context: TableContext,
  changes: readonly Partial<SnapshotChange>[],
  clock = new StepClock(),
): Promise<readonly SnapshotState[]> {
  let state = await created(context);
  const states: SnapshotState[] = [];
  for (const parts of changes) {
    clock.advance(1_000);
    for (const file of parts.added ?? []) await context.files.put(file.path, Uint8Array.of(1));
    state = await commitSnapshot(context, state, change(parts));
    states.push(state);
  }
  return states;
}

const appends = (...names: readonly string[]): readonly Partial<SnapshotChange>[] => names.map((name) => ({ added: [dataFile(name)] }));
const replaced: readonly Partial<SnapshotChange>[] = [
  { added: [dataFile('a')] },
  { added: [dataFile('b')] },
  { kind: 'overwrite', removed: [dataFile('a')], added: [dataFile('c')] },
  { added: [dataFile('d')] },
];

describe('expireSnapshots', () => {
  it('deletes what only expired snapshots refer to, and nothing else', async () => {
    const context = memoryContext();
    const states = await history(context, replaced);
    const result = await expireSnapshots(context, { olderThanMs: always, retainLast: 1 });
    expect(result).toEqual({
      expiredSnapshots: 3,
      removedRefs: 0,
      deletedDataFiles: 1,
      deletedPositionDeleteFiles: 0,
      deletedEqualityDeleteFiles: 0,
      deletedManifests: 2,
      deletedManifestLists: 3,
      deletedStatisticsFiles: 0,
    });
    const { metadata } = await context.refresh();
    expect(metadata.snapshots.map(({ snapshotId }) => snapshotId)).toEqual([states[3]?.snapshotId]);
    const paths = await pathsBelow(context);
    expect(paths.filter((path) => path.startsWith('data/'))).toEqual(['data/b.parquet', 'data/c.parquet', 'data/d.parquet']);
    expect(await liveNames(context, await context.refresh())).toEqual(['b', 'c', 'd']);
  });

  it('counts what would go and changes nothing in a dry run', async () => {
    const context = memoryContext();
    await history(context, replaced);
    const before = await pathsBelow(context);
    expect(await expireSnapshots(context, { olderThanMs: always, dryRun: true })).toMatchObject({
      expiredSnapshots: 3,
      deletedDataFiles: 1,
    });
    expect(await pathsBelow(context)).toEqual(before);
  });

  it('keeps files that a branch or a tag still refers to, and drops references by their own age', async () => {
    const clock = new StepClock();
    const context = memoryContext({ clock });
    const states = await history(context, replaced, clock);
    await alterTable(context, { kind: 'create-ref', ref: 'tag', name: 'first', mode: 'create', snapshotId: states[0]?.snapshotId });
    expect(await expireSnapshots(context, { olderThanMs: always })).toMatchObject({ expiredSnapshots: 2, deletedDataFiles: 0 });
    expect(await pathsBelow(context)).toContain('data/a.parquet');
    await alterTable(context, {
      kind: 'create-ref',
      ref: 'tag',
      name: 'first',
      mode: 'replace',
      snapshotId: states[0]?.snapshotId,
      maxRefAgeMs: 1n,
    });
    expect(await expireSnapshots(context, { olderThanMs: always })).toMatchObject({
      removedRefs: 1,
      expiredSnapshots: 1,
      deletedDataFiles: 1,
    });
    expect(await pathsBelow(context)).not.toContain('data/a.parquet');
  });

  it('keeps by age, by count and by the settings of each branch', async () => {
    const clock = new StepClock();
    const context = memoryContext({ clock });
    const states = await history(context, appends('a', 'b', 'c', 'd'), clock);
    const ids = (state: SnapshotState): readonly (bigint | undefined)[] => state.metadata.snapshots.map(({ snapshotId }) => snapshotId);
    await expireSnapshots(context);
    expect(ids(await context.refresh())).toHaveLength(4);
    await expireSnapshots(context, { olderThanMs: states[1]?.committedAt ?? 0 });
    expect(ids(await context.refresh())).toEqual(states.slice(1).map(({ snapshotId }) => snapshotId));
    await expireSnapshots(context, { olderThanMs: always, retainLast: 2 });
    expect(ids(await context.refresh())).toEqual(states.slice(2).map(({ snapshotId }) => snapshotId));
    const refused = expect(expireSnapshots(context, { retainLast: 0 })).rejects;
    await refused.toThrow('Number of snapshots to retain must be at least 1, cannot be: 0');
  });

  it('expires snapshots by id, but for those that are referred to', async () => {
    const context = memoryContext();
    const states = await history(context, appends('a', 'b', 'c'));
    const [first, , last] = states.map(({ snapshotId }) => snapshotId ?? 0n);
    await expect(expireSnapshots(context, { snapshotIds: [last ?? 0n] })).rejects.toMatchObject({
      alias: 'IllegalArgumentException',
      message: `Cannot expire ${last}. Still referenced by refs: [main]`,
    });
    expect(await expireSnapshots(context, { snapshotIds: [first ?? 0n] })).toMatchObject({ expiredSnapshots: 1, deletedDataFiles: 0 });
    expect(await liveNames(context, await context.refresh())).toEqual(['a', 'b', 'c']);
  });

  it('keeps the versions a feed has to read, and the one before them', async () => {
    const context = memoryContext();
    const states = await history(context, replaced);
    const kept = { olderThanMs: always, keepVersionsFrom: toVersion(3) };
    expect(await expireSnapshots(context, kept)).toMatchObject({ expiredSnapshots: 1, deletedDataFiles: 0 });
    expect((await context.refresh()).metadata.snapshots.map(({ sequenceNumber }) => sequenceNumber)).toEqual([2n, 3n, 4n]);
    expect(await pathsBelow(context)).toContain('data/a.parquet');
    // Asking for one of them by its id does not help.
    const asked = { ...kept, snapshotIds: [states[1]?.snapshotId ?? 0n] };
    expect(await expireSnapshots(context, asked)).toMatchObject({ expiredSnapshots: 0 });
  });

  it('keeps the versions that readers noted beside the table, and refuses one of them by its id', async () => {
    const context = memoryContext();
    const states = await history(context, replaced);
    const { metadata } = await context.refresh();
    const note = (readers: readonly NotedReader[]) =>
      putReaderNote(notesOf(context, metadata), { pipeline: 'shop', table: 't', readers }, metadata.tableUuid);
    await note([{ by: 'shop/t/nl', fromVersion: toVersion(3) }]);
    await expect(expireSnapshots(context, { snapshotIds: [states[1]?.snapshotId ?? 0n] })).rejects.toMatchObject({
      errorClass: 'SNAPSHOT_NEEDED_BY_READER',
      message: expect.stringContaining('shop/t/nl has yet to read the changes from version 3 on') as string,
    });
    expect(await expireSnapshots(context, { olderThanMs: always })).toMatchObject({ expiredSnapshots: 1, deletedDataFiles: 0 });
    expect(await pathsBelow(context)).toContain('data/a.parquet');
    await note([]);
    expect(await expireSnapshots(context, { olderThanMs: always })).toMatchObject({ expiredSnapshots: 2, deletedDataFiles: 1 });
  });

  it('tells the bytes that only readers keep', async () => {
    const context = memoryContext();
    await history(context, replaced);
    const { metadata } = await context.refresh();
    const nowMs = always;
    expect(heldBytes(metadata, { nowMs, keepVersionsFrom: 3 })).toBe(Number(metadata.snapshots[2]?.summary['removed-files-size']));
    expect(heldBytes(metadata, { nowMs, keepVersionsFrom: 3 })).toBeGreaterThan(0);
    expect(heldBytes(metadata, { nowMs, keepVersionsFrom: 5 })).toBe(0);
    expect(heldBytes(metadata, { nowMs: 0, keepVersionsFrom: 3 })).toBe(0);
  });

  it('takes statistics of expired snapshots along', async () => {
    const context = memoryContext();
    const states = await history(context, appends('a', 'b'));
    const statisticsPath = `${states[0]?.metadata.location}/metadata/s.puffin`;
    await context.files.put(statisticsPath, Uint8Array.of(1));
    const sizes = { fileSizeInBytes: 1n, fileFooterSizeInBytes: 1n };
    await commitUpdates(context, ({ metadata }) => {
      const statistics = { snapshotId: states[0]?.snapshotId ?? 0n, statisticsPath, ...sizes, keyMetadata: undefined, blobMetadata: [] };
      const updates = [{ action: 'set-statistics', statistics }] as const;
      return { updates, requirements: requirementsFor(metadata, updates) };
    });
    expect(await expireSnapshots(context, { olderThanMs: always })).toMatchObject({ deletedStatisticsFiles: 1 });
    expect(await context.files.head(statisticsPath)).toBeUndefined();
  });

  it('takes out schemas and specs that no snapshot uses, when asked to', async () => {
    const context = memoryContext();
    await history(context, appends('a'));
    await alterTable(context, { kind: 'add-partition-field', field: { source: ['id'], transform: { kind: 'identity' } } });
    await commitSnapshot(context, await context.refresh(), change({ kind: 'overwrite', removed: [dataFile('a')] }));
    const state = await context.refresh();
    await commitSnapshot(context, state, change({ added: [dataFile('b', { specId: state.metadata.defaultSpecId, partition: [1n] })] }));
    await expireSnapshots(context, { olderThanMs: always });
    expect((await context.refresh()).metadata.partitionSpecs).toHaveLength(2);
    await expireSnapshots(context, { olderThanMs: always, cleanExpiredMetadata: true });
    const { metadata } = await context.refresh();
    expect(metadata.partitionSpecs.map(({ specId }) => specId)).toEqual([metadata.defaultSpecId]);
  });

  it('refuses tables whose files may be shared', async () => {
    const context = memoryContext();
    await created(context, { properties: { 'gc.enabled': 'false' } });
    await expect(expireSnapshots(context)).rejects.toMatchObject({
      alias: 'ValidationException',
      message: 'Cannot expire snapshots: GC is disabled (deleting files may corrupt other tables)',
    });
  });

  it('deletes nothing when a snapshot that stays cannot be read', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const states = await history(context, replaced);
    await context.files.delete(states[3]?.snapshot?.manifestList ?? '');
    // Another process: this one has the list in its memory.
    await expect(expireSnapshots(memoryContext({ store, seed: 2 }), { olderThanMs: always })).rejects.toMatchObject({ kind: 'not-found' });
    expect(await pathsBelow(context)).toContain('data/a.parquet');
  });
});
