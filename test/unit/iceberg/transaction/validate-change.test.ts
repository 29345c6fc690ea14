import { describe, expect, it } from 'vitest';
import type { Expression } from '../../../../src/expr/expression.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../../../../src/iceberg/transaction/snapshot-change.ts';
import type { TableDefinition } from '../../../../src/table/table.ts';
import { change, created, dataFile, liveNames, memoryContext, memoryStore } from '../../../support/iceberg/memory-table.ts';

const isOne: Expression = {
  kind: 'binary',
  operator: '=',
  left: { kind: 'column', path: ['id'], type: { kind: 'long' } },
  right: { kind: 'literal', literal: { type: 'integer', value: 1n, width: 'long' } },
};

interface Race {
  readonly slow: TableContext;
  readonly fast: TableContext;
  readonly base: SnapshotState;
}

/** Two writers of one table that has files "a" (id 1 to 5) and "b" (id 6 to 9). */
async function race(parts: Partial<TableDefinition> = {}): Promise<Race> {
  const store = memoryStore();
  const slow = memoryContext({ store });
  await created(slow, parts);
  const files = [dataFile('a', { ids: [1, 5] }), dataFile('b', { ids: [6, 9] })];
  const base = await commitSnapshot(slow, await slow.refresh(), change({ added: files }));
  return { slow, fast: memoryContext({ store, seed: 2 }), base };
}

async function fastCommits({ fast }: Race, parts: Partial<SnapshotChange>): Promise<void> {
  await commitSnapshot(fast, await fast.refresh(), change(parts));
}

const a2 = dataFile('a2', { ids: [1, 5] });

