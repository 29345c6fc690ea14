import { type ServiceError, serviceError } from '../base/errors.ts';
import type { TableFormat } from '../table/formats.ts';
import type { QueryableTable, TableCatalog, TableDefinition } from '../table/table.ts';

/** One name of the catalog. */
export interface CatalogEntry {
  readonly name: string;
  readonly format: TableFormat;
  /** Where the table lies, as `OpenObjectStore` takes it. */
  readonly location: string;
  /** How to create it; without one the table must exist. */
  readonly definition?: TableDefinition | undefined;
  /** For a table of a catalog; default: that of the format. */
  readonly opener?: TableOpener | undefined;
}

/** Opens and creates tables of one format. */
export interface TableOpener {
  /** The table, or `undefined` when nothing exists at the location. */
  open(name: string, location: string, signal?: AbortSignal): Promise<QueryableTable | undefined>;
  /** Creates the table. Of several racing creators one wins and the others get the winner's table. */
  create(name: string, location: string, definition: TableDefinition, signal?: AbortSignal): Promise<QueryableTable>;
}

/**
 * Names to tables that lie at fixed locations, as the configuration lists them. A table is opened once and shared, so that all its users
 * profit from one incrementally refreshed snapshot.
 *
 * @throws ServiceError `CATALOG_INVALID` (kind invalid) when two entries share a name or a location.
 */
export class FileSystemCatalog implements TableCatalog {
  readonly #entries: Map<string, CatalogEntry>;
  readonly #openers: Readonly<Partial<Record<TableFormat, TableOpener>>>;
  readonly #open = new Map<string, QueryableTable>();

  constructor(entries: readonly CatalogEntry[], openers: Readonly<Partial<Record<TableFormat, TableOpener>>>) {
    refuseDuplicates(entries);
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#openers = openers;
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Takes in a table that is to be known from now on. @throws ServiceError `CATALOG_INVALID` as the constructor. */
  add(entry: CatalogEntry): void {
    refuseDuplicates([...this.#entries.values(), entry]);
    this.#entries.set(entry.name, entry);
  }

  /** @throws ServiceError `TABLE_NOT_FOUND` (not-found), `FORMAT_UNSUPPORTED` (unsupported). */
  async load(name: string, signal?: AbortSignal): Promise<QueryableTable> {
    const entry = this.#entry(name);
    const table = await this.#find(entry, signal);
    if (table === undefined) throw nothingAt(entry);
    return table;
  }

  /**
   * @throws ServiceError `TABLE_NOT_FOUND` when nothing exists and the entry has no definition, `FORMAT_UNSUPPORTED`, `TABLE_FORMAT_DIFFERS` (kind
   *   invalid) when a table of another format is there.
   */
  async loadOrCreate(name: string, signal?: AbortSignal, definition?: TableDefinition): Promise<QueryableTable> {
    const entry = this.#entry(name);
    const existing = await this.#find(entry, signal);
    if (existing !== undefined) return existing;
    const made = definition ?? entry.definition;
    if (made === undefined) throw nothingAt(entry);
    await this.#refuseOtherFormats(entry, signal);
    return this.#share(name, await this.#opener(entry).create(name, entry.location, made, signal));
  }

  async #find(entry: CatalogEntry, signal: AbortSignal | undefined): Promise<QueryableTable | undefined> {
    const shared = this.#open.get(entry.name);
    if (shared !== undefined) return shared;
    const table = await this.#opener(entry).open(entry.name, entry.location, signal);
    return table === undefined ? undefined : this.#share(entry.name, table);
  }

  /** Two tables in one directory would take each other's files for garbage. */
  async #refuseOtherFormats({ name, format, location, opener }: CatalogEntry, signal: AbortSignal | undefined): Promise<void> {
    // Where it lies in a catalog is the catalog's to say.
    if (opener !== undefined) return;
    for (const [other, present] of Object.entries(this.#openers))
      if (other !== format && (await present.open(name, location, signal)) !== undefined)
        throw formatDiffers({ name, format, location }, other);
  }

  /** Whoever opened first provides the shared table; a second one opened meanwhile is dropped, it holds nothing that must be closed. */
  #share(name: string, table: QueryableTable): QueryableTable {
    const first = this.#open.get(name) ?? table;
    this.#open.set(name, first);
    return first;
  }

  #entry(name: string): CatalogEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      throw serviceError.notFound(
        'TABLE_NOT_FOUND',
        `table "${name}" is not in the catalog, which has ${this.names.map((known) => `"${known}"`).join(', ') || 'no tables'}`,
        { hint: 'check the name, or add the table to "tables" in the configuration' },
      );
    }
    return entry;
  }

  #opener(entry: CatalogEntry): TableOpener {
    const opener = entry.opener ?? this.#openers[entry.format];
    if (opener === undefined) {
      throw serviceError.unsupported(
        'FORMAT_UNSUPPORTED',
        `table "${entry.name}" has format "${entry.format}", which this version does not open`,
        { hint: `supported formats: ${Object.keys(this.#openers).join(', ')}` },
      );
    }
    return opener;
  }
}

function nothingAt(entry: CatalogEntry): ServiceError {
  return serviceError.notFound('TABLE_NOT_FOUND', `table "${entry.name}": no ${entry.format} table at ${entry.location}`, {
    hint: entry.definition === undefined ? 'check the path, or give the table columns so that it can be created' : 'create it first',
  });
}

function formatDiffers({ name, format, location }: Pick<CatalogEntry, 'name' | 'format' | 'location'>, found: string): ServiceError {
  return serviceError.invalid('TABLE_FORMAT_DIFFERS', `table "${name}": at ${location} is a table of format ${found}, not ${format}`, {
    hint: `set format: ${found}, or give the table another path`,
  });
}

function refuseDuplicates(entries: readonly CatalogEntry[]): void {
  const names = new Set<string>();
  const locations = new Map<string, string>();
  for (const { name, location } of entries) {
    const other = names.has(name) ? name : locations.get(location);
    if (other !== undefined) {
      const what = other === name ? `table "${name}" is listed twice` : `tables "${other}" and "${name}" share the location ${location}`;
      throw serviceError.invalid('CATALOG_INVALID', what, { hint: 'give each table one name and a place of its own' });
    }
    names.add(name);
    locations.set(location, name);
  }
}
