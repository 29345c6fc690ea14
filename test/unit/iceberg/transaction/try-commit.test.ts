import { describe, expect, it } from 'vitest';
import { requirementsFor } from '../../../../src/iceberg/metadata/requirements.ts';
import type { MetadataChange } from '../../../../src/iceberg/pointer/table-pointer.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import { commitSnapshot, tryCommitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { commitUpdates } from '../../../../src/iceberg/transaction/commit-updates.ts';
import { findCommit } from '../../../../src/iceberg/transaction/find-commit.ts';
import { toCommitId } from '../../../../src/table/commit.ts';
import { FaultyPointer } from '../../../support/iceberg/faulty-pointer.ts';
import { change, created, dataFile, liveNames, memoryContext, memoryStore, pathsBelow } from '../../../support/iceberg/memory-table.ts';

const commitId = toCommitId('11111111-2222-4333-8444-555555555555');

describe('tryCommitSnapshot', () => {
  it('commits once and is found by its id', async () => {
    const context = memoryContext();
    const base = await created(context);
    expect(await findCommit(context, commitId)).toBeUndefined();
    const tried = await tryCommitSnapshot(context, base, change({ added: [dataFile('a')] }), { commitId });
    expect(tried.kind).toBe('committed');
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('b')] }));
    const found = await findCommit(context, commitId);
    expect(found?.version).toBe(1);
    expect(found?.snapshot?.summary['tidewater.commit-id']).toBe(commitId);
  });

  it('says that somebody else was first, and leaves nothing behind', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const rival = memoryContext({ store, seed: 2 });
    const base = await created(context);
    await commitSnapshot(rival, await rival.refresh(), change({ added: [dataFile('rival')] }));
    const before = await pathsBelow(context);
    const tried = await tryCommitSnapshot(context, base, change({ added: [dataFile('a')] }), { commitId });
    expect(tried.kind).toBe('conflicted');
    expect(tried.kind === 'conflicted' && tried.state.version).toBe(1);
    expect(await pathsBelow(context)).toEqual(before);
  });

  it('says that it committed when it was refused because it was there already', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { refuseWhatIsDone: 1 }) });
    const base = await created(memoryContext({ store }));
    const tried = await tryCommitSnapshot(context, base, change({ added: [dataFile('a')] }), { commitId });
    expect(tried.kind === 'committed' && (await liveNames(context, tried.state))).toEqual(['a']);
  });

  it('says that it does not know, and what landed is found', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { loseAnswers: 1 }) });
    const base = await created(memoryContext({ store }));
    const tried = await tryCommitSnapshot(context, base, change({ added: [dataFile('a')] }), { commitId });
    expect(tried.kind).toBe('unknown');
    const found = await findCommit(context, commitId);
    expect(found && (await liveNames(context, found))).toEqual(['a']);
  });
});

function setProperty(key: string, value: string): (state: SnapshotState) => MetadataChange {
  return ({ metadata }) => {
    const updates = [{ action: 'set-properties', updates: { [key]: value } } as const];
    return { requirements: requirementsFor(metadata, updates), updates };
  };
}

describe('commitUpdates', () => {
  it('makes the change again on newer metadata', async () => {
    const store = memoryStore();
    const rival = memoryContext({ store, seed: 2 });
    let once = true;
    const before = async (): Promise<void> => {
      if (once) await commitUpdates(rival, setProperty('theirs', '1'));
      once = false;
    };
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { before }) });
    await created(memoryContext({ store }));
    const seen: number[] = [];
    const state = await commitUpdates(context, (base) => {
      seen.push(Object.keys(base.properties).length);
      return setProperty('mine', '2')(base);
    });
    expect(state?.properties).toMatchObject({ theirs: '1', mine: '2' });
    expect(seen).toEqual([1, 2]);
  });

  it('knows its change again when the answer was lost', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { loseAnswers: 1 }) });
    await created(memoryContext({ store }));
    const state = await commitUpdates(context, setProperty('mine', '2'));
    expect(state?.properties).toMatchObject({ mine: '2' });
    expect(state?.metadata.metadataLog.length).toBe(1);
  });

  it('says that it does not know when the request was lost', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { loseRequests: 1 }) });
    await created(memoryContext({ store }));
    await expect(commitUpdates(context, setProperty('mine', '2'))).rejects.toMatchObject({ kind: 'unknown-outcome' });
  });

  it('commits nothing when there is nothing to change', async () => {
    const context = memoryContext();
    const { metadata } = await created(context);
    expect(await commitUpdates(context, () => undefined)).toBeUndefined();
    expect((await context.refresh()).metadata.lastUpdatedMs).toBe(metadata.lastUpdatedMs);
  });
});