describe('changes of others since a change was worked out', () => {
  it('stand against a rewrite when they added rows that it should have read', async () => {
    const two = await race();
    await fastCommits(two, { added: [dataFile('new', { ids: [1, 1] })] });
    const rewrite = change({
      kind: 'overwrite',
      removed: [dataFile('a')],
      added: [a2],
      validation: { since: two.base.snapshotId, noNewData: isOne, noNewDeletes: isOne },
    });
    await expect(commitSnapshot(two.slow, two.base, rewrite)).rejects.toMatchObject({
      name: 'ValidationException',
      errorClass: 'VALIDATION_FAILED',
      kind: 'conflict',
      message: 'Found conflicting files that can contain records matching ref(name="id") == 1: [/wh/db/t/data/new.parquet]',
    });
  });

  it('do not when the bounds of what they added exclude the condition', async () => {
    const two = await race();
    await fastCommits(two, { added: [dataFile('new', { ids: [100, 200] })] });
    const rewrite = change({
      kind: 'overwrite',
      removed: [dataFile('a')],
      added: [a2],
      validation: { since: two.base.snapshotId, noNewData: isOne, noNewDeletes: isOne },
    });
    expect(await liveNames(two.slow, await commitSnapshot(two.slow, two.base, rewrite))).toEqual(['a2', 'b', 'new']);
  });

  it('stand against any change that must see no other rows at all', async () => {
    const two = await race();
    await fastCommits(two, { added: [dataFile('new')] });
    const overwrite = change({
      kind: 'overwrite',
      removed: [dataFile('a'), dataFile('b')],
      added: [a2],
      validation: { since: two.base.snapshotId, noNewData: true },
    });
    await expect(commitSnapshot(two.slow, two.base, overwrite)).rejects.toThrow(
      'Found conflicting files that can contain records matching true: [/wh/db/t/data/new.parquet]',
    );
  });

  it('do not count when they were compactions', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'replace', removed: [dataFile('b')], added: [dataFile('b2', { ids: [1, 9] })] });
    const rewrite = change({
      kind: 'overwrite',
      removed: [dataFile('a')],
      added: [a2],
      validation: { since: two.base.snapshotId, noNewData: isOne },
    });
    expect(await liveNames(two.slow, await commitSnapshot(two.slow, two.base, rewrite))).toEqual(['a2', 'b2']);
  });

  it('stand against a delete of a file that a compaction took away', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'replace', removed: [dataFile('a'), dataFile('b')], added: [dataFile('ab')] });
    const rewrite = change({ kind: 'overwrite', removed: [dataFile('a')], added: [a2], validation: { since: two.base.snapshotId } });
    await expect(commitSnapshot(two.slow, two.base, rewrite)).rejects.toThrow('Missing required files to delete: /wh/db/t/data/a.parquet');
  });

  it('stand against a rewrite of a file that they deleted rows of', async () => {
    const two = await race();
    await fastCommits(two, {
      kind: 'row-delta',
      added: [dataFile('d', { content: 'position-deletes', referencedDataFile: dataFile('a').path })],
    });
    const compaction = change({
      kind: 'replace',
      removed: [dataFile('a')],
      added: [a2],
      validation: { since: two.base.snapshotId, noNewDeletesForRemoved: true },
    });
    await expect(commitSnapshot(two.slow, two.base, compaction)).rejects.toThrow(
      'Cannot commit, found new delete for replaced data file: /wh/db/t/data/a.parquet',
    );
    const other = change({
      kind: 'replace',
      removed: [dataFile('b')],
      added: [dataFile('b2')],
      validation: { since: two.base.snapshotId, noNewDeletesForRemoved: true },
    });
    expect(await liveNames(two.slow, await commitSnapshot(two.slow, two.base, other))).toContain('b2');
  });

  it('leave a compaction alone when its rows stay under the new equality deletes', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'row-delta', added: [dataFile('e', { content: 'equality-deletes', equalityIds: [1] })] });
    const compaction = (dataSequenceNumber: bigint | undefined): SnapshotChange =>
      change({
        kind: 'replace',
        removed: [dataFile('a')],
        added: [a2],
        dataSequenceNumber,
        validation: { since: two.base.snapshotId, noNewDeletesForRemoved: true },
      });
    await expect(commitSnapshot(two.slow, two.base, compaction(undefined))).rejects.toThrow('found new delete for replaced data file');
    expect(await liveNames(two.slow, await commitSnapshot(two.slow, two.base, compaction(1n)))).toEqual(['a2', 'b', 'e']);
  });

  it('stand against a delete of rows when they added deletes that may concern them', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'row-delta', added: [dataFile('d', { content: 'position-deletes' })] });
    const delta = change({
      kind: 'row-delta',
      added: [dataFile('mine', { content: 'position-deletes' })],
      validation: { since: two.base.snapshotId, noNewDeletes: isOne },
    });
    await expect(commitSnapshot(two.slow, two.base, delta)).rejects.toThrow(
      'Found new conflicting delete files that can apply to records matching ref(name="id") == 1: [/wh/db/t/data/d.parquet]',
    );
  });

  it('stand against deletes of rows in files that are gone', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'overwrite', removed: [dataFile('a')], added: [a2] });
    const delta = change({
      kind: 'row-delta',
      added: [dataFile('mine', { content: 'position-deletes' })],
      validation: { since: two.base.snapshotId, requiredFiles: [dataFile('a').path] },
    });
    await expect(commitSnapshot(two.slow, two.base, delta)).rejects.toThrow('Cannot commit, missing data files: [/wh/db/t/data/a.parquet]');
  });

  it('stand against a second deletion vector of one file', async () => {
    const two = await race({ properties: { 'format-version': '3' } });
    const vector = (name: string, of: string): ReturnType<typeof dataFile> =>
      dataFile(name, {
        content: 'position-deletes',
        format: 'puffin',
        referencedDataFile: dataFile(of).path,
        contentOffset: 4,
        contentSizeBytes: 40,
      });
    await fastCommits(two, { kind: 'row-delta', added: [vector('v1', 'a')] });
    const delta = (of: string): SnapshotChange =>
      change({ kind: 'row-delta', added: [vector('v2', of)], validation: { since: two.base.snapshotId } });
    await expect(commitSnapshot(two.slow, two.base, delta('a'))).rejects.toThrow(
      'Found concurrently added DV for /wh/db/t/data/a.parquet: /wh/db/t/data/v1.parquet',
    );
    const state = await commitSnapshot(two.slow, two.base, delta('b'));
    expect(state.snapshot?.summary).toMatchObject({ 'added-dvs': '1', 'added-files-size': '40', 'total-delete-files': '2' });
  });

  it('stand against replaced partitions only within these', async () => {
    const two = await race({ partitioning: [] });
    const replace = change({
      kind: 'overwrite',
      added: [a2],
      replacedPartitions: [{ specId: 0, partition: [] }],
      validation: { since: two.base.snapshotId, noNewData: true },
    });
    await fastCommits(two, { added: [dataFile('new')] });
    await expect(commitSnapshot(two.slow, two.base, replace)).rejects.toThrow('records matching partitions [');
  });

  it('never stand against an append', async () => {
    const two = await race();
    await fastCommits(two, { kind: 'overwrite', removed: [dataFile('a'), dataFile('b')], added: [a2] });
    expect(await liveNames(two.slow, await commitSnapshot(two.slow, two.base, change({ added: [dataFile('c')] })))).toEqual(['a2', 'c']);
  });

  it('are told to be unknown when the starting snapshot is not in the history', async () => {
    const two = await race();
    const rewrite = change({ kind: 'overwrite', removed: [dataFile('a')], validation: { since: 42n, noNewData: true } });
    await expect(commitSnapshot(two.slow, two.base, rewrite)).rejects.toThrow('Cannot determine history between starting snapshot 42');
  });
});
