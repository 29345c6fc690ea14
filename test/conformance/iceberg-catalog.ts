import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { IcebergCatalog } from '../../src/catalog/iceberg-catalog.ts';
import type { StructType } from '../../src/schema/types.ts';
import type { QueryableTable } from '../../src/table/table.ts';
import type { CreateRequest } from '../../src/table/table-formats.ts';
import type { TableIdent } from '../../src/table/table-ident.ts';

export interface CatalogCase {
  /** The catalog as one process has it; again: as another has it. Properties are of the catalog, on top of what it needs. */
  readonly open: (properties?: Readonly<Record<string, string>>) => IcebergCatalog;
  /** A local directory that no table is in, for tables with a location of their own. */
  readonly elsewhere: string;
}

export interface CatalogTraits {
  /** Tables have the place their name says, and none other. */
  readonly placesByName: boolean;
  /** The namespace of a table must be there before it. */
  readonly needsNamespaces: boolean;
}

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'name', type: { kind: 'string' }, nullable: true },
  ],
};

/** What every Iceberg catalog promises. `fixture` gives an empty one. */
export function describeIcebergCatalog(name: string, traits: CatalogTraits, fixture: () => Promise<CatalogCase>): void {
  describe(`${name} as a catalog`, () => {
    it('keeps namespaces of several levels', async () => {
      const { open } = await fixture();
      const catalog = open();
      expect(await catalog.namespaces()).toEqual([]);
      await catalog.createNamespace(['a']);
      await catalog.createNamespace(['a', 'b']);
      await catalog.createNamespace(['z']);
      const other = open();
      expect(await other.namespaces()).toEqual([['a'], ['z']]);
      expect(await other.namespaces(undefined, ['a'])).toEqual([['a', 'b']]);
      expect(await other.hasNamespace(['a', 'b'])).toBe(true);
      expect(await other.hasNamespace(['b'])).toBe(false);
      expect(await other.tables(['a', 'b'])).toEqual([]);
      await expect(other.createNamespace(['a'])).rejects.toMatchObject({ errorClass: 'SCHEMA_ALREADY_EXISTS' });
      await expect(other.namespaces(undefined, ['nope'])).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
      await expect(other.tables(['nope'])).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
    });

    it('drops namespaces that are empty, and others only with what is in them', async () => {
      const { open } = await fixture();
      const catalog = open();
      for (const namespace of [['a'], ['a', 'b'], ['empty']]) await catalog.createNamespace(namespace);
      await make(catalog, ident(['a', 'b'], 't'));
      await catalog.dropNamespace(['empty'], { cascade: false });
      await expect(catalog.dropNamespace(['empty'], { cascade: false })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
      for (const namespace of [['a'], ['a', 'b']]) {
        await expect(catalog.dropNamespace(namespace, { cascade: false })).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_EMPTY' });
      }
      await catalog.dropNamespace(['a'], { cascade: true });
      expect(await open().namespaces()).toEqual([]);
      expect(await catalog.load(ident(['a', 'b'], 't'))).toBeUndefined();
    });

    it('makes a table that others find by its name, as it is written', async () => {
      const { open } = await fixture();
      const catalog = open();
      await catalog.createNamespace(['db']);
      const made = await make(catalog, ident(['db'], 'Orders'), { properties: { mine: 'yes' } });
      expect(made.name).toBe(`${catalog.name}.db.Orders`);
      const other = open();
      expect(await other.tables(['db'])).toEqual([ident(['db'], 'Orders')]);
      const found = await present(other, ident(['db'], 'Orders'));
      expect(found.location).toBe(made.location);
      const snapshot = await found.refresh();
      expect(snapshot.tableId).toBe((await made.refresh()).tableId);
      expect(snapshot.schema.fields.map((field) => field.name)).toEqual(['id', 'name']);
      expect(snapshot.properties['mine']).toBe('yes');
      expect(await other.load(ident(['db'], 'nope'))).toBeUndefined();
      expect(await other.load(ident(['nope'], 'Orders'))).toBeUndefined();
    });

    it('does as the mode says when there is a table, and when there is none', async () => {
      const { open } = await fixture();
      const catalog = open();
      await catalog.createNamespace(['db']);
      const t = ident(['db'], 't');
      await expect(request(catalog, t, { mode: 'replace' })).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
      expect(await request(catalog, t, { mode: 'create-if-absent' })).toMatchObject({ created: true });
      const first = await (await present(catalog, t)).refresh();
      await expect(request(open(), t, { mode: 'create' })).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
      expect(await request(open(), t, { mode: 'create-if-absent' })).toMatchObject({ created: false });
      const extended = { ...schema, fields: [...schema.fields, { name: 'more', type: { kind: 'date' }, nullable: true }] } as const;
      await request(open(), t, { mode: 'create-or-replace', schema: extended });
      const replaced = await (await present(catalog, t)).refresh();
      expect(replaced.tableId).toBe(first.tableId);
      expect(replaced.schema.fields.map((field) => field.name)).toEqual(['id', 'name', 'more']);
    });

    it('gives a name to one of four that want it', async () => {
      const { open } = await fixture();
      await open().createNamespace(['db']);
      const outcomes = await Promise.allSettled([open(), open(), open(), open()].map((catalog) => make(catalog, ident(['db'], 't'))));
      expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
      }
    });

    it('does not take a table that was dropped and made again for the one it was', async () => {
      const { open } = await fixture();
      const [catalog, other] = [open(), open()];
      await catalog.createNamespace(['db']);
      const t = ident(['db'], 't');
      await make(catalog, t);
      const first = (await (await present(catalog, t)).refresh()).tableId;
      expect(await other.drop(t, { purge: false })).toBe(true);
      expect(await catalog.load(t)).toBeUndefined();
      await make(other, t, { mode: 'create-or-replace' });
      expect((await (await present(catalog, t)).refresh()).tableId).not.toBe(first);
    });

    it('drops a table, and deletes its files when they are to be purged', async () => {
      const { open } = await fixture();
      const catalog = open();
      await catalog.createNamespace(['db']);
      const t = ident(['db'], 't');
      expect(await catalog.drop(t, { purge: true })).toBe(false);
      const made = await make(catalog, t);
      const metadata = await metadataFile(catalog, t);
      expect(existsSync(metadata)).toBe(true);
      expect(await open().drop(t, { purge: true })).toBe(true);
      expect(await catalog.tables(['db'])).toEqual([]);
      expect(existsSync(metadata)).toBe(false);
      expect(made.location).not.toBe('');
      expect(await catalog.drop(t, { purge: false })).toBe(false);
      await catalog.dropNamespace(['db'], { cascade: false });
    });

    it('does not purge a table whose files others may use', async () => {
      const { open } = await fixture();
      const catalog = open();
      await catalog.createNamespace(['db']);
      const t = ident(['db'], 't');
      await make(catalog, t, { properties: { 'gc.enabled': 'false' } });
      await expect(catalog.drop(t, { purge: true })).rejects.toMatchObject({ errorClass: 'ICEBERG_GC_DISABLED' });
      expect(await catalog.load(t)).toBeDefined();
    });

    it('puts properties of the catalog into tables that are made', async () => {
      const { open } = await fixture();
      const catalog = open({
        'table-default.a': 'default',
        'table-default.b': 'default',
        'table-override.c': 'override',
      });
      await catalog.createNamespace(['db']);
      const made = await make(catalog, ident(['db'], 't'), { properties: { b: 'mine', c: 'mine' } });
      expect((await made.refresh()).properties).toMatchObject({ a: 'default', b: 'mine', c: 'override' });
    });

    it('takes Iceberg tables only, and copies of none', async () => {
      const { open } = await fixture();
      const catalog = open();
      await catalog.createNamespace(['db']);
      const definition = { schema, partitionColumns: [], properties: {} };
      const t = ident(['db'], 't');
      await expect(catalog.create(t, { format: 'delta', mode: 'create', definition })).rejects.toMatchObject({
        errorClass: 'DATA_SOURCE_NOT_FOUND',
      });
      const source = await make(catalog, t);
      await expect(catalog.clone(ident(['db'], 'u'), { source, mode: 'create' })).rejects.toMatchObject({
        errorClass: 'UNSUPPORTED_FEATURE',
      });
    });

    if (traits.needsNamespaces) {
      it('makes no table in a namespace that is not there', async () => {
        const { open } = await fixture();
        await expect(make(open(), ident(['nope'], 't'))).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
      });
    } else {
      it('has the namespace of a table that was made without one', async () => {
        const { open } = await fixture();
        await make(open(), ident(['a', 'b'], 't'));
        expect(await open().namespaces()).toEqual([['a']]);
        expect(await open().tables(['a', 'b'])).toEqual([ident(['a', 'b'], 't')]);
      });
    }

    if (traits.placesByName) describePlaced(fixture);
    else describeNamed(fixture);
  });
}

