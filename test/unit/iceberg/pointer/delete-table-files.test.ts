import { describe, expect, it } from 'vitest';
import { deleteTableFiles, refuseForeignFiles } from '../../../../src/iceberg/pointer/delete-table-files.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import {
  change,
  created,
  dataFile,
  memoryContext,
  memoryLocation,
  memoryStore,
  pathsBelow,
} from '../../../support/iceberg/memory-table.ts';
import { loaded } from '../../../support/iceberg-changes.ts';

const bytes = new Uint8Array([1]);

describe('deleteTableFiles', () => {
  it('deletes what any snapshot refers to, and leaves what nothing refers to', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    let state = await created(context);
    for (const added of [[dataFile('a'), dataFile('b')], [dataFile('c')]]) state = await commitSnapshot(context, state, change({ added }));
    state = await commitSnapshot(context, state, change({ kind: 'overwrite', removed: [dataFile('a')] }));
    for (const name of ['a', 'b', 'c', 'unknown']) await store.put(`data/${name}.parquet`, bytes);

    const table = { name: 'db.t', loaded: await loaded(context.pointer), openStore: () => store, places: [memoryLocation] };
    await refuseForeignFiles(table);
    await deleteTableFiles(table);
    const left = await pathsBelow(context);
    expect(left.filter((path) => !path.startsWith('metadata/'))).toEqual(['data/unknown.parquet']);
    // The hint names a version that is gone: there is no table.
    expect(left.filter((path) => path.startsWith('metadata/'))).toEqual(['metadata/version-hint.text']);
    expect(await memoryContext({ store }).pointer.load(undefined)).toBeUndefined();
  });

  it('is refused before anything is deleted when files lie elsewhere, which are listed', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    const added = [dataFile('a'), dataFile('b', { path: '/elsewhere/b.parquet' }), dataFile('c', { path: '/elsewhere/c.parquet' })];
    await commitSnapshot(context, await created(context), change({ added }));
    const table = { name: 'db.t', loaded: await loaded(context.pointer), openStore: () => store, places: [memoryLocation] };
    await expect(refuseForeignFiles(table)).rejects.toMatchObject({
      code: 'FILE_OUTSIDE_TABLE',
      message: expect.stringContaining('"/elsewhere/b.parquet", "/elsewhere/c.parquet"') as string,
      hint: expect.stringContaining('tidewater.iceberg.allowedLocations') as string,
    });
    await refuseForeignFiles({ ...table, places: [memoryLocation, '/elsewhere'] });
  });

  it('can be begun again after it was interrupted', async () => {
    const store = memoryStore();
    const context = memoryContext({ store });
    await commitSnapshot(context, await created(context), change({ added: [dataFile('a')] }));
    await store.put('data/a.parquet', bytes);
    const table = { name: 'db.t', loaded: await loaded(context.pointer), places: [memoryLocation] };
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
