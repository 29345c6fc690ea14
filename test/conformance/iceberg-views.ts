import { describe, expect, it } from 'vitest';
import type { IcebergCatalog } from '../../src/catalog/iceberg-catalog.ts';
import type { CatalogViews, ViewDefinition } from '../../src/table/catalog-views.ts';
import type { TableIdent } from '../../src/table/table-ident.ts';

export interface ViewsCase {
  /** The catalog as one process has it; again: as another has it. Empty. */
  readonly open: () => IcebergCatalog;
}

/** A view of one column. */
export function viewOf(query: string, more: Partial<ViewDefinition> = {}): ViewDefinition {
  return {
    query,
    schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
    queryColumns: ['id'],
    catalog: 'lake',
    namespace: ['db'],
    properties: {},
    engine: { name: 'tidewater', version: '0' },
    ...more,
  };
}

/** What every Iceberg catalog that keeps views promises of them. */
export function describeIcebergViews(name: string, fixture: () => Promise<ViewsCase>): void {
  const start = async (): Promise<{ readonly catalog: IcebergCatalog; readonly views: CatalogViews; readonly other: CatalogViews }> => {
    const { open } = await fixture();
    const catalog = open();
    await catalog.createNamespace(['db']);
    return { catalog, views: viewsOf(catalog), other: viewsOf(open()) };
  };

  describe(`${name} as a catalog of views`, () => {
    it('makes, lists, shows and drops them', async () => {
      const { views, other } = await start();
      expect(await views.load(v)).toBeUndefined();
      expect(await views.list(['db'])).toEqual([]);
      await views.create(v, viewOf('SELECT 1L AS id', { properties: { comment: 'one', a: 'b' } }), 'create');
      expect(await other.list(['db'])).toEqual([v]);
      const view = await other.load(v);
      expect(view).toMatchObject({
        parts: ['lake', 'db', 'v'],
        query: 'SELECT 1L AS id',
        catalog: 'lake',
        namespace: ['db'],
        queryColumns: ['id'],
        comment: 'one',
        createdBy: 'tidewater 0',
        properties: { a: 'b', provider: 'iceberg', 'format-version': '1' },
      });
      expect(view?.schema.fields).toMatchObject([{ name: 'id', type: { kind: 'long' }, nullable: true }]);
      expect(await other.drop(v)).toBe(true);
      expect(await views.load(v)).toBeUndefined();
      expect(await views.drop(v)).toBe(false);
      await expect(views.list(['nowhere'])).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
    });

    it('replaces them, and keeps those that are there when told so', async () => {
      const { views, other } = await start();
      await expect(views.create(v, viewOf('SELECT 1L AS id'), 'replace')).rejects.toMatchObject({ errorClass: 'VIEW_NOT_FOUND' });
      await views.create(v, viewOf('SELECT 1L AS id', { properties: { a: 'b' } }), 'create-or-replace');
      await expect(other.create(v, viewOf('SELECT 2L AS id'), 'create')).rejects.toMatchObject({ errorClass: 'VIEW_ALREADY_EXISTS' });
      await other.create(v, viewOf('SELECT 2L AS id'), 'create-if-absent');
      expect((await views.load(v))?.query).toBe('SELECT 1L AS id');
      const wider = { kind: 'struct', fields: [{ name: 'name', type: { kind: 'string' }, nullable: false }] } as const;
      await other.create(v, viewOf("SELECT 'x' AS name", { schema: wider, queryColumns: ['name'] }), 'create-or-replace');
      const replaced = await views.load(v);
      expect(replaced).toMatchObject({ query: "SELECT 'x' AS name", queryColumns: ['name'], properties: { a: 'b' } });
      expect(replaced?.schema.fields).toMatchObject([{ name: 'name', type: { kind: 'string' }, nullable: false }]);
      // A text and a schema that the view has had are found again.
      await views.create(v, viewOf('SELECT 1L AS id'), 'replace');
      await views.create(v, viewOf('SELECT 1L AS id', { catalog: 'elsewhere', namespace: ['a', 'b'] }), 'replace');
      expect(await other.load(v)).toMatchObject({ query: 'SELECT 1L AS id', catalog: 'elsewhere', namespace: ['a', 'b'] });
    });

    it('sets and unsets their properties', async () => {
      const { views, other } = await start();
      await views.create(v, viewOf('SELECT 1L AS id'), 'create');
      await views.setProperties(v, { a: '1', b: '2', comment: 'said' });
      await other.unsetProperties(v, ['a'], { ifExists: false });
      const view = await views.load(v);
      expect(view?.comment).toBe('said');
      expect(view?.properties).toMatchObject({ b: '2' });
      expect(view?.properties).not.toHaveProperty('a');
      await expect(other.unsetProperties(v, ['a'], { ifExists: false })).rejects.toMatchObject({
        errorClass: 'UNSET_NONEXISTENT_PROPERTIES',
      });
      await other.unsetProperties(v, ['a'], { ifExists: true });
      await expect(views.setProperties(w, { a: '1' })).rejects.toMatchObject({ errorClass: 'VIEW_NOT_FOUND' });
    });

    it('gives them other names', async () => {
      const { catalog, views, other } = await start();
      await catalog.createNamespace(['second']);
      await views.create(v, viewOf('SELECT 1L AS id'), 'create');
      await views.create(w, viewOf('SELECT 2L AS id'), 'create');
      await expect(views.rename(v, w)).rejects.toMatchObject({ errorClass: 'VIEW_ALREADY_EXISTS' });
      await expect(views.rename(v, { namespace: ['nowhere'], name: 'v' })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
      const moved = { namespace: ['second'], name: 'moved' };
      await views.rename(v, moved);
      expect(await other.load(v)).toBeUndefined();
      expect((await other.load(moved))?.query).toBe('SELECT 1L AS id');
      await expect(views.rename(v, w)).rejects.toMatchObject({ errorClass: 'VIEW_NOT_FOUND' });
      await other.create(moved, viewOf('SELECT 3L AS id'), 'replace');
      expect((await views.load(moved))?.query).toBe('SELECT 3L AS id');
    });

    it('tells them from tables', async () => {
      const { catalog, views } = await start();
      const definition = { schema: viewOf('').schema, partitionColumns: [], properties: {} } as const;
      await catalog.create(w, { format: 'iceberg', mode: 'create', definition });
      await views.create(v, viewOf('SELECT 1L AS id'), 'create');
      expect(await catalog.tables(['db'])).toEqual([w]);
      expect(await views.list(['db'])).toEqual([v]);
      expect(await views.load(w)).toBeUndefined();
      expect(await catalog.load(v)).toBeUndefined();
      for (const mode of ['create', 'create-or-replace'] as const) {
        await expect(views.create(w, viewOf('SELECT 1L AS id'), mode)).rejects.toMatchObject({
          errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
        });
        await expect(catalog.create(v, { format: 'iceberg', mode, definition })).rejects.toMatchObject({
          errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
        });
      }
      await expect(views.rename(v, w)).rejects.toMatchObject({ errorClass: 'VIEW_ALREADY_EXISTS' });
      await expect(catalog.rename(w, v)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
      expect(await views.drop(w)).toBe(false);
      expect(await catalog.drop(v, { purge: false })).toBe(false);
      await expect(catalog.dropNamespace(['db'], { cascade: false })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_EMPTY' });
      await catalog.drop(w, { purge: false });
      await expect(catalog.dropNamespace(['db'], { cascade: false })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_EMPTY' });
      await catalog.dropNamespace(['db'], { cascade: true });
    });

    it('loses no change of several that are made at once', async () => {
      const { views, other } = await start();
      const made = await Promise.allSettled(
        [views, other, views].map((each, index) => each.create(v, viewOf(`SELECT ${index}L AS id`), 'create')),
      );
      expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(1);
      await Promise.all([views.setProperties(v, { a: '1' }), other.setProperties(v, { b: '2' }), views.setProperties(v, { c: '3' })]);
      expect((await views.load(v))?.properties).toMatchObject({ a: '1', b: '2', c: '3' });
    });
  });
}

const v: TableIdent = { namespace: ['db'], name: 'v' };
const w: TableIdent = { namespace: ['db'], name: 'w' };

export function viewsOf(catalog: IcebergCatalog): CatalogViews {
  if (catalog.views === undefined) throw new Error('the catalog keeps no views');
  return catalog.views;
}
