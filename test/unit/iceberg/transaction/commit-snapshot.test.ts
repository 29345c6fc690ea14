import { describe, expect, it } from 'vitest';
import { type Expression, trueLiteral } from '../../../../src/expr/expression.ts';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import {
  change,
  contentOf,
  created,
  dataFile,
  liveNames,
  memoryContext,
  memoryStore,
  pathsBelow,
} from '../../../support/iceberg/memory-table.ts';
import { StepClock } from '../../../support/step-clock.ts';

const byId = { partitioning: [{ source: ['id'], transform: { kind: 'identity' } as const }] };

describe('commitSnapshot', () => {
  it('appends files in a manifest of their own, with the summary of the first snapshot', async () => {
    const context = memoryContext();
    const base = await created(context);
    const state = await commitSnapshot(context, base, change({ added: [dataFile('a'), dataFile('b')], summary: { 'my.key': 'x' } }));
    expect(state.snapshot?.parentSnapshotId).toBeUndefined();
    expect(state.snapshot?.sequenceNumber).toBe(1n);
    expect(state.snapshot?.summary).toEqual({
      operation: 'append',
      'my.key': 'x',
      'added-data-files': '2',
      'added-records': '20',
      'added-files-size': '2000',
      'changed-partition-count': '1',
      'total-records': '20',
      'total-files-size': '2000',
      'total-data-files': '2',
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'manifests-created': '1',
      'manifests-kept': '0',
      'manifests-replaced': '0',
      'engine-name': 'tidewater',
      'engine-version': '1.0.0',
    });
    const [only] = await contentOf(context, state);
    expect(only?.manifest).toMatchObject({ addedFiles: 2, existingFiles: 0, addedRows: 20n, sequenceNumber: 1n, minSequenceNumber: 1n });
    expect(only?.entries.map(({ status, sequenceNumber }) => [status, sequenceNumber])).toEqual([
      ['added', 1n],
      ['added', 1n],
    ]);
    expect(await liveNames(context, await context.refresh())).toEqual(['a', 'b']);
  });

  it('shares the manifests of earlier snapshots', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    const [first] = await contentOf(context, state);
    state = await commitSnapshot(context, state, change({ added: [dataFile('b')] }));
    const content = await contentOf(context, state);
    expect(content.map(({ manifest }) => manifest.path)).toContain(first?.manifest.path);
    expect(state.snapshot?.summary).toMatchObject({ 'manifests-created': '1', 'manifests-kept': '1', 'total-data-files': '2' });
    expect(state.snapshot?.parentSnapshotId).toBe(first?.manifest.addedSnapshotId);
    expect(state.metadata.snapshotLog.map(({ snapshotId }) => snapshotId)).toEqual(
      state.metadata.snapshots.map(({ snapshotId }) => snapshotId),
    );
  });

  it('marks removed files as deleted with their own numbers, and forgets them in the next snapshot', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a'), dataFile('b')] }));
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('a')], added: [dataFile('c')] }));
    expect(state.snapshot?.summary).toMatchObject({
      operation: 'overwrite',
      'deleted-data-files': '1',
      'deleted-records': '10',
      'removed-files-size': '1000',
      'added-data-files': '1',
      'total-data-files': '2',
      'manifests-created': '2',
      'manifests-kept': '0',
      'manifests-replaced': '1',
    });
    const [, filtered] = await contentOf(context, state);
    expect(filtered?.entries.map(({ status, sequenceNumber, snapshotId }) => [status, sequenceNumber, snapshotId])).toEqual([
      ['deleted', 1n, state.snapshotId],
      ['existing', 1n, state.snapshot?.parentSnapshotId],
    ]);
    expect(filtered?.manifest).toMatchObject({ existingFiles: 1, deletedFiles: 1, minSequenceNumber: 1n, sequenceNumber: 2n });

    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('b')] }));
    expect(state.snapshot?.summary).toMatchObject({ operation: 'delete', 'total-data-files': '1' });
    state = await commitSnapshot(context, state, change({ added: [dataFile('d')] }));
    const entries = (await contentOf(context, state)).flatMap((one) => one.entries);
    expect(entries.filter(({ status }) => status === 'deleted')).toEqual([]);
    expect(await liveNames(context, state)).toEqual(['c', 'd']);
  });

  it('refuses to remove a file that is not live, and leaves nothing behind', async () => {
    const context = memoryContext();
    const state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    const before = await pathsBelow(context);
    const refused = commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('gone')], added: [dataFile('b')] }));
    await expect(refused).rejects.toMatchObject({
      name: 'ValidationException',
      kind: 'conflict',
      message: 'Missing required files to delete: /wh/db/t/data/gone.parquet',
    });
    expect(await pathsBelow(context)).toEqual(before);
  });

  it('reads only manifests whose partitions can hold the removed file', async () => {
    const context = memoryContext();
    let state = await created(context, byId);
    for (const id of [1n, 2n, 3n])
      state = await commitSnapshot(context, state, change({ added: [dataFile(`f${id}`, { partition: [id] })] }));
    const before = await contentOf(context, state);
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('f2', { partition: [2n] })] }));
    const paths = new Set((await contentOf(context, state)).map(({ manifest }) => manifest.path));
    expect(before.filter(({ manifest }) => paths.has(manifest.path)).length).toBe(2);
    expect(await liveNames(context, state)).toEqual(['f1', 'f3']);
  });

  it('replaces the files of partitions', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(
      context,
      await created(context, byId),
      change({ added: [dataFile('a', { partition: [1n] }), dataFile('b', { partition: [2n] })] }),
    );
    const replacement = { specId: 0, partition: [1n] };
    state = await commitSnapshot(
      context,
      state,
      change({ kind: 'overwrite', added: [dataFile('c', { partition: [1n] })], replacedPartitions: [replacement] }),
    );
    expect(await liveNames(context, state)).toEqual(['b', 'c']);
    expect(state.snapshot?.summary).toMatchObject({ operation: 'overwrite', 'replace-partitions': 'true', 'changed-partition-count': '1' });
  });

  it('removes files all of whose rows match, and refuses files with rows of both kinds', async () => {
    const context = memoryContext();
    const state = await commitSnapshot(
      context,
      await created(context),
      change({ added: [dataFile('low', { ids: [1, 5] }), dataFile('high', { ids: [10, 20] })] }),
    );
    const below = (value: bigint): Expression => ({
      kind: 'binary',
      operator: '<',
      left: { kind: 'column', path: ['id'], type: { kind: 'long' } },
      right: { kind: 'literal', literal: { type: 'integer', value, width: 'long' } },
    });
    const next = await commitSnapshot(context, state, change({ kind: 'overwrite', removedWhere: below(7n) }));
    expect(await liveNames(context, next)).toEqual(['high']);
    expect(next.snapshot?.summary['operation']).toBe('delete');
    await expect(commitSnapshot(context, next, change({ kind: 'overwrite', removedWhere: below(15n) }))).rejects.toThrow(
      'Cannot delete file where some, but not all, rows match filter ref(name="id") < 15: /wh/db/t/data/high.parquet',
    );
  });

  it('removes all files, delete files too, when the condition is that of all rows', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a'), dataFile('b')] }));
    state = await commitSnapshot(
      context,
      state,
      change({ kind: 'row-delta', added: [dataFile('d', { content: 'equality-deletes', equalityIds: [1] })] }),
    );
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removedWhere: trueLiteral, added: [dataFile('c')] }));
    expect(await liveNames(context, state)).toEqual(['c']);
    expect(state.snapshot?.summary).toMatchObject({ operation: 'overwrite', 'total-delete-files': '0', 'total-equality-deletes': '0' });
  });

  it('merges manifests when there are enough of them', async () => {
    const context = memoryContext();
    let state = await created(context, { properties: { 'commit.manifest.min-count-to-merge': '3' } });
    for (const name of ['a', 'b', 'c']) state = await commitSnapshot(context, state, change({ added: [dataFile(name)] }));
    const content = await contentOf(context, state);
    expect(content.length).toBe(1);
    expect(content[0]?.entries.map(({ status, sequenceNumber }) => [status, sequenceNumber])).toEqual([
      ['added', 3n],
      ['existing', 2n],
      ['existing', 1n],
    ]);
    expect(content[0]?.manifest).toMatchObject({ minSequenceNumber: 1n, sequenceNumber: 3n });
    expect(state.snapshot?.summary).toMatchObject({ 'manifests-created': '1', 'manifests-kept': '0', 'manifests-replaced': '2' });
    state = await commitSnapshot(context, state, change({ kind: 'fast-append', added: [dataFile('d')] }));
    state = await commitSnapshot(context, state, change({ kind: 'fast-append', added: [dataFile('e')] }));
    expect((await contentOf(context, state)).length).toBe(3);
    expect((await pathsBelow(context)).filter((path) => path.endsWith('-m0.avro') || path.endsWith('-m1.avro')).length).toBe(5);
  });

  it('splits the manifest of many files at the target size', async () => {
    const context = memoryContext();
    const base = await created(context, {
      properties: { 'commit.manifest.target-size-bytes': '4000', 'write.manifest.compression-codec': 'uncompressed' },
    });
    const files = Array.from({ length: 100 }, (_, index) => dataFile(`file-${String(index).padStart(3, '0')}`));
    const state = await commitSnapshot(context, base, change({ added: files }));
    const content = await contentOf(context, state);
    expect(content.length).toBeGreaterThan(2);
    expect((await liveNames(context, state)).length).toBe(100);
  });

  it('lists changed partitions up to the limit of the table', async () => {
    const context = memoryContext();
    const base = await created(context, { ...byId, properties: { 'write.summary.partition-limit': '2' } });
    const state = await commitSnapshot(
      context,
      base,
      change({ added: [dataFile('a', { partition: [1n] }), dataFile('b', { partition: [2n] })] }),
    );
    expect(state.snapshot?.summary).toMatchObject({
      'partition-summaries-included': 'true',
      'partitions.id=1': 'added-files-size=1000,added-data-files=1,added-records=10',
    });
    const more = ['c', 'd', 'e'].map((name, index) => dataFile(name, { partition: [BigInt(index)] }));
    const next = await commitSnapshot(context, state, change({ added: more }));
    expect(Object.keys(next.snapshot?.summary ?? {}).filter((key) => key.startsWith('partition'))).toEqual([]);
  });

  it('numbers rows in format version 3, the new manifest first', async () => {
    const context = memoryContext();
    let state = await created(context, { properties: { 'format-version': '2' } });
    state = await commitSnapshot(context, state, change({ added: [dataFile('old')] }));
    state = (await alterTable(context, { kind: 'set-properties', properties: { 'format-version': '3' } })) ?? state;
    state = await commitSnapshot(context, state, change({ added: [dataFile('new', { recordCount: 7 })] }));
    expect(state.snapshot).toMatchObject({ firstRowId: 0n, addedRows: 17n });
    expect(state.metadata.nextRowId).toBe(17n);
    const content = await contentOf(context, state);
    expect(content.map(({ manifest }) => manifest.firstRowId)).toEqual([0n, 7n]);
    state = await commitSnapshot(context, state, change({ added: [dataFile('c'), dataFile('d')] }));
    expect(state.snapshot).toMatchObject({ firstRowId: 17n, addedRows: 20n });
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('c')] }));
    const kept = (await contentOf(context, state)).flatMap(({ entries }) => entries).find(({ file }) => file.path.endsWith('/d.parquet'));
    expect([kept?.status, kept?.file.firstRowId]).toEqual(['existing', 27n]);
  });

  it('writes tables of format version 1 without sequence numbers, and refuses delete files there', async () => {
    const context = memoryContext();
    let state = await created(context, { properties: { 'format-version': '1' } });
    state = await commitSnapshot(context, state, change({ added: [dataFile('a')] }));
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('a')], added: [dataFile('b')] }));
    expect(state.snapshot?.sequenceNumber).toBe(0n);
    expect(state.version).toBe(2);
    expect(await liveNames(context, state)).toEqual(['b']);
    const deletes = dataFile('x', { content: 'position-deletes' });
    await expect(commitSnapshot(context, state, change({ kind: 'row-delta', added: [deletes] }))).rejects.toThrow(
      'Deletes are supported in V2 and above',
    );
  });

  it('writes the data sequence number that a rewrite keeps', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    state = await commitSnapshot(context, state, change({ added: [dataFile('b')] }));
    state = await commitSnapshot(
      context,
      state,
      change({ kind: 'replace', removed: [dataFile('a')], added: [dataFile('a2')], dataSequenceNumber: 1n }),
    );
    const entry = (await contentOf(context, state)).flatMap(({ entries }) => entries).find(({ file }) => file.path.includes('a2'));
    expect(entry).toMatchObject({ status: 'added', sequenceNumber: 1n, fileSequenceNumber: 3n });
    expect(state.snapshot?.summary['operation']).toBe('replace');
  });

  it('drops delete files that concern no data file any more', async () => {
    const context = memoryContext();
    let state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    const deletes = dataFile('d', { content: 'position-deletes', recordCount: 3 });
    state = await commitSnapshot(context, state, change({ kind: 'row-delta', added: [deletes] }));
    expect(state.snapshot?.summary).toMatchObject({
      operation: 'delete',
      'added-delete-files': '1',
      'added-position-delete-files': '1',
      'added-position-deletes': '3',
      'total-position-deletes': '3',
    });
    state = await commitSnapshot(context, state, change({ added: [dataFile('b')] }));
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('a')], added: [dataFile('c')] }));
    expect(state.snapshot?.summary).toMatchObject({
      'removed-delete-files': '1',
      'total-delete-files': '0',
      'total-position-deletes': '0',
    });
    expect(await liveNames(context, state)).toEqual(['b', 'c']);
  });

  it('stages a snapshot without making it the newest', async () => {
    const context = memoryContext();
    const base = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    const staged = await commitSnapshot(context, base, change({ added: [dataFile('b')], stageOnly: true, summary: { 'wap.id': 'w1' } }));
    expect(await liveNames(context, staged)).toEqual(['a', 'b']);
    const newest = await context.refresh();
    expect(newest.snapshotId).toBe(base.snapshotId);
    expect(newest.metadata.snapshots.length).toBe(2);
    expect(newest.metadata.snapshotLog.length).toBe(1);
  });

  it('stages writes with a WAP id where the table wants it', async () => {
    const context = memoryContext();
    const base = await created(context, { properties: { 'write.wap.enabled': 'true' } });
    const staged = await commitSnapshot(context, base, change({ added: [dataFile('a')] }), { summary: { 'wap.id': 'w1' } });
    expect(staged.snapshot?.summary['wap.id']).toBe('w1');
    expect((await context.refresh()).snapshot).toBeUndefined();
    const state = await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('b')] }));
    expect(await liveNames(context, state)).toEqual(['b']);
  });

  it('writes to a branch without touching main, and not to a tag', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const base = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    await alterTable(context, { kind: 'create-ref', ref: 'branch', name: 'audit', mode: 'create', minSnapshotsToKeep: 7 });
    await alterTable(context, { kind: 'create-ref', ref: 'tag', name: 'first', mode: 'create' });
    const branch = memoryContext({ store, branch: 'audit', seed: 2 });
    const state = await commitSnapshot(branch, await branch.refresh(), change({ added: [dataFile('b')] }));
    expect(await liveNames(branch, state)).toEqual(['a', 'b']);
    expect(state.metadata.refs.get('audit')?.minSnapshotsToKeep).toBe(7);
    expect((await context.refresh()).snapshotId).toBe(base.snapshotId);
    await expect(commitSnapshot(context, await context.refresh(), change({ added: [dataFile('c')] }), { branch: 'first' })).rejects.toThrow(
      'first is a tag, not a branch. Tags cannot be targets for producing snapshots',
    );
  });

  it('never goes back in time', async () => {
    const clock = new StepClock();
    const context = memoryContext({ clock });
    const state = await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    clock.advance(-600_000);
    const next = await commitSnapshot(context, state, change({ added: [dataFile('b')] }));
    expect(next.committedAt).toBeGreaterThanOrEqual(state.committedAt);
    expect(next.metadata.lastUpdatedMs).toBeGreaterThanOrEqual(state.metadata.lastUpdatedMs);
  });
});
