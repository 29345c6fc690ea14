import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import { deleteTableFiles, refuseForeignFiles } from '../../iceberg/pointer/delete-table-files.ts';
import type { TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound } from '../../table/table-names.ts';
import { invalidName } from '../catalog-errors.ts';
import type { IcebergNames } from '../iceberg-names.ts';
import { registeredMetadata } from '../registered-metadata.ts';
import type { SqlConnection } from './sql-connection.ts';
import type { SqlLayoutOptions } from './sql-layout.ts';
import { SqlTablePointer } from './sql-table-pointer.ts';
import { SqlTableRows } from './sql-table-rows.ts';
import { SqlViews } from './sql-views.ts';

export interface SqlNamesParts {
  /** Under which the catalog's rows are kept: what the programs that share it call it. */
  readonly catalog: string;
  readonly connection: SqlConnection;
  readonly layout: SqlLayoutOptions;
  /** Directory of tables whose location is not given. */
  readonly warehouse: string;
  /** Tables and namespaces need the namespace they are in. */
  readonly strict: boolean;
  readonly nameOf: (ident: TableIdent) => string;
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Directories that tables may have files in beside their own. */
  readonly allowedLocations?: readonly string[] | undefined;
  /** Directories that statements may move metadata to. Default: any. */
  readonly confinedTo?: readonly string[] | undefined;
}

const locationProperty = 'location';

/** The names of a catalog in a database, in the layout of Java's JdbcCatalog and pyiceberg's SqlCatalog. */
export class SqlNames implements IcebergNames {
  readonly #parts: SqlNamesParts;
  readonly #rows: SqlTableRows;
  readonly views: SqlViews;

  constructor(parts: SqlNamesParts) {
    this.#parts = parts;
    this.#rows = new SqlTableRows(parts.connection, parts.catalog, parts.layout);
    this.views = new SqlViews({
      ...parts,
      rows: new SqlTableRows(parts.connection, parts.catalog, parts.layout, 'VIEW'),
      hasNamespace: async (namespace, signal) => await this.hasNamespace(namespace, signal),
      homeOf: async (ident, signal) => {
        checkIdent(ident);
        return await this.#homeOf(ident, signal);
      },
    });
  }

  async namespaces(within: readonly string[], signal?: AbortSignal): Promise<readonly (readonly string[])[] | undefined> {
    if (within.length > 0 && !(await this.hasNamespace(within, signal))) return undefined;
    const all = await this.#rows.namespaces(signal);
    return all.filter((levels) => levels.length === within.length + 1 && within.every((level, depth) => levels[depth] === level));
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    checkNamespace(namespace);
    return await this.#rows.hasNamespace(namespace, signal);
  }

  async createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    if (await this.hasNamespace(namespace, signal)) return false;
    return await this.#rows.insertNamespace(namespace, signal);
  }

  async dropNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<'dropped' | 'absent' | 'not-empty'> {
    if (!(await this.hasNamespace(namespace, signal))) return 'absent';
    const below = await this.namespaces(namespace, signal);
    const views = (await this.views.views(namespace, signal)) ?? [];
    if ((await this.#rows.tables(namespace, signal)).length + views.length + (below ?? []).length > 0) return 'not-empty';
    await this.#rows.removeNamespace(namespace, signal);
    return 'dropped';
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    if (!(await this.hasNamespace(namespace, signal))) return undefined;
    return await this.#rows.tables(namespace, signal);
  }

  pointer(ident: TableIdent): TablePointer {
    const { nameOf, openStore, clock, ids, allowedLocations, confinedTo } = this.#parts;
    checkIdent(ident);
    const home = (signal?: AbortSignal): Promise<string> => this.#homeOf(ident, signal);
    return new SqlTablePointer({ name: nameOf(ident), ident, rows: this.#rows, openStore, clock, ids, home, allowedLocations, confinedTo });
  }

  async locationOf(ident: TableIdent, wanted: string | undefined, signal?: AbortSignal): Promise<string> {
    if (this.#parts.strict && !(await this.hasNamespace(ident.namespace, signal))) throw schemaNotFound(ident.namespace);
    return wanted ?? (await this.#homeOf(ident, signal));
  }

  async #homeOf(ident: TableIdent, signal: AbortSignal | undefined): Promise<string> {
    const given = await this.#rows.namespaceProperty(ident.namespace, locationProperty, signal);
    const directory = given ?? [this.#parts.warehouse, ...ident.namespace].join('/');
    return `${directory.replace(/\/+$/, '')}/${ident.name}`;
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange> {
    checkIdent(to);
    if (!(await this.hasNamespace(to.namespace, signal))) throw schemaNotFound(to.namespace);
    const renamed = await this.#rows.rename(from, to, signal);
    return renamed === 'renamed' ? 'done' : renamed;
  }

  async drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean> {
    const { nameOf, openStore, allowedLocations = [] } = this.#parts;
    const pointer = this.pointer(ident);
    const loaded = options.purge ? await pointer.load(undefined, signal) : undefined;
    if (loaded === undefined) return await this.#rows.remove(ident, signal);
    const table = { name: nameOf(ident), loaded, openStore, places: [...pointer.ownPlaces(loaded), ...allowedLocations] };
    await refuseForeignFiles(table, signal);
    const dropped = await this.#rows.remove(ident, signal);
    // After the name is gone the files are nobody's: they are deleted whatever the signal says.
    if (dropped) await deleteTableFiles(table);
    return dropped;
  }

  async register(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<NameChange> {
    checkIdent(ident);
    if (!(await this.hasNamespace(ident.namespace, signal))) throw schemaNotFound(ident.namespace);
    const { nameOf, openStore } = this.#parts;
    if ((await registeredMetadata(metadataLocation, { name: nameOf(ident), openStore }, signal)) === undefined) return 'absent';
    return (await this.#rows.insert(ident, metadataLocation, signal)) ? 'done' : 'exists';
  }

  async close(): Promise<void> {
    await this.#parts.connection.close();
  }
}

/** Levels are joined by dots: one that has a dot would be two. */
function checkNamespace(namespace: readonly string[]): void {
  const bad = namespace.length === 0 ? '' : namespace.find((level) => level === '' || level.includes('.'));
  if (bad !== undefined) throw invalidName(bad, 'levels of namespaces in SQL catalogs are not empty and have no dots');
}

function checkIdent(ident: TableIdent): void {
  checkNamespace(ident.namespace);
  if (ident.name === '') throw invalidName('', 'give the table a name');
}
