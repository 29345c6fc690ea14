import { AnalysisException } from '../base/analysis-exception.ts';
import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import { unsupportedFeature } from '../base/unsupported-feature.ts';
import type { ObjectStore, OpenObjectStore } from '../storage/object-store.ts';
import { isTableFormat, type TableFormat } from '../table/formats.ts';
import { refreshUnlessGone } from '../table/refresh-unless-gone.ts';
import type { QueryableTable } from '../table/table.ts';
import type {
  CatalogCreateRequest,
  CloneRequest,
  CreateRequest,
  CreateResult,
  SessionCatalog,
  TableFormatDriver,
} from '../table/table-formats.ts';
import { partsOf, type TableIdent } from '../table/table-ident.ts';
import { quotedName, schemaNotFound, tableExists, tableNotFound } from '../table/table-names.ts';
import { cannotHold, invalidName, schemaExists, schemaNotEmpty } from './catalog-errors.ts';

/** Entries read of one namespace at most. */
const maxTables = 100_000;
const defaultNamespace = 'default';
const pointerSuffix = '.table.json';
const markerName = '.namespace';

export interface WarehouseCatalogParts {
  readonly name: string;
  /** Directory of the warehouse. */
  readonly directory: string;
  readonly drivers: readonly TableFormatDriver[];
  readonly openStore: OpenObjectStore;
}

/** What the catalog knows of a table: a small object beside the namespace's tables. */
interface Pointer {
  readonly name: string;
  readonly format: TableFormat;
  readonly location: string;
  /** The catalog chose the location, and deletes the files with the name. */
  readonly managed: boolean;
}

/**
 * Names to tables by convention, in one directory: `<warehouse>/<database>.db/<table>` for tables whose location the catalog chose, the
 * database `default` being the warehouse itself. Each name is a pointer object `<table>.table.json`, put only if absent, so that of two
 * creators one wins. A table directory without a pointer, made by another engine with the same convention, is found too. Names are kept in
 * lower case and found without regard to case.
 */
export class WarehouseCatalog implements SessionCatalog {
  readonly name: string;
  readonly #parts: WarehouseCatalogParts;
  readonly #store: ObjectStore;
  readonly #open = new Map<string, QueryableTable>();

  constructor(parts: WarehouseCatalogParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#store = parts.openStore(parts.directory);
  }

