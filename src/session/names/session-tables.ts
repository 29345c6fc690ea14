import { unsupported } from '../../base/unsupported-feature.ts';
import { refuseElsewhere } from '../../storage/allowed-locations.ts';
import type { CatalogView } from '../../table/catalog-views.ts';
import { isTableFormat, traitsOf } from '../../table/formats.ts';
import { refreshUnlessGone } from '../../table/refresh-unless-gone.ts';
import type { AuditSettings, QueryableTable } from '../../table/table.ts';
import type { OpenTableOptions, SessionCatalog, TableFormatDriver } from '../../table/table-formats.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { quotedName, tableNotFound } from '../../table/table-names.ts';
import { namePath } from '../column.ts';
import type { TableReference } from '../plan/plan.ts';
import { catalogNotFound, expectTable, namespaceNotFound, pathNotFound } from '../session-errors.ts';
import { selectorOf, type TableSelector, writableTable } from './select-table.ts';

/** Tables opened by path that stay open, so that their logs are followed instead of read again. The least recently used one goes first. */
const maxOpenTables = 256;

const setting = 'tidewater.files.allowedLocations when the session is made';

/** A name with the catalog that owns it. */
export interface ResolvedName {
  readonly catalog: SessionCatalog;
  readonly ident: TableIdent;
}

/** A table, and what its name says beyond it. */
export interface SelectedTable {
  readonly table: QueryableTable;
  readonly selector?: TableSelector | undefined;
}

export interface SessionTablesParts {
  /** By name; the first one is where names without catalog are looked up. */
  readonly catalogs: ReadonlyMap<string, SessionCatalog>;
  readonly drivers: readonly TableFormatDriver[];
  readonly defaultCatalog: string;
  /** A path as the user gave it, made absolute. */
  readonly absolutePath: (path: string) => string;
  /** Where writes of the session wait until they are published, for tables that have that. */
  readonly audit?: (() => AuditSettings | undefined) | undefined;
  /** Directories that paths of SQL, readers and writers must be in. Default: whatever the process may read. */
  readonly confinedTo?: readonly string[] | undefined;
}

/** Names and paths to tables, with the current catalog and namespace of the session. Names are found without regard to case. */
export class SessionTables {
  readonly #parts: SessionTablesParts;
  readonly #open = new Map<string, QueryableTable>();
  #catalog: string;
  #namespace: readonly string[] = ['default'];

  constructor(parts: SessionTablesParts) {
    this.#parts = parts;
    this.#catalog = parts.defaultCatalog;
  }

