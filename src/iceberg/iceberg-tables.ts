import { resolve } from 'node:path';
import { AnalysisException } from '../base/analysis-exception.ts';
import type { Clock } from '../base/clock.ts';
import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { StorageSettings } from '../base/storage-settings.ts';
import { unsupportedFeature } from '../base/unsupported-feature.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import type {
  CloneRequest,
  ConvertRequest,
  CreateRequest,
  CreateResult,
  OpenTableOptions,
  TableFormatDriver,
} from '../table/table-formats.ts';
import { type CreateParts, createTable } from './definition/create-table.ts';
import { IcebergTable } from './iceberg-table.ts';
import { isRelative, parentLocation } from './location.ts';
import { locationOfDirectory, tableFiles } from './open-table-files.ts';
import { locationPointer } from './pointer/location-pointer.ts';
import { isMetadataFile } from './pointer/metadata-names.ts';
import type { LoadedMetadata, TablePointer } from './pointer/table-pointer.ts';
import type { TableFiles } from './table-files.ts';
import { TableRoots } from './table-roots.ts';

export interface IcebergTablesParts {
  /** The store a table's files lie in; retries reads but never `putIfAbsent`. */
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Version of this program, for the snapshots of tables. */
  readonly version: string;
  /** Which application makes snapshots: `app-id` (and `spark.app.id`) and `app-name` of their summaries. Default: they do not say. */
  readonly application?: { readonly id: string; readonly name: string } | undefined;
  /** For queries and row operations; without it they are refused. */
  readonly engine?: OpenEngine | undefined;
  /**
   * Directories that tables may refer to, and whose files they may delete, beside their own places: where files lie that were added to a table
   * in place. Default: none, and such files are refused (`FILE_OUTSIDE_TABLE`).
   */
  readonly allowedLocations?: readonly string[] | undefined;
  /** Directories that tables may refer to and delete nothing in: where the leaders of twins lie. Default: none. */
  readonly readableLocations?: readonly string[] | undefined;
  /** Directories that metadata must not lead out of, beside the table's own and the allowed ones. Default: it may name any place to read. */
  readonly confinedTo?: readonly string[] | undefined;
  readonly failpoint?: Failpoint | undefined;
  readonly commitTried?: CommitTried | undefined;
  /** Local directory for changes that are computed for the feed; without it they are refused. */
  readonly scratchDirectory?: string | undefined;
  /** Tables stay the tables they were when they were opened: see `IcebergTableParts`. */
  readonly staysWithTable?: boolean | undefined;
}

/** A table that a catalog points to. */
export interface PointedTable {
  readonly pointer: TablePointer;
  /** Opens stores with what the catalog hands out for the table. Default: that of the driver. */
  readonly openStore?: OpenObjectStore | undefined;
  /** What that store was opened with, for worker threads, which open it themselves. */
  readonly storage?: StorageSettings | undefined;
}

interface OpenedParts extends Pick<PointedTable, 'storage'> {
  readonly pointer: TablePointer;
  readonly roots: TableRoots;
  readonly files: TableFiles;
}

const engineName = 'tidewater';

/** Opens and creates Iceberg tables, by location or by a catalog's pointer. */
export class IcebergTables implements TableFormatDriver {
  readonly format = 'iceberg';
  readonly #parts: IcebergTablesParts;

  constructor(parts: IcebergTablesParts) {
    this.#parts = parts;
  }

  isTableFile(location: string): boolean {
    return isMetadataFile(location);
  }

