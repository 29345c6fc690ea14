import { AnalysisException } from '../base/analysis-exception.ts';
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { unsupported } from '../base/unsupported-feature.ts';
import type { TablePointer } from '../iceberg/pointer/table-pointer.ts';
import type { CatalogViews } from '../table/catalog-views.ts';
import { refreshUnlessGone } from '../table/refresh-unless-gone.ts';
import type { QueryableTable } from '../table/table.ts';
import type { CatalogCreateRequest, CloneRequest, CreateRequest, CreateResult, SessionCatalog } from '../table/table-formats.ts';
import { partsOf, type TableIdent } from '../table/table-ident.ts';
import { quotedName, schemaNotFound, tableExists, tableNotFound } from '../table/table-names.ts';
import { cannotHold, schemaExists, schemaNotEmpty } from './catalog-errors.ts';
import type { IcebergNames } from './iceberg-names.ts';
import { IcebergViews } from './iceberg-views.ts';

/** Tables that are opened before the ones used longest ago are forgotten. */
const maxOpenTables = 1000;
/** Levels of namespaces that a cascade goes down. */
const maxDepth = 32;

/** A table, and which one it was when it was opened. */
export interface OpenedTable {
  readonly table: QueryableTable;
  readonly tableId: string;
}

/** Makes tables of pointers. */
export interface PointerTables {
  /** `undefined`: the pointer points at nothing. */
  openPointer(pointer: TablePointer, signal?: AbortSignal): Promise<OpenedTable | undefined>;
  createAt(pointer: TablePointer, request: CreateRequest): Promise<CreateResult>;
}

export interface IcebergCatalogParts {
  readonly name: string;
  readonly names: IcebergNames;
  readonly tables: PointerTables;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Properties of tables that are made, unless they have their own. */
  readonly tableDefaults: Readonly<Record<string, string>>;
  /** Properties of tables that are made, whatever they have. */
  readonly tableOverrides: Readonly<Record<string, string>>;
}

/** A catalog of Iceberg tables. Names are found as they are written. */
export class IcebergCatalog implements SessionCatalog {
  readonly name: string;
  readonly defaultFormat = 'iceberg';
  readonly views: CatalogViews | undefined;
  readonly #parts: IcebergCatalogParts;
  readonly #open = new Map<string, OpenedTable>();

  constructor(parts: IcebergCatalogParts) {
    this.name = parts.name;
    this.#parts = parts;
    const { views } = parts.names;
    const hasTable = async (ident: TableIdent, signal?: AbortSignal): Promise<boolean> => (await this.load(ident, signal)) !== undefined;
    const { name: catalog, clock, ids } = parts;
    this.views = views === undefined ? undefined : new IcebergViews({ catalog, names: views, hasTable, clock, ids });
  }

  async namespaces(signal?: AbortSignal, within: readonly string[] = []): Promise<readonly (readonly string[])[]> {
    const found = await this.#parts.names.namespaces(within, signal);
    if (found === undefined) throw schemaNotFound(within);
    return found.toSorted((left, right) => (left.join('.') < right.join('.') ? -1 : 1));
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    return await this.#parts.names.hasNamespace(namespace, signal);
  }