/** Catalogs whose tables are directories with their names. */
function describePlaced(fixture: () => Promise<CatalogCase>): void {
  it('refuses what would part a table from its name', async () => {
    const { open, elsewhere } = await fixture();
    const catalog = open();
    const t = ident(['db'], 't');
    await make(catalog, t);
    await expect(make(catalog, ident(['db'], 'u'), { location: elsewhere })).rejects.toMatchObject({
      errorClass: 'UNSUPPORTED_FEATURE',
      message: expect.stringMatching(/^Cannot set a custom location for a path-based table/) as string,
    });
    await expect(catalog.rename(t, ident(['db'], 'u'))).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
  });

  it('begins a table with the metadata of another, which both keep for themselves from then on', async () => {
    const { open } = await fixture();
    const catalog = open();
    const [t, u] = [ident(['db'], 't'), ident(['db'], 'u')];
    const made = await make(catalog, t);
    const metadata = await metadataFile(catalog, t);
    const registered = await catalog.register(u, metadata);
    expect((await registered.refresh()).tableId).toBe((await made.refresh()).tableId);
    expect(await metadataFile(open(), u)).not.toBe(metadata);
    for (const name of [t, u])
      await expect(catalog.register(name, metadata)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await expect(catalog.register(ident(['db'], 'x'), `${metadata}.nope.metadata.json`)).rejects.toMatchObject({ kind: 'not-found' });
    const folder = metadata.slice(0, metadata.lastIndexOf('/'));
    await expect(catalog.register(ident(['db'], 'x'), folder)).rejects.toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
    expect(await catalog.load(ident(['db'], 'x'))).toBeUndefined();
    await catalog.drop(u, { purge: false });
    expect(await metadataFile(open(), t)).toBe(metadata);
  });
}

/** Catalogs whose tables have names beside their places. */
function describeNamed(fixture: () => Promise<CatalogCase>): void {
  it('makes a table at the location it is given', async () => {
    const { open, elsewhere } = await fixture();
    const catalog = open();
    await catalog.createNamespace(['db']);
    const made = await make(catalog, ident(['db'], 't'), { location: elsewhere });
    expect(made.location).toBe(elsewhere);
    expect((await present(open(), ident(['db'], 't'))).location).toBe(elsewhere);
  });

  it('gives a table another name and leaves its files where they are', async () => {
    const { open } = await fixture();
    const catalog = open();
    for (const namespace of [['db'], ['other']]) await catalog.createNamespace(namespace);
    const [t, u] = [ident(['db'], 't'), ident(['other'], 'u')];
    const made = await make(catalog, t);
    await catalog.rename(t, u);
    expect(await catalog.load(t)).toBeUndefined();
    expect((await present(open(), u)).location).toBe(made.location);
    await make(catalog, t);
    await expect(catalog.rename(t, u)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await expect(catalog.rename(ident(['db'], 'nope'), ident(['db'], 'x'))).rejects.toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    });
    await expect(catalog.rename(t, ident(['nope'], 'x'))).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
  });

  it('gives a name to a table whose metadata file is there', async () => {
    const { open } = await fixture();
    const catalog = open();
    await catalog.createNamespace(['db']);
    const t = ident(['db'], 't');
    const made = await make(catalog, t);
    const metadata = await metadataFile(catalog, t);
    await expect(catalog.register(t, metadata)).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await catalog.drop(t, { purge: false });
    const registered = await catalog.register(ident(['db'], 'again'), metadata);
    expect((await registered.refresh()).tableId).toBe((await made.refresh().catch(() => registered.refresh())).tableId);
    await expect(catalog.register(ident(['nope'], 'x'), metadata)).rejects.toMatchObject({ errorClass: 'SCHEMA_NOT_FOUND' });
    await expect(catalog.register(ident(['db'], 'x'), `${metadata}.nope.metadata.json`)).rejects.toMatchObject({
      kind: expect.stringMatching(/not-found|invalid/) as string,
    });
  });
}

