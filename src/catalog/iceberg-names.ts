import type { TablePointer } from '../iceberg/pointer/table-pointer.ts';
import type { NameChange, TableIdent } from '../table/table-ident.ts';
import type { IcebergViewNames } from './iceberg-view-names.ts';

/**
 * The names of one Iceberg catalog: where its kinds differ. Adapters: directories (`hadoop/`), rows of a database (`sql/`), a REST server
 * (`rest/`). Test: test/conformance/iceberg-catalog.ts.
 */
export interface IcebergNames {
  /** Those directly in a namespace (`[]`: of the top level), by all their levels; `undefined`: there is no such namespace. */
  namespaces(within: readonly string[], signal?: AbortSignal): Promise<readonly (readonly string[])[] | undefined>;
  hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean>;
  /** False: it was there. */
  createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean>;
  dropNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<'dropped' | 'absent' | 'not-empty'>;
  /** Tables directly in a namespace; `undefined`: there is no such namespace. */
  tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined>;
  /** Of a table that need not be there. Opens nothing. @throws AnalysisException `INVALID_SCHEMA_OR_RELATION_NAME`. */
  pointer(ident: TableIdent): TablePointer;
  /**
   * Where a table is to be made. `wanted`: the user's choice.
   *
   * @throws AnalysisException `SCHEMA_NOT_FOUND` where tables need a namespace, `UNSUPPORTED_FEATURE` where the catalog must choose.
   */
  locationOf(ident: TableIdent, wanted: string | undefined, signal?: AbortSignal): Promise<string>;
  /** Without it tables keep their names. @throws AnalysisException `SCHEMA_NOT_FOUND` of the target. */
  rename?(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange>;
  /** False: there was none. `purge`: deletes the files too, all that its metadata refers to. */
  drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean>;
  /** A name for a table whose metadata file is there. `absent`: no such file. @throws AnalysisException `INVALID_ARGUMENT` for a directory. */
  register(ident: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<NameChange>;
  /** Without it the catalog keeps no views. */
  readonly views?: IcebergViewNames | undefined;
  close(): Promise<void>;
}
