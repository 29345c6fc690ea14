import type { ViewMetadata } from '../iceberg/view/view-metadata.ts';
import type { ViewUpdate } from '../iceberg/view/view-updates.ts';
import type { NameChange, TableIdent } from '../table/table-ident.ts';

/** A view as it was found. */
export interface LoadedView {
  readonly metadata: ViewMetadata;
  readonly metadataLocation: string | undefined;
}

/**
 * The views among the names of one Iceberg catalog: rows of a database (`sql/`) and a REST server's (`rest/`). None repeats a change.
 *
 * Guarantees (test/conformance/iceberg-views.ts): of any number of racing changes of one base, at most one is done; what was done, the next
 * `load` sees; a name is that of a table or of a view. An error of kind unknown-outcome: the change may have been made.
 */
export interface IcebergViewNames {
  /** Views directly in a namespace; `undefined`: there is no such namespace. None where the catalog keeps no views. */
  views(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined>;
  load(ident: TableIdent, signal?: AbortSignal): Promise<LoadedView | undefined>;
  /** Where a view goes when nobody says another place; `undefined`: the catalog chooses when it is made. */
  locationOf(ident: TableIdent, signal?: AbortSignal): Promise<string | undefined>;
  /** `exists`: there is a table or a view. @throws AnalysisException `SCHEMA_NOT_FOUND`. */
  create(ident: TableIdent, view: ViewMetadata, options: { readonly placed: boolean }, signal?: AbortSignal): Promise<'done' | 'exists'>;
  /** False: the view is not what it was, or gone. */
  change(ident: TableIdent, base: LoadedView, updates: readonly ViewUpdate[], signal?: AbortSignal): Promise<boolean>;
  /** @throws AnalysisException `SCHEMA_NOT_FOUND` of the target. */
  rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange>;
  /** False: there was none. */
  drop(ident: TableIdent, signal?: AbortSignal): Promise<boolean>;
}