function ident(namespace: readonly string[], name: string): TableIdent {
  return { namespace, name };
}

interface Wanted {
  readonly mode?: CreateRequest['mode'];
  readonly schema?: StructType;
  readonly properties?: Readonly<Record<string, string>>;
  readonly location?: string;
}

async function request(catalog: IcebergCatalog, table: TableIdent, wanted: Wanted): ReturnType<IcebergCatalog['create']> {
  const definition = { schema: wanted.schema ?? schema, partitionColumns: [], properties: wanted.properties ?? {} };
  return await catalog.create(table, { format: 'iceberg', mode: wanted.mode ?? 'create', definition, location: wanted.location });
}

async function make(catalog: IcebergCatalog, table: TableIdent, wanted: Wanted = {}): Promise<QueryableTable> {
  return (await request(catalog, table, wanted)).table;
}

async function present(catalog: IcebergCatalog, table: TableIdent): Promise<QueryableTable> {
  const found = await catalog.load(table);
  if (found === undefined) throw new Error(`there is no table ${table.name}`);
  return found;
}

/** Path of the newest metadata file. */
async function metadataFile(catalog: IcebergCatalog, table: TableIdent): Promise<string> {
  const found = await catalog.metadataLocationOf(table);
  if (found === undefined) throw new Error(`there is no table ${table.name}`);
  return found.startsWith('file:') ? fileURLToPath(found) : found;
}
