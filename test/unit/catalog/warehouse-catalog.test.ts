import { beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { WarehouseCatalog } from '../../../src/catalog/warehouse-catalog.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { StepClock } from '../../support/step-clock.ts';

const definition = {
  schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
  partitionColumns: [],
  properties: {},
} as const;
const create = { format: 'delta', definition, mode: 'create' } as const;

describe('WarehouseCatalog', () => {
  let catalog: WarehouseCatalog;
  let open: (location: string) => ObjectStore;

  beforeEach(() => {
    const clock = new StepClock();
    const stores = new Map<string, ObjectStore>();
    // Tables inside the warehouse lie in its store, as they do on disk.
    const warehouse = new MemoryObjectStore({ name: 'warehouse', clock });
    open = (location) => {
      const inside = /^memory:\/\/warehouse\/?(.*)$/.exec(location)?.[1];
      if (inside === '') return warehouse;
      const store =
        stores.get(location) ?? (inside === undefined ? new MemoryObjectStore({ name: location, clock }) : below(warehouse, inside));
      stores.set(location, store);
      return store;
    };
    const random = new SeededRandom(7);
    const rewriter = new ParquetFileRewriter({ openStore: open });
    const drivers = [new DeltaTables({ openStore: open, clock, random, ids: new RandomIdSource(random), version: 'test', rewriter })];
    catalog = new WarehouseCatalog({ name: 'c', directory: 'memory://warehouse', drivers, openStore: open });
  });

  it('makes, lists and drops databases', async () => {
    await catalog.createNamespace(['One']);
    expect(await catalog.namespaces()).toEqual([['default'], ['one']]);
    expect(await catalog.hasNamespace(['ONE'])).toBe(true);
    await expect(catalog.createNamespace(['one'])).rejects.toMatchObject({ errorClass: 'SCHEMA_ALREADY_EXISTS', sqlState: '42P06' });
    await catalog.dropNamespace(['one'], { cascade: false });
    expect(await catalog.hasNamespace(['one'])).toBe(false);
    await expect(catalog.dropNamespace(['one'], { cascade: false })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
  });

  it('replaces a table where it is, and refuses another place', async () => {
    const ident = { namespace: ['default'], name: 'orders' };
    const { table } = await catalog.create(ident, create);
    const replace = { ...create, mode: 'create-or-replace' } as const;
    await expect(catalog.create(ident, { ...replace, location: 'memory://elsewhere/orders' })).rejects.toMatchObject({
      errorClass: 'DELTA_TABLE_LOCATION_MISMATCH',
      sqlState: '42613',
      parameters: { existingTableLocation: table.location, tableLocation: 'memory://elsewhere/orders' },
    });
    const replaced = await catalog.create(ident, { ...replace, location: `${table.location}/` });
    expect(replaced).toMatchObject({ created: true, table: { location: table.location } });
  });

  it('finds names without regard to case, and one table for each', async () => {
    const ident = { namespace: ['default'], name: 'Orders' };
    const { table, created } = await catalog.create(ident, create);
    expect(created).toBe(true);
    expect(table.location).toBe('memory://warehouse/orders');
    expect((await catalog.load({ namespace: ['default'], name: 'ORDERS' }))?.location).toBe(table.location);
    await expect(catalog.create({ ...ident, name: 'orders' }, create)).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    expect((await catalog.create(ident, { ...create, mode: 'create-if-absent' })).created).toBe(false);
    expect(await catalog.tables(['default'])).toEqual([{ namespace: ['default'], name: 'orders' }]);
  });

  it('deletes the files of tables whose place it chose, and leaves others', async () => {
    await catalog.create({ namespace: ['default'], name: 'inside' }, create);
    await catalog.create({ namespace: ['default'], name: 'outside' }, { ...create, location: 'memory://elsewhere' });
    expect(await catalog.drop({ namespace: ['default'], name: 'inside' }, { purge: false })).toBe(true);
    expect(await catalog.drop({ namespace: ['default'], name: 'outside' }, { purge: false })).toBe(true);
    expect(await catalog.drop({ namespace: ['default'], name: 'outside' }, { purge: false })).toBe(false);
    expect(await catalog.tables(['default'])).toEqual([]);
    expect(await open('memory://warehouse').head('inside/_delta_log/00000000000000000000.json')).toBeUndefined();
    expect(await open('memory://elsewhere').head('_delta_log/00000000000000000000.json')).toBeDefined();
  });

  it('finds tables that other engines made by the same convention', async () => {
    const log =
      '{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n{"metaData":{"id":"5f4b5a0e-0c43-4d4e-8f6e-0a1b2c3d4e5f","format":{"provider":"parquet","options":{}},"schemaString":"{\\"type\\":\\"struct\\",\\"fields\\":[]}","partitionColumns":[],"configuration":{}}}\n';
    await open('memory://warehouse').put('db.db/theirs/_delta_log/00000000000000000000.json', new TextEncoder().encode(log));
    expect(await catalog.namespaces()).toEqual([['db'], ['default']]);
    expect(await catalog.tables(['db'])).toEqual([{ namespace: ['db'], name: 'theirs' }]);
    expect((await catalog.load({ namespace: ['db'], name: 'theirs' }))?.format).toBe('delta');
  });

  it.each(['..', 'a/b', '.hidden', '', 'x.db', 'a\\b'])('refuses %j as a name', async (name) => {
    await expect(catalog.create({ namespace: ['default'], name }, create)).rejects.toMatchObject({
      errorClass: 'INVALID_SCHEMA_OR_RELATION_NAME',
    });
  });

  it('refuses names in databases that are not there, and databases in databases', async () => {
    await expect(catalog.create({ namespace: ['absent'], name: 't' }, create)).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
    await expect(catalog.hasNamespace(['a', 'b'])).rejects.toMatchObject({ errorClass: 'REQUIRES_SINGLE_PART_NAMESPACE' });
    await expect(catalog.create({ namespace: ['default'], name: 't' }, { ...create, mode: 'replace' })).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    });
  });
});

/** A folder of a store as a store. */
function below(store: ObjectStore, folder: string): ObjectStore {
  const at = (path: string): string => `${folder}/${path}`;
  return {
    root: `${store.root}/${folder}`,
    read: (path, signal) => store.read(at(path), signal),
    readRange: (path, range, signal) => store.readRange(at(path), range, signal),
    head: async (path, signal) => {
      const info = await store.head(at(path), signal);
      return info === undefined ? undefined : { ...info, path };
    },
    list: async function* ({ prefix, startAfter }, signal) {
      const after = startAfter === undefined ? undefined : at(startAfter);
      for await (const info of store.list({ prefix: at(prefix), startAfter: after }, signal))
        yield { ...info, path: info.path.slice(folder.length + 1) };
    },
    put: (path, bytes, signal) => store.put(at(path), bytes, signal),
    putIfAbsent: (path, bytes, signal) => store.putIfAbsent(at(path), bytes, signal),
    delete: (path, signal) => store.delete(at(path), signal),
  };
}
