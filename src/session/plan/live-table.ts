import type { Engine, HeldRelation } from '../../engine/engine.ts';

/** A table of a pipeline with what its topics hold behind it. */
export interface LiveSource {
  /** A catalog of the session, or files of a pipeline's configuration. */
  readonly pipeline: { readonly kind: 'catalog'; readonly name: string } | { readonly kind: 'config'; readonly files: readonly string[] };
  readonly table: string;
  /** What was read of the topics, in place of the rows. */
  readonly tail: boolean;
  /** Bytes of the topics to read at most, as fetched. Default: the catalog's, else 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** Default: the catalog's, else 30 seconds. */
  readonly timeoutMs?: number | undefined;
}

/** Reads tables of pipelines as of the moment of the read. */
export interface LiveTables {
  /** Whether names that begin so are of a pipeline. */
  has(catalog: string): boolean;
  /** The relation is the caller's to dispose. */
  open(source: LiveSource, use: { readonly engine: Engine; readonly signal: AbortSignal | undefined }): Promise<HeldRelation>;
}