  async createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<void> {
    if (!(await this.#parts.names.createNamespace(namespace, signal))) throw schemaExists(namespace);
  }

  async dropNamespace(namespace: readonly string[], options: { readonly cascade: boolean }, signal?: AbortSignal): Promise<void> {
    if (options.cascade) await this.#empty(namespace, maxDepth, signal);
    const outcome = await this.#parts.names.dropNamespace(namespace, signal);
    if (outcome === 'absent') throw schemaNotFound(namespace);
    if (outcome === 'not-empty') throw schemaNotEmpty(namespace);
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly TableIdent[]> {
    const found = await this.#parts.names.tables(namespace, signal);
    if (found === undefined) throw schemaNotFound(namespace);
    return found.toSorted().map((name) => ({ namespace, name }));
  }

  async load(ident: TableIdent, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const key = keyOf(ident);
    const known = this.#open.get(key);
    if (known !== undefined && (await isSameTable(known, signal))) {
      this.#remember(ident, known);
      return known.table;
    }
    this.#open.delete(key);
    const opened = await this.#parts.tables.openPointer(this.#parts.names.pointer(ident), signal);
    if (opened !== undefined) this.#remember(ident, opened);
    return opened?.table;
  }

  async create(ident: TableIdent, request: CatalogCreateRequest): Promise<CreateResult> {
    const { format, location: wanted, definition, ...rest } = request;
    if (format !== 'iceberg') throw cannotHold(this.name, format, 'write USING iceberg, or create the table in another catalog');
    const { signal, mode } = rest;
    const existing = await this.load(ident, signal);
    if (existing === undefined && (await this.#parts.names.views?.load(ident, signal)) !== undefined) throw tableExists(partsOf(ident));
    if (existing !== undefined && mode === 'create') throw tableExists(partsOf(ident));
    if (existing === undefined && mode === 'replace') {
      throw tableNotFound(partsOf(ident), 'use CREATE OR REPLACE TABLE to create it when it is absent');
    }
    if (existing !== undefined && mode === 'create-if-absent') return { table: existing, created: false, written: undefined };
    const { names, tables, tableDefaults, tableOverrides } = this.#parts;
    const location = existing === undefined || wanted !== undefined ? await names.locationOf(ident, wanted, signal) : existing.location;
    const properties = { ...tableDefaults, ...definition.properties, ...tableOverrides };
    const managed = wanted === undefined;
    const pointer = names.pointer(ident);
    const made = await tables.createAt(pointer, {
      ...rest,
      definition: { ...definition, properties },
      name: pointer.name,
      location,
      managed,
    });
    this.#open.delete(keyOf(ident));
    return made;
  }

  clone(ident: TableIdent, request: Omit<CloneRequest, 'target'> & { readonly location?: string | undefined }): Promise<QueryableTable> {
    return Promise.reject(
      unsupported(
        `SHALLOW CLONE of a ${request.source.format} table into ${quotedName([this.name, ...partsOf(ident)])}`,
        'make the copy with CREATE TABLE … AS SELECT',
      ),
    );
  }

  /** Files stay where they are. */
  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<void> {
    const { names } = this.#parts;
    if (names.rename === undefined) {
      throw unsupported(`ALTER TABLE … RENAME TO in catalog "${this.name}", whose tables are directories`, 'use a SQL or REST catalog');
    }
    const outcome = await names.rename(from, to, signal);
    this.#open.delete(keyOf(from));
    if (outcome === 'absent') throw tableNotFound(partsOf(from));
    if (outcome === 'exists') throw tableExists(partsOf(to));
  }

  /** @throws AnalysisException `SCHEMA_NOT_FOUND`, `PATH_NOT_FOUND`, `INVALID_ARGUMENT` for a directory. */
  async register(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<QueryableTable> {
    const { names } = this.#parts;
    const outcome = await names.register(ident, metadataLocation, signal);
    if (outcome === 'exists') throw tableExists(partsOf(ident));
    const table = outcome === 'absent' ? undefined : await this.load(ident, signal);
    if (table !== undefined) return table;
    throw new AnalysisException({
      errorClass: 'PATH_NOT_FOUND',
      kind: 'not-found',
      message: `Path does not exist: ${metadataLocation}.`,
      hint: 'give the location of a metadata file (….metadata.json)',
      parameters: { path: metadataLocation },
    });
  }

  /** @throws AnalysisException `ICEBERG_GC_DISABLED` for a purge of a table whose files are used by others. */
  async drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean> {
    if (options.purge) await this.#refuseSharedFiles(ident, signal);
    this.#open.delete(keyOf(ident));
    return await this.#parts.names.drop(ident, options, signal);
  }

  /** Where a table's newest metadata file is; what `register` takes. `undefined`: there is no such table. */
  async metadataLocationOf(ident: TableIdent, signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#parts.names.pointer(ident).load(undefined, signal))?.metadataLocation;
  }

  /** Gives the database or connection back. Nothing can be asked of the catalog afterwards. */
  async close(): Promise<void> {
    this.#open.clear();
    await this.#parts.names.close();
  }

  async #empty(namespace: readonly string[], depth: number, signal: AbortSignal | undefined): Promise<void> {
    const { names } = this.#parts;
    for (const name of (await names.views?.views(namespace, signal)) ?? []) await names.views?.drop({ namespace, name }, signal);
    for (const name of (await names.tables(namespace, signal)) ?? []) await this.drop({ namespace, name }, { purge: false }, signal);
    if (depth === 0) return;
    for (const below of (await names.namespaces(namespace, signal)) ?? []) {
      await this.#empty(below, depth - 1, signal);
      await names.dropNamespace(below, signal);
    }
  }

  async #refuseSharedFiles(ident: TableIdent, signal: AbortSignal | undefined): Promise<void> {
    const loaded = await this.#parts.names.pointer(ident).load(undefined, signal);
    if (loaded?.metadata.properties['gc.enabled']?.toLowerCase() !== 'false') return;
    throw new AnalysisException({
      errorClass: 'ICEBERG_GC_DISABLED',
      message: 'Cannot purge table: GC is disabled (deleting files may corrupt other tables)',
      hint: 'drop it without PURGE, or set its property gc.enabled to true if no other table refers to its files',
      parameters: { tableName: quotedName([this.name, ...partsOf(ident)]) },
    });
  }

  #remember(ident: TableIdent, opened: OpenedTable): void {
    const key = keyOf(ident);
    this.#open.delete(key);
    this.#open.set(key, opened);
    const oldest = this.#open.keys().next().value;
    if (this.#open.size > maxOpenTables && oldest !== undefined) this.#open.delete(oldest);
  }
}

/** Whether a name still stands for the table it stood for: another one may have been made in its place. */
async function isSameTable(known: OpenedTable, signal: AbortSignal | undefined): Promise<boolean> {
  return (await refreshUnlessGone(known.table, signal))?.tableId === known.tableId;
}

function keyOf(ident: TableIdent): string {
  return partsOf(ident).join('\u0000');
}
