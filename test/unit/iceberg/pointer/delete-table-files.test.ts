import { describe, expect, it } from 'vitest';
import { deleteTableFiles } from '../../../../src/iceberg/pointer/delete-table-files.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import { change, created, dataFile, memoryContext, memoryStore, pathsBelow } from '../../../support/iceberg/memory-table.ts';
import { loaded } from '../../../support/iceberg-changes.ts';

const bytes = new Uint8Array([1]);

describe('deleteTableFiles', () => {
  it('deletes what any snapshot refers to, and leaves what nothing refers to and what lies elsewhere', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const outside = dataFile('outside', { path: '/elsewhere/added.parquet' });
    let view = await created(context);
    for (const added of [
      [dataFile('a'), dataFile('b')],
      [dataFile('c'), outside],
    ])
      view = await commitSnapshot(context, view, change({ added }));
    view = await commitSnapshot(context, view, change({ kind: 'overwrite', removed: [dataFile('a')] }));
    for (const name of ['a', 'b', 'c', 'unknown']) await store.put(`data/${name}.parquet`, bytes);
    await store.put('added.parquet', bytes);

    const table = { name: 'db.t', loaded: await loaded(context.pointer), openStore: () => store };
    await deleteTableFiles(table);
    const left = await pathsBelow(context);
    expect(left.filter((path) => !path.startsWith('metadata/'))).toEqual(['added.parquet', 'data/unknown.parquet']);
    // The hint names a version that is gone: there is no table.
    expect(left.filter((path) => path.startsWith('metadata/'))).toEqual(['metadata/version-hint.text']);
    expect(await memoryContext({ store }).pointer.load(undefined)).toBeUndefined();
  });

  it('can be begun again after it was interrupted', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    await store.put('data/a.parquet', bytes);
    const table = { name: 'db.t', loaded: await loaded(context.pointer) };
    const failing = {
      ...{ root: store.root, read: store.read.bind(store), readRange: store.readRange.bind(store), head: store.head.bind(store) },
      ...{ list: store.list.bind(store), put: store.put.bind(store), putIfAbsent: store.putIfAbsent.bind(store) },
      delete: async (path: string) => {
        if (path.endsWith('.metadata.json')) throw new Error('stopped here');
        await store.delete(path);
      },
    };
    await expect(deleteTableFiles({ ...table, openStore: () => failing })).rejects.toThrow('stopped here');
    await deleteTableFiles({ ...table, openStore: () => store });
    expect(await pathsBelow(context)).toEqual(['metadata/version-hint.text']);
  });
});
