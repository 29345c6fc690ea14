import type { CatalogViews } from './catalog-views.ts';
import type { TableFormat } from './formats.ts';
import type { Relation } from './relation.ts';
import type { CommitOptions, WriteResult } from './row-operations.ts';
import type { QueryableTable, TableDefinition } from './table.ts';
import type { TableIdent } from './table-ident.ts';
import type { Version } from './version.ts';

/** CREATE TABLE and its kin. */
export interface CreateRequest extends CommitOptions {
  readonly name: string;
  readonly location: string;
  readonly definition: TableDefinition;
  readonly comment?: string | undefined;
  /**
   * `create` fails when there is a table, `create-if-absent` leaves it, `replace` fails when there is none, `create-or-replace` takes both.
   * A replaced table keeps its identity and history.
   */
  readonly mode: 'create' | 'create-if-absent' | 'replace' | 'create-or-replace';
  /**
   * `create` without rows takes a table that is at the location as it is, when its definition is the same or none is given (no columns): for
   * a name that a catalog does not have yet. Default: it fails.
   */
  readonly takeOver?: boolean | undefined;
  /** Column paths that the table is clustered by. */
  readonly clusterBy?: readonly (readonly string[])[] | undefined;
  /** The rows come from a DataFrame that is saved to a path: the history calls the version a write in this save mode. */
  readonly savedAs?: 'Append' | 'Overwrite' | 'ErrorIfExists' | 'Ignore' | undefined;
  /** Rows of the first version (AS SELECT). The definition's schema is theirs. */
  readonly rows?: Relation | undefined;
  /** As for `WriteRequest`: few, large files. Default: the definition's `delta.autoOptimize.optimizeWrite`. */
  readonly optimizeWrite?: boolean | undefined;
  readonly optimizedFileBytes?: number | undefined;
  /** As for `WriteRequest`. */
  readonly fileFormat?: string | undefined;
  /** Whether the catalog chose the location. For the history. */
  readonly managed?: boolean | undefined;
}

export interface CreateResult {
  readonly table: QueryableTable;
  /** False: `create-if-absent` found one. */
  readonly created: boolean;
  readonly written: WriteResult | undefined;
}

export interface CloneRequest extends CommitOptions {
  readonly source: QueryableTable;
  /** Default: the newest. */
  readonly version?: Version | undefined;
  readonly target: { readonly name: string; readonly location: string };
  readonly mode: CreateRequest['mode'];
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export interface ConvertRequest extends CommitOptions {
  /** A directory of Parquet files. */
  readonly location: string;
  /** Types of the columns in directory names, `col=value`. */
  readonly partitionColumns: readonly { readonly name: string; readonly type: string }[];
  readonly collectStatistics?: boolean | undefined;
}

/** How the files of a table are found that lies elsewhere than where it was written. */
export interface OpenTableOptions {
  /** Prefixes of recorded locations and what stands in their place; the first that fits counts. */
  readonly pathMap?: readonly { readonly from: string; readonly to: string }[] | undefined;
  /** What relative locations are relative to. */
  readonly pathBase?: string | undefined;
}

/** Tables of one format by location. */
export interface TableFormatDriver {
  readonly format: TableFormat;
  /** Whether a location is one file that stands for a table of the format. */
  isTableFile?(location: string): boolean;
  /** The table, or `undefined` when nothing exists at the location. */
  open(name: string, location: string, signal?: AbortSignal, options?: OpenTableOptions): Promise<QueryableTable | undefined>;
  createTable(request: CreateRequest): Promise<CreateResult>;
  /** A table that refers to the files of another (shallow). */
  clone(request: CloneRequest): Promise<QueryableTable>;
  convert(request: ConvertRequest): Promise<QueryableTable>;
}

/** What a catalog makes a table of. */
export type CatalogCreateRequest = Omit<CreateRequest, 'name' | 'location' | 'managed'> & {
  readonly format: TableFormat;
  /** Default: the catalog chooses, and the table's files go with it. */
  readonly location?: string | undefined;
};

/** Names to tables, with namespaces (databases). One session has several, by name. */
export interface SessionCatalog {
  readonly name: string;
  /** Format of tables that are created without naming one. Default: the session's. */
  readonly defaultFormat?: TableFormat | undefined;
  /** Default: it keeps no views. */
  readonly views?: CatalogViews | undefined;
  /** Those of the top level, or directly in a namespace, by all their levels. @throws AnalysisException `SCHEMA_NOT_FOUND`. */
  namespaces(signal?: AbortSignal, within?: readonly string[]): Promise<readonly (readonly string[])[]>;
  hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean>;
  /** @throws AnalysisException `SCHEMA_ALREADY_EXISTS`. */
  createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<void>;
  /** @throws AnalysisException `SCHEMA_NOT_FOUND`, `SCHEMA_NOT_EMPTY`. */
  dropNamespace(namespace: readonly string[], options: { readonly cascade: boolean }, signal?: AbortSignal): Promise<void>;
  tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly TableIdent[]>;
  load(ident: TableIdent, signal?: AbortSignal): Promise<QueryableTable | undefined>;
  /** @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS`, `SCHEMA_NOT_FOUND`. */
  create(ident: TableIdent, request: CatalogCreateRequest): Promise<CreateResult>;
  /** A table that refers to the files of another (shallow), under a name. @throws AnalysisException as `create`. */
  clone(ident: TableIdent, request: Omit<CloneRequest, 'target'> & { readonly location?: string | undefined }): Promise<QueryableTable>;
  /**
   * Another name for a table whose location was given; its files stay where they are.
   *
   * @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND`, `TABLE_OR_VIEW_ALREADY_EXISTS`, `SCHEMA_NOT_FOUND`, `UNSUPPORTED_FEATURE` for a
   * table whose location the catalog chose: its files would have to move.
   */
  rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<void>;
  /** A name for a table whose metadata file is there, where the catalog can. @throws AnalysisException `TABLE_OR_VIEW_ALREADY_EXISTS`. */
  register?(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<QueryableTable>;
  /** Forgets the name; the files of a table whose location the catalog chose are deleted too. False: there was none. */
  drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean>;
}
