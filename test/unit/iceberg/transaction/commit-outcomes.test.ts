import { describe, expect, it } from 'vitest';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { FaultyPointer } from '../../../support/iceberg/faulty-pointer.ts';
import { change, created, dataFile, liveNames, memoryContext, memoryStore, pathsBelow } from '../../../support/iceberg/memory-table.ts';

describe('a commit that meets rivals or silence', () => {
  it('deletes the lists of lost attempts and writes manifests once', async () => {
    const store = memoryStore();
    const rival = memoryContext({ store, seed: 9 });
    let rounds = 2;
    const context = memoryContext({
      store,
      pointer: (own) =>
        new FaultyPointer(own, {
          before: async () => {
            if (rounds-- > 0) await commitSnapshot(rival, await rival.refresh(), change({ added: [dataFile(`rival${rounds}`)] }));
          },
        }),
    });
    const base = await created(memoryContext({ store }));
    const state = await commitSnapshot(context, base, change({ added: [dataFile('mine')] }));
    expect(await liveNames(context, state)).toEqual(['mine', 'rival0', 'rival1']);
    expect(state.snapshot?.sequenceNumber).toBe(3n);
    const paths = await pathsBelow(context);
    expect(paths.filter((path) => path.includes('snap-')).length).toBe(3);
    expect(paths.filter((path) => path.includes('-m')).length).toBe(3);
    expect(paths.find((path) => path.includes(`snap-${state.snapshotId ?? ''}-3-`))).toBeDefined();
  });

  it('gives up when others are first as often as the properties allow', async () => {
    const store = memoryStore();
    const rival = memoryContext({ store, seed: 9 });
    const context = memoryContext({
      store,
      pointer: (own) =>
        new FaultyPointer(own, {
          before: async () => {
            await commitSnapshot(
              rival,
              await rival.refresh(),
              change({ added: [dataFile(`rival${String(Math.trunc(rival.clock.now()))}`)] }),
            );
          },
        }),
    });
    const base = await created(memoryContext({ store }), { properties: { 'commit.retry.num-retries': '2' } });
    await expect(commitSnapshot(context, base, change({ added: [dataFile('mine')] }))).rejects.toMatchObject({
      name: 'CommitFailedException',
      kind: 'conflict',
    });
    expect((await liveNames(context, await context.refresh())).includes('mine')).toBe(false);
    expect((await pathsBelow(context)).filter((path) => path.includes('snap-')).length).toBe(3);
  });

  it('finds a commit that was refused because it was there already, even with no attempt left', async () => {
    for (const retries of ['0', '4']) {
      const store = memoryStore();
      const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { refuseWhatIsDone: 1 }) });
      const base = await created(memoryContext({ store }), { properties: { 'commit.retry.num-retries': retries } });
      const state = await commitSnapshot(context, base, change({ added: [dataFile('a')] }));
      expect(await liveNames(context, state)).toEqual(['a']);
      expect(state.snapshot?.sequenceNumber).toBe(1n);
    }
  });

  it('finds a commit whose answer was lost', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { loseAnswers: 1 }) });
    const base = await created(memoryContext({ store }));
    const state = await commitSnapshot(context, base, change({ added: [dataFile('a')] }));
    expect(await liveNames(context, state)).toEqual(['a']);
    expect(state.metadata.snapshots.length).toBe(1);
  });

  it('deletes nothing when it is not known whether the commit landed', async () => {
    const store = memoryStore();
    const context = memoryContext({ store, pointer: (own) => new FaultyPointer(own, { loseRequests: 1 }) });
    const base = await created(memoryContext({ store }));
    const lost = commitSnapshot(context, base, change({ added: [dataFile('a')] }));
    await expect(lost).rejects.toMatchObject({ name: 'CommitStateUnknownException', kind: 'unknown-outcome' });
    expect((await pathsBelow(context)).filter((path) => path.endsWith('.avro')).length).toBe(2);
  });

  it('tries again after a lost request once somebody else took the place', async () => {
    const store = memoryStore();
    const rival = memoryContext({ store, seed: 9 });
    const context = memoryContext({
      store,
      pointer: (own) =>
        new FaultyPointer(own, {
          loseRequests: 1,
          afterLoss: async () => {
            await commitSnapshot(rival, await rival.refresh(), change({ added: [dataFile('rival')] }));
          },
        }),
    });
    const base = await created(memoryContext({ store }));
    const state = await commitSnapshot(context, base, change({ added: [dataFile('mine')] }));
    expect(await liveNames(context, state)).toEqual(['mine', 'rival']);
  });

  it('loses no commit of sixteen writers that race', async () => {
    const store = memoryStore();
    await created(memoryContext({ store }), { properties: { 'commit.retry.num-retries': '100' } });
    const writers = Array.from({ length: 16 }, (_, index) => index);
    await Promise.all(
      writers.map(async (writer) => {
        const context = memoryContext({ store, seed: 100 + writer });
        for (const round of [0, 1]) {
          await commitSnapshot(context, await context.refresh(), change({ added: [dataFile(`w${writer}-${round}`)] }));
        }
      }),
    );
    const context = memoryContext({ store });
    const state = await context.refresh();
    expect((await liveNames(context, state)).length).toBe(32);
    expect(state.snapshot?.sequenceNumber).toBe(32n);
    expect(state.snapshot?.summary['total-records']).toBe('320');
    expect(new Set(state.metadata.snapshots.map(({ snapshotId }) => snapshotId)).size).toBe(32);
    expect((await pathsBelow(context)).filter((path) => path.includes('snap-')).length).toBe(32);
  });

  it('stores the mark of a write that must happen once, and refuses a second run', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const base = await created(context);
    const idempotency = { appId: 'job', version: 3n };
    const state = await commitSnapshot(context, base, change({ added: [dataFile('a')] }), { idempotency });
    expect(state.progressOf('job')).toBe(3n);
    const twin = commitSnapshot(memoryContext({ store, seed: 5 }), base, change({ added: [dataFile('a2')] }), { idempotency });
    await expect(twin).rejects.toMatchObject({ kind: 'conflict' });
  });
});
