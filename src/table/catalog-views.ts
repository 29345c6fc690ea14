import type { StructType } from '../schema/types.ts';
import type { TableIdent } from './table-ident.ts';

/** A view that a catalog keeps. */
export interface CatalogView {
  /** Its catalog, its namespace and its name. */
  readonly parts: readonly string[];
  /** What it shows: its columns by place, whatever its query calls them. */
  readonly schema: StructType;
  /** A query in SQL. */
  readonly query: string;
  /** Of names in the query that have none. */
  readonly catalog: string;
  readonly namespace: readonly string[];
  /** What its query called its columns. */
  readonly queryColumns: readonly string[];
  readonly comment: string | undefined;
  /** By what it was made. */
  readonly createdBy: string | undefined;
  /** As users see them, without the comment. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface ViewDefinition {
  readonly query: string;
  /** Comments of columns are in their metadata, as `comment`. */
  readonly schema: StructType;
  readonly queryColumns: readonly string[];
  /** Where names of the query are looked up: the catalog by its name in the session. */
  readonly catalog: string;
  readonly namespace: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
  /** Default: the catalog chooses. */
  readonly location?: string | undefined;
  readonly engine: { readonly name: string; readonly version: string };
}

/**
 * `create` fails when there is something of the name, `create-if-absent` leaves it, `replace` fails when there is no view. A view that is
 * replaced keeps its identity and history.
 */
export type CreateViewMode = 'create' | 'create-if-absent' | 'create-or-replace' | 'replace';

/** The views of a catalog that keeps some. */
export interface CatalogViews {
  /** @throws AnalysisException `SCHEMA_NOT_FOUND`. */
  list(namespace: readonly string[], signal?: AbortSignal): Promise<readonly TableIdent[]>;
  /** @throws AnalysisException `ICEBERG_VIEW_WITHOUT_SQL` for one in no language that is SQL. */
  load(ident: TableIdent, signal?: AbortSignal): Promise<CatalogView | undefined>;
  /** @throws AnalysisException `VIEW_ALREADY_EXISTS`, `TABLE_OR_VIEW_ALREADY_EXISTS`, `VIEW_NOT_FOUND`, `SCHEMA_NOT_FOUND`. */
  create(ident: TableIdent, definition: ViewDefinition, mode: CreateViewMode, signal?: AbortSignal): Promise<void>;
  /** @throws AnalysisException `VIEW_NOT_FOUND`, `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` for keys that are no properties. */
  setProperties(ident: TableIdent, properties: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void>;
  /** @throws AnalysisException as `setProperties`; `UNSET_NONEXISTENT_PROPERTIES` for keys that are not set, unless `ifExists`. */
  unsetProperties(ident: TableIdent, keys: readonly string[], options: { readonly ifExists: boolean }, signal?: AbortSignal): Promise<void>;
  /** @throws AnalysisException `VIEW_NOT_FOUND`, `VIEW_ALREADY_EXISTS`, `SCHEMA_NOT_FOUND`. */
  rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<void>;
  /** False: there was none. */
  drop(ident: TableIdent, signal?: AbortSignal): Promise<boolean>;
}
