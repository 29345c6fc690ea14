import type { StorageGrant } from '../../base/storage-settings.ts';
import type { StagedFiles } from '../../table/staged-presence.ts';
import type { MetadataRequirement, MetadataUpdate } from '../metadata/metadata-updates.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';

/** Metadata as it was found, with the place it was read from. */
export interface LoadedMetadata {
  readonly metadata: TableMetadata;
  /** Location of the metadata file. A table that is staged and not committed has none. */
  readonly metadataLocation: string | undefined;
}

export interface MetadataChange {
  readonly requirements: readonly MetadataRequirement[];
  readonly updates: readonly MetadataUpdate[];
  /**
   * Looks whether what the change builds on and refers to is there: a pointer asks as the last thing before the write that makes it live, and
   * names what it has written for it. An answer ends the swap so; thrown, nothing was changed.
   */
  readonly prove?: ((written?: StagedFiles) => Promise<SwapConflict | undefined>) | undefined;
}

/** Somebody else was first: load again, check again, try again. Nothing of the attempt is referred to. */
export interface SwapConflict {
  readonly kind: 'conflicted';
  readonly reason: string;
}

/** How one attempt to swap a table's metadata ended. */
export type SwapOutcome =
  | { readonly kind: 'committed'; readonly loaded: LoadedMetadata }
  | SwapConflict
  /** It may have landed. Look for what was committed; delete nothing. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * Where a table's newest metadata is and how another takes its place: one table of one catalog. Adapters: a file-system table
 * (`pointer/`), a row of an SQL catalog and a REST catalog's table (`catalog/`). None retries a swap.
 *
 * Guarantees (test/conformance/table-pointer.ts): of any number of racing swaps of one base, at most one is committed; what a swap
 * committed, the next `load` sees; a conflicted swap changed nothing.
 */
export interface TablePointer {
  /** The table's full name, for messages and for the display. */
  readonly name: string;
  /** Why tables of this catalog must not have two writers at once; `undefined`: they may. */
  readonly singleWriterOnly: string | undefined;
  /** A swap finds out by itself that the base's metadata file is gone. Default: it does not. */
  readonly looksAtBase?: boolean | undefined;
  /**
   * Settings for the table's files that the catalog hands out, such as storage credentials, of a table that is about to be made too. Known from the
   * first `load` on, and renewed for as long as the pointer is in use.
   */
  readonly fileSettings?: StorageGrant | undefined;
  /**
   * Directories that are the table's as its catalog knows it, whatever the metadata names: files are deleted only there, and where the caller
   * allows it.
   */
  ownPlaces(loaded: LoadedMetadata): readonly string[];
  /** The newest metadata; `undefined`: there is no such table. `known`: what the caller has, returned as it is when it is still the newest. */
  load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined>;
  /** One attempt. `base` undefined: creates the table. */
  swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome>;
}
