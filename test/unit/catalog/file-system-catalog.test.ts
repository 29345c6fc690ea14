import { beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type CatalogEntry, FileSystemCatalog } from '../../../src/catalog/file-system-catalog.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { StepClock } from '../../support/step-clock.ts';

const definition = {
  schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
  partitionColumns: [],
  properties: { 'delta.enableChangeDataFeed': 'true' },
} as const;
const orders: CatalogEntry = { name: 'orders', format: 'delta', location: 'memory://orders', definition };
const archive: CatalogEntry = { name: 'archive', format: 'delta', location: 'memory://archive' };

describe('FileSystemCatalog', () => {
  let stores: Map<string, ObjectStore>;
  let seed = 0;

  const catalogOf = (entries: readonly CatalogEntry[], { both = false } = {}): FileSystemCatalog => {
    const clock = new StepClock();
    const openStore = (location: string): ObjectStore => {
      const store = stores.get(location) ?? new MemoryObjectStore({ name: location, clock });
      stores.set(location, store);
      return store;
    };
    const random = new SeededRandom(seed++);
    const ids = new RandomIdSource(random);
    const delta = new DeltaTables({ openStore, clock, random, ids, version: '0', rewriter: new ParquetFileRewriter({ openStore }) });
    const engine = (): never => {
      throw new Error('not needed');
    };
    const iceberg = new IcebergTables({ openStore, clock, random, ids, version: '0', engine, confinedTo: [] });
    return new FileSystemCatalog(entries, both ? { delta, iceberg } : { delta });
  };

  beforeEach(() => {
    stores = new Map();
  });

  it('lists its names in the order of the configuration', () => {
    expect(catalogOf([orders, archive]).names).toEqual(['orders', 'archive']);
  });

  it('creates a table that does not exist yet from its definition, once', async () => {
    const created = await catalogOf([orders]).loadOrCreate('orders');
    const snapshot = await created.refresh();
    expect(snapshot).toMatchObject({ version: 0, schema: definition.schema, properties: definition.properties });
    const loaded = await catalogOf([orders]).loadOrCreate('orders');
    expect((await loaded.refresh()).tableId).toBe(snapshot.tableId);
    expect((await catalogOf([orders]).load('orders')).location).toBe('memory://orders');
  });

  it.each([
    ['delta', 'iceberg'],
    ['iceberg', 'delta'],
  ] as const)('makes no table of format %s where one of format %s is', async (format, present) => {
    const plain = { ...definition, properties: {} };
    await catalogOf([{ ...orders, format: present, definition: plain }], { both: true }).loadOrCreate('orders');
    await expect(catalogOf([{ ...orders, format, definition: plain }], { both: true }).loadOrCreate('orders')).rejects.toMatchObject({
      code: 'TABLE_FORMAT_DIFFERS',
      kind: 'invalid',
      message: `table "orders": at memory://orders is a table of format ${present}, not ${format}`,
    });
  });

  it('shares one table among all who ask for it', async () => {
    const catalog = catalogOf([orders]);
    const first = await catalog.loadOrCreate('orders');
    expect(await catalog.load('orders')).toBe(first);
    expect(await catalog.loadOrCreate('orders')).toBe(first);
  });

  it('gives racing creators one and the same table', async () => {
    const catalog = catalogOf([orders]);
    const tables = await Promise.all([
      catalog.loadOrCreate('orders'),
      catalog.loadOrCreate('orders'),
      catalogOf([orders]).loadOrCreate('orders'),
    ]);
    expect(tables[0]).toBe(tables[1]);
    expect(new Set(await Promise.all(tables.map(async (table) => (await table.refresh()).tableId))).size).toBe(1);
  });

  it('does not create on load, nor without a definition', async () => {
    const catalog = catalogOf([orders, archive]);
    await expect(catalog.load('orders')).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND', kind: 'not-found' });
    await expect(catalog.loadOrCreate('archive')).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' });
    await expect(catalog.load('order')).rejects.toThrow('table "order" is not in the catalog, which has "orders", "archive"');
  });

  it('finds a table that appeared after it was missed', async () => {
    const catalog = catalogOf([orders]);
    await expect(catalog.load('orders')).rejects.toMatchObject({ code: 'TABLE_NOT_FOUND' });
    await catalogOf([orders]).loadOrCreate('orders');
    expect((await catalog.load('orders')).name).toBe('orders');
  });

  it('refuses a format it cannot open, naming table and format', async () => {
    const catalog = catalogOf([{ ...orders, format: 'iceberg' }]);
    await expect(catalog.loadOrCreate('orders')).rejects.toMatchObject({ code: 'FORMAT_UNSUPPORTED', kind: 'unsupported' });
    await expect(catalog.load('orders')).rejects.toThrow('table "orders" has format "iceberg"');
  });

  it('refuses two entries with one name or one location', () => {
    expect(() => catalogOf([orders, { ...orders, location: 'memory://other' }])).toThrow('table "orders" is listed twice');
    expect(() => catalogOf([orders, { ...archive, location: orders.location }])).toThrow(
      'tables "orders" and "archive" share the location',
    );
  });
});