  /** By a table's directory or one of its metadata files. */
  async open(name: string, location: string, signal?: AbortSignal, options: OpenTableOptions = {}): Promise<IcebergTable | undefined> {
    const place = absolute(location);
    const folder = isMetadataFile(place) ? parentLocation(place) : place;
    const { roots, files } = this.#filesOf(name, [folder], this.#parts.openStore, options);
    const pointer = await locationPointer({ name, location: place, files, clock: this.#parts.clock }, signal);
    const loaded = await pointer.load(undefined, signal);
    return loaded === undefined ? undefined : this.#made({ pointer, roots, files }, loaded);
  }

  /** A catalog's table whose metadata was just loaded. */
  openLoaded({ pointer, openStore, storage }: PointedTable, loaded: LoadedMetadata): IcebergTable {
    const { roots, files } = this.#filesOf(pointer.name, [], openStore ?? this.#parts.openStore, {});
    return this.#made({ pointer, roots, files, storage }, loaded);
  }

  /** As `createTable`; of several racing creators one wins and the others get the winner's table. */
  async create(name: string, location: string, definition: TableDefinition, signal?: AbortSignal): Promise<QueryableTable> {
    return (await this.createTable({ name, location, definition, mode: 'create-if-absent', signal })).table;
  }

  /** At a location, in the layout of the file system. */
  async createTable(request: CreateRequest): Promise<CreateResult> {
    const { name, signal } = request;
    const location = absolute(request.location);
    const { roots, files } = this.#filesOf(name, [location], this.#parts.openStore, {});
    const pointer = await locationPointer({ name, location, files, clock: this.#parts.clock }, signal);
    return this.#create({ pointer, roots, files }, { ...request, location });
  }

  /** Where a catalog's pointer says. */
  async createAt(table: PointedTable, request: CreateRequest): Promise<CreateResult> {
    const { pointer } = table;
    const { roots, files } = this.#filesOf(pointer.name, [request.location], table.openStore ?? this.#parts.openStore, {});
    return this.#create({ pointer, roots, files, storage: table.storage }, request);
  }

  clone(request: CloneRequest): Promise<IcebergTable> {
    return Promise.reject(unsupported(`CLONE to ${request.target.name}`));
  }

  convert(request: ConvertRequest): Promise<IcebergTable> {
    return Promise.reject(unsupported(`CONVERT of ${request.location}`));
  }

  #filesOf(
    name: string,
    places: readonly string[],
    openStore: OpenObjectStore,
    options: OpenTableOptions,
  ): { readonly roots: TableRoots; readonly files: TableFiles } {
    const { allowedLocations = [], readableLocations = [], confinedTo } = this.#parts;
    const roots = new TableRoots({ places: [...places, ...readableLocations], allowed: allowedLocations, confinedTo });
    const { pathMap, pathBase } = options;
    const files = tableFiles({ name, openStore, roots: () => roots.all, deletable: () => roots.deletable, pathMap, pathBase });
    return { roots, files };
  }

  async #create(table: OpenedParts, request: CreateRequest): Promise<CreateResult> {
    const { created, written, state } = await createTable(this.#createParts(table.files), table.pointer, request);
    return { table: this.#made(table, state.loaded), created, written };
  }

  get #applicationSummary(): Readonly<Record<string, string>> {
    const { application } = this.#parts;
    if (application === undefined) return {};
    return { 'spark.app.id': application.id, 'app-id': application.id, 'app-name': application.name };
  }

  #createParts(files: TableFiles): CreateParts {
    const { engine, failpoint = inertFailpoint, version } = this.#parts;
    const open = engine ?? ((): Promise<never> => Promise.reject(engineNotAvailable()));
    const applicationSummary = this.#applicationSummary;
    return { ...this.#parts, files, failpoint, engine: open, engineName, engineVersion: version, applicationSummary };
  }

  #made(table: OpenedParts, loaded: LoadedMetadata): IcebergTable {
    const applicationSummary = this.#applicationSummary;
    return new IcebergTable({ ...this.#parts, ...table, engineName, engineVersion: this.#parts.version, applicationSummary }, loaded);
  }
}

/** A directory or URI as metadata has it. */
function absolute(location: string): string {
  const given = locationOfDirectory(location);
  return isRelative(given) ? resolve(given) : given;
}

function engineNotAvailable(): AnalysisException {
  return new AnalysisException({
    errorClass: 'ENGINE_NOT_AVAILABLE',
    kind: 'unsupported',
    message: 'tables cannot be created with rows without the query engine',
    hint: 'create them through a Session, or pass an engine',
  });
}

function unsupported(what: string): AnalysisException {
  return unsupportedFeature(`${what}: an Iceberg table cannot be made so`);
}