  async namespaces(signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
    const names = new Set([defaultNamespace]);
    let after: string | undefined;
    // Steps over the inside of each database: one listing call a database, not one a file.
    for (;;) {
      const next = await this.#firstDatabase(after, signal);
      if (next === undefined) return [...names].toSorted().map((name) => [name]);
      names.add(next.slice(0, -'.db'.length));
      after = behind(next);
    }
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const name = namespaceName(namespace);
    if (name === defaultNamespace) return true;
    for await (const object of this.#store.list({ prefix: `${directoryOf(name)}/` }, signal)) return object.path !== '';
    return false;
  }

  async createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<void> {
    const name = namespaceName(namespace);
    const made =
      !(await this.hasNamespace(namespace, signal)) &&
      (await this.#store.putIfAbsent(`${directoryOf(name)}/${markerName}`, new Uint8Array(0), signal)) === 'created';
    if (made) return;
    throw schemaExists([name]);
  }

  async dropNamespace(namespace: readonly string[], options: { readonly cascade: boolean }, signal?: AbortSignal): Promise<void> {
    const name = namespaceName(namespace);
    if (!(await this.hasNamespace(namespace, signal))) throw schemaNotFound([name]);
    const tables = await this.tables(namespace, signal);
    if (name === defaultNamespace) throw schemaNotEmpty([name], 'is the default one');
    if (tables.length > 0 && !options.cascade) throw schemaNotEmpty([name]);
    for (const table of tables) await this.drop(table, { purge: true }, signal);
    await this.#store.delete(`${directoryOf(name)}/${markerName}`, signal);
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly TableIdent[]> {
    const name = namespaceName(namespace);
    if (!(await this.hasNamespace(namespace, signal))) throw schemaNotFound([name]);
    const prefix = name === defaultNamespace ? '' : `${directoryOf(name)}/`;
    const found = new Set<string>();
    let after: string | undefined;
    while (found.size < maxTables) {
      const next = await this.#firstEntry(prefix, after, signal);
      if (next === undefined) break;
      after = next.isObject ? `${prefix}${next.entry}` : behind(`${prefix}${next.entry}`);
      if (next.isObject && next.entry.endsWith(pointerSuffix)) found.add(next.entry.slice(0, -pointerSuffix.length));
      if (!next.isObject && !next.entry.endsWith('.db') && (await this.#isTable(`${prefix}${next.entry}`, signal))) found.add(next.entry);
    }
    return [...found].toSorted().map((table) => ({ namespace: [name], name: table }));
  }

  async load(ident: TableIdent, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const key = keyOf(ident);
    const pointer = await this.#pointer(ident, signal);
    const location = pointer?.location ?? this.#locationOf(key);
    const known = this.#open.get(key);
    if (known?.location === location && (await refreshUnlessGone(known, signal)) !== undefined) return known;
    this.#open.delete(key);
    const drivers = this.#parts.drivers.filter((driver) => pointer === undefined || driver.format === pointer.format);
    for (const driver of drivers) {
      const table = await driver.open(displayName(this.name, ident), location, signal);
      if (table === undefined) continue;
      this.#open.set(key, table);
      return table;
    }
    return undefined;
  }

  async create(ident: TableIdent, request: CatalogCreateRequest): Promise<CreateResult> {
    if (!(await this.hasNamespace(ident.namespace, request.signal))) throw schemaNotFound([namespaceName(ident.namespace)]);
    const key = keyOf(ident);
    const existing = await this.load(ident, request.signal);
    refuseExisting(ident, existing, request.mode);
    if (existing !== undefined && request.mode === 'create-if-absent') return { table: existing, created: false, written: undefined };
    const { format, location: wanted, ...rest } = request;
    const managed = existing === undefined ? wanted === undefined : ((await this.#pointer(ident, request.signal))?.managed ?? true);
    const location = placeOf(ident, existing, wanted) ?? this.#locationOf(key);
    const driver = this.#driver(format);
    // CREATE … LOCATION takes in a table that is there already.
    const takeOver = existing === undefined && wanted !== undefined && request.mode === 'create';
    const result = await driver.createTable({ ...rest, takeOver, name: displayName(this.name, ident), location, managed });
    if (existing === undefined) await this.#put(key, { name: ident.name, format, location, managed }, request.signal);
    this.#open.set(key, result.table);
    return result;
  }

  async clone(
    ident: TableIdent,
    request: Omit<CloneRequest, 'target'> & { readonly location?: string | undefined },
  ): Promise<QueryableTable> {
    if (!(await this.hasNamespace(ident.namespace, request.signal))) throw schemaNotFound([namespaceName(ident.namespace)]);
    const key = keyOf(ident);
    const existing = await this.load(ident, request.signal);
    refuseExisting(ident, existing, request.mode);
    if (existing !== undefined && request.mode === 'create-if-absent') return existing;
    const { location: wanted, ...rest } = request;
    const location = placeOf(ident, existing, wanted) ?? this.#locationOf(key);
    const { format } = request.source;
    const table = await this.#driver(format).clone({ ...rest, target: { name: displayName(this.name, ident), location } });
    if (existing === undefined) await this.#put(key, { name: ident.name, format, location, managed: wanted === undefined }, request.signal);
    this.#open.set(key, table);
    return table;
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<void> {
    if (!(await this.hasNamespace(to.namespace, signal))) throw schemaNotFound([namespaceName(to.namespace)]);
    const pointer = await this.#pointer(from, signal);
    if (pointer === undefined) refuseExisting(from, await this.load(from, signal), 'replace');
    if (pointer?.managed !== false) throw managedRename(from);
    refuseExisting(to, await this.load(to, signal), 'create');
    const made = await this.#store.putIfAbsent(`${keyOf(to)}${pointerSuffix}`, pointerBytes({ ...pointer, name: to.name }), signal);
    if (made !== 'created') throw tableExists(partsOf(to));
    await this.#store.delete(`${keyOf(from)}${pointerSuffix}`, signal);
    this.#open.delete(keyOf(from));
  }

  async drop(ident: TableIdent, _options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean> {
    const key = keyOf(ident);
    const pointer = await this.#pointer(ident, signal);
    const table = await this.load(ident, signal);
    this.#open.delete(key);
    if (table === undefined && pointer === undefined) return false;
    await this.#store.delete(`${key}${pointerSuffix}`, signal);
    if (pointer?.managed !== false) await this.#deleteFiles(key, signal);
    return true;
  }

  async #put(key: string, pointer: Pointer, signal: AbortSignal | undefined): Promise<void> {
    await this.#store.putIfAbsent(`${key}${pointerSuffix}`, pointerBytes(pointer), signal);
  }

  /** The log goes first, so that a half deleted table is none. */
  async #deleteFiles(key: string, signal: AbortSignal | undefined): Promise<void> {
    for (const prefix of [`${key}/_delta_log/`, `${key}/metadata/`, `${key}/`]) {
      const paths: string[] = [];
      for await (const object of this.#store.list({ prefix }, signal)) paths.push(object.path);
      for (const path of paths) await this.#store.delete(path, signal);
    }
  }

  async #pointer(ident: TableIdent, signal: AbortSignal | undefined): Promise<Pointer | undefined> {
    const path = `${keyOf(ident)}${pointerSuffix}`;
    try {
      return parsePointer(await this.#store.read(path, signal), `${this.#store.root}/${path}`);
    } catch (error) {
      if (isServiceError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  async #firstDatabase(after: string | undefined, signal: AbortSignal | undefined): Promise<string | undefined> {
    let start = after;
    for (;;) {
      const next = await this.#firstEntry('', start, signal);
      if (next === undefined || (!next.isObject && next.entry.endsWith('.db'))) return next?.entry;
      start = next.isObject ? next.entry : behind(next.entry);
    }
  }

  /** The first entry of a directory after a path: an object of it, or a directory below. */
  async #firstEntry(
    prefix: string,
    startAfter: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly entry: string; readonly isObject: boolean } | undefined> {
    for await (const object of this.#store.list({ prefix, startAfter }, signal)) {
      const [entry = '', ...below] = object.path.slice(prefix.length).split('/');
      return { entry, isObject: below.length === 0 };
    }
    return undefined;
  }

  async #isTable(directory: string, signal: AbortSignal | undefined): Promise<boolean> {
    for (const inside of ['_delta_log', 'metadata']) {
      for await (const object of this.#store.list({ prefix: `${directory}/${inside}/` }, signal)) return object.path !== '';
    }
    return false;
  }

  #locationOf(key: string): string {
    return `${this.#parts.directory.replace(/\/+$/, '')}/${key}`;
  }

  #driver(format: TableFormat): TableFormatDriver {
    const driver = this.#parts.drivers.find((candidate) => candidate.format === format);
    if (driver !== undefined) return driver;
    throw cannotHold(this.name, format, `formats: ${this.#parts.drivers.map((candidate) => candidate.format).join(', ')}`);
  }
}

function refuseExisting(ident: TableIdent, existing: QueryableTable | undefined, mode: CreateRequest['mode']): void {
  if (existing !== undefined && mode === 'create') throw tableExists(partsOf(ident));
  if (existing === undefined && mode === 'replace') {
    throw tableNotFound(partsOf(ident), 'use CREATE OR REPLACE TABLE to create it when it is absent');
  }
}

/** Where a table is or is wanted; `undefined`: the catalog chooses. @throws AnalysisException `DELTA_TABLE_LOCATION_MISMATCH`: it is elsewhere. */
function placeOf(ident: TableIdent, existing: QueryableTable | undefined, wanted: string | undefined): string | undefined {
  if (existing === undefined) return wanted;
  if (wanted !== undefined && bare(wanted) !== bare(existing.location)) throw locationDiffers(ident, existing.location, wanted);
  return existing.location;
}

function bare(location: string): string {
  return location.replace(/^file:(?:\/\/)?(?=\/)/, '').replace(/\/+$/, '');
}

function locationDiffers(ident: TableIdent, existing: string, wanted: string): AnalysisException {
  const tableName = shownName(ident);
  return new AnalysisException({
    errorClass: 'DELTA_TABLE_LOCATION_MISMATCH',
    message: `The location of the existing table ${tableName} is ${existing}. It doesn't match the specified location ${wanted}.`,
    parameters: { tableName, existingTableLocation: existing, tableLocation: wanted },
    hint: 'leave LOCATION out, or drop the table first',
  });
}

function shownName(ident: TableIdent): string {
  return quotedName(partsOf(ident));
}

function managedRename(ident: TableIdent): AnalysisException {
  return unsupportedFeature(
    `ALTER TABLE … RENAME TO is not supported for ${shownName(ident)}, whose files are in the warehouse under its name`,
    {
      hint: 'make the other name with CREATE TABLE … SHALLOW CLONE or AS SELECT, or create tables to be renamed with LOCATION',
      parameters: { tableName: shownName(ident) },
    },
  );
}

function displayName(catalog: string, ident: TableIdent): string {
  return [catalog, ...ident.namespace, ident.name].join('.');
}

/** Sorts after every path in a directory whose parts do not begin with the last code points there are. */
function behind(directory: string): string {
  return `${directory}/${'\u{10ffff}'.repeat(8)}`;
}

/** The path of a table's directory in the warehouse. */
function keyOf(ident: TableIdent): string {
  const name = namespaceName(ident.namespace);
  const table = safeName(ident.name);
  return name === defaultNamespace ? table : `${directoryOf(name)}/${table}`;
}

function namespaceName(namespace: readonly string[]): string {
  const [name = defaultNamespace, ...more] = namespace;
  if (more.length === 0) return safeName(name);
  throw new AnalysisException({
    errorClass: 'REQUIRES_SINGLE_PART_NAMESPACE',
    message: `the catalog has databases of one level, but got "${namespace.join('.')}"`,
  });
}

/** A name that is a directory must stay one: no separators, no dots alone. */
function safeName(name: string): string {
  const lower = name.toLowerCase();
  if (lower !== '' && lower.length <= 128 && /^[^/\\\u0000-\u001f]+$/.test(lower) && !lower.startsWith('.') && !lower.endsWith('.db'))
    return lower;
  throw invalidName(name, 'use letters, digits and underscores');
}

function directoryOf(database: string): string {
  return `${database}.db`;
}

function pointerBytes(pointer: Pointer): Uint8Array {
  return new TextEncoder().encode(`${printJson({ ...pointer })}\n`);
}

function parsePointer(bytes: Uint8Array, where: string): Pointer {
  const value = parseJson(new TextDecoder().decode(bytes), where);
  const { name, format, location, managed } = isJsonObject(value) ? value : {};
  if (typeof name === 'string' && isTableFormat(format) && typeof location === 'string') {
    return { name, format, location, managed: managed === true };
  }
  throw new AnalysisException({
    errorClass: 'CATALOG_ENTRY_CORRUPT',
    kind: 'corrupt',
    message: `${where} is not an entry of the catalog`,
    hint: 'delete it and create the table again with LOCATION; the data is not touched',
  });
}