  get currentCatalog(): SessionCatalog {
    return this.catalog(this.#catalog);
  }

  get currentNamespace(): readonly string[] {
    return this.#namespace;
  }

  get catalogNames(): readonly string[] {
    return [...this.#parts.catalogs.keys()];
  }

  /** Whether paths are held against the directories that the session was given. */
  get isConfined(): boolean {
    return this.#parts.confinedTo !== undefined;
  }

  get formats(): readonly string[] {
    return this.#parts.drivers.map((driver) => driver.format);
  }

  hasCatalog(name: string): boolean {
    return this.#catalogNamed(name) !== undefined;
  }

  /** @throws AnalysisException `CATALOG_NOT_FOUND`. */
  catalog(name: string): SessionCatalog {
    const found = this.#catalogNamed(name);
    if (found === undefined) throw catalogNotFound(name, this.catalogNames);
    return found;
  }

  /** Opens and creates tables of a format. @throws AnalysisException `UNSUPPORTED_FEATURE` for one without a driver. */
  driver(format: string): TableFormatDriver {
    const found = this.#parts.drivers.find((driver) => driver.format === format.toLowerCase());
    if (found === undefined) throw unsupported(`table format "${format}"`, `table formats: ${this.formats.join(', ')}`);
    return found;
  }

  /**
   * The one door for paths that statements, readers and writers name.
   *
   * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid) for a path outside of what the session is confined to.
   */
  absolutePath(path: string): string {
    const { absolutePath, confinedTo } = this.#parts;
    const location = absolutePath(path);
    if (confinedTo !== undefined) refuseElsewhere(location, { directories: confinedTo, of: 'session', setting });
    return location;
  }

  /** Makes a namespace (or, for one part that is a catalog, that catalog) the current one. @throws AnalysisException `SCHEMA_NOT_FOUND`. */
  async use(parts: readonly string[], signal?: AbortSignal): Promise<void> {
    const [first = '', ...rest] = parts;
    const catalog = this.#catalogNamed(first);
    if (catalog !== undefined && rest.length === 0) {
      this.#catalog = catalog.name;
      this.#namespace = ['default'];
      return;
    }
    const place = this.namespace(parts);
    if (!(await place.catalog.hasNamespace(place.namespace, signal))) throw namespaceNotFound([place.catalog.name, ...place.namespace]);
    this.#catalog = place.catalog.name;
    this.#namespace = place.namespace;
  }

  /** Catalog and namespace of a name such as `db` or `catalog.db`. */
  namespace(parts: readonly string[]): { readonly catalog: SessionCatalog; readonly namespace: readonly string[] } {
    const [first = '', ...rest] = parts;
    const named = this.#catalogNamed(first);
    if (named !== undefined) return { catalog: named, namespace: rest };
    return { catalog: this.currentCatalog, namespace: parts };
  }

  /** Catalog and identity of a table's name of one part or more. */
  resolve(parts: readonly string[]): ResolvedName {
    const name = parts.at(-1) ?? '';
    if (parts.length === 1) return { catalog: this.currentCatalog, ident: { namespace: this.#namespace, name } };
    const { catalog, namespace } = this.namespace(parts.slice(0, -1));
    return { catalog, ident: { namespace: namespace.length === 0 ? ['default'] : namespace, name } };
  }

  /** Catalog, namespace and name with dots between them, as messages and details show it; `undefined` for a path. */
  qualifiedName(reference: TableReference): string | undefined {
    if (reference.kind === 'path') return undefined;
    const { catalog, ident } = this.resolve(reference.parts);
    return [catalog.name, ...ident.namespace, ident.name].join('.');
  }

  /** What a table's name in a statement stands for: `` delta.`/path` `` is a path unless there is a namespace of that name. */
  referenceOf(parts: readonly string[]): TableReference {
    const [format = '', path = ''] = parts;
    const isPath = parts.length === 2 && (this.formats.includes(format.toLowerCase()) || /[/\\:]/.test(path));
    return isPath ? { kind: 'path', format: format.toLowerCase(), path } : { kind: 'name', parts };
  }

  /** What readers and writers of DataFrames are given: a table's name where the format is read by name, unless it is written like a path. */
  givenReference(format: string, given: string): TableReference {
    const byName = isTableFormat(format) && traitsOf[format].loadedByName && !/[/\\:]/.test(given);
    return byName ? this.referenceOf(namePath(given)) : { kind: 'path', format, path: given };
  }

  /** The table, or `undefined` when there is none. */
  async find(reference: TableReference, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const selected = await this.select(reference, signal);
    if (selected?.selector === undefined) return selected?.table;
    const table = await this.#audited(selected.table, signal);
    return writableTable(table, selected.selector, reference.kind === 'name' ? (reference.parts.at(-1) ?? '') : '');
  }

  /** As `find`, without regard to writes that wait to be published: for procedures, which publish them. */
  async findPlain(reference: TableReference, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const selected = await this.#select(reference, signal);
    return selected?.selector === undefined ? selected?.table : this.find(reference, signal);
  }

  /** As `find`, with what a name such as `t.snapshots` or `t.branch_audit` says beyond the table. */
  async select(reference: TableReference, signal?: AbortSignal, options?: OpenTableOptions): Promise<SelectedTable | undefined> {
    const selected = await this.#select(reference, signal, options);
    return selected === undefined || selected.selector !== undefined
      ? selected
      : { ...selected, table: await this.#audited(selected.table, signal) };
  }

  async #audited(table: QueryableTable, signal: AbortSignal | undefined): Promise<QueryableTable> {
    const audit = this.#parts.audit?.();
    return audit === undefined || table.audited === undefined ? table : table.audited(audit, signal);
  }

  async #select(reference: TableReference, signal?: AbortSignal, options?: OpenTableOptions): Promise<SelectedTable | undefined> {
    if (reference.kind === 'path') {
      const table = await this.#openPath(reference, signal, options);
      return table === undefined ? undefined : { table };
    }
    const { catalog, ident } = this.resolve(reference.parts);
    // A part with a slash is the path of a table, with something after it.
    const hasPath = reference.parts.some((part) => part.includes('/'));
    const table = hasPath ? undefined : await catalog.load(ident, signal);
    if (table !== undefined) return { table };
    const [part = '', ...before] = reference.parts.toReversed();
    if (before.length === 0) return undefined;
    const owner = await this.#owner(before.toReversed(), signal);
    const selector = owner === undefined ? undefined : selectorOf(owner, part);
    return owner === undefined || selector === undefined ? undefined : { table: owner, selector };
  }

  async #owner(parts: readonly string[], signal: AbortSignal | undefined): Promise<QueryableTable | undefined> {
    const reference = this.referenceOf(parts);
    if (reference.kind === 'path') return this.#openPath(reference, signal);
    const { catalog, ident } = this.resolve(parts);
    return catalog.load(ident, signal);
  }

  /**
   * @param operation what is to be done with it, for messages.
   * @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`, `PATH_NOT_FOUND`, `EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE`.
   */
  async load(reference: TableReference, signal?: AbortSignal, operation: string = 'this operation'): Promise<QueryableTable> {
    const found = await this.find(reference, signal);
    if (found !== undefined) return found;
    const view = await this.findView(reference, signal);
    if (view !== undefined) throw expectTable(quotedName(view.parts), operation);
    throw reference.kind === 'name' ? tableNotFound(reference.parts) : pathNotFound(reference.path);
  }

  /** The view of a catalog that a name stands for, where no table has the name. */
  async findView(reference: TableReference, signal?: AbortSignal): Promise<CatalogView | undefined> {
    if (reference.kind === 'path' || reference.parts.some((part) => part.includes('/'))) return undefined;
    const { catalog, ident } = this.resolve(reference.parts);
    return catalog.views?.load(ident, signal);
  }

  /** Forgets what is known about a path, after a table was made or deleted there. */
  forget(location: string): void {
    this.#open.delete(location);
  }

  #catalogNamed(name: string): SessionCatalog | undefined {
    const wanted = name.toLowerCase();
    for (const [known, catalog] of this.#parts.catalogs) if (known.toLowerCase() === wanted) return catalog;
    return undefined;
  }

  async #openPath(
    reference: Extract<TableReference, { readonly kind: 'path' }>,
    signal: AbortSignal | undefined,
    options?: OpenTableOptions,
  ): Promise<QueryableTable | undefined> {
    const driver = this.driver(reference.format);
    const location = this.absolutePath(reference.path);
    // What is found through a map of paths is of no use without it.
    if (options !== undefined) return driver.open(location, location, signal, options);
    const known = this.#open.get(location);
    if (known !== undefined && (await refreshUnlessGone(known, signal))) {
      this.#touch(location, known);
      return known;
    }
    const opened = await driver.open(location, location, signal);
    if (opened === undefined) this.#open.delete(location);
    else this.#touch(location, opened);
    return opened;
  }

  #touch(location: string, table: QueryableTable): void {
    this.#open.delete(location);
    this.#open.set(location, table);
    const oldest = this.#open.keys().next().value;
    if (this.#open.size > maxOpenTables && oldest !== undefined) this.#open.delete(oldest);
  }
}
