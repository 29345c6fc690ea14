import type { Expression } from '../expr/expression.ts';
import type { TimeZone } from '../expr/time-zone.ts';
import type { Relation } from './relation.ts';
import type { Version } from './version.ts';

/** What every write may carry. */
export interface CommitOptions {
  /** Free text kept in the history. */
  readonly userMetadata?: string | undefined;
  /** Writes once: a table that already has this version (or a later one) of the application is left as it is. */
  readonly idempotency?: { readonly appId: string; readonly version: bigint } | undefined;
  /** Kept with the version where the format has a place for it: Iceberg's snapshot summary. */
  readonly summary?: Readonly<Record<string, string>> | undefined;
  /** Zone of local times, where values are converted and where expressions of the table are evaluated. Default: UTC. */
  readonly zone?: TimeZone | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What of the table a write replaces. */
export type WriteMode =
  | { readonly kind: 'append' }
  /** All rows, or the rows of `replaceWhere`, which all written rows must satisfy. */
  | { readonly kind: 'overwrite'; readonly replaceWhere?: Expression | undefined }
  /** The partitions that the written rows have. */
  | { readonly kind: 'overwrite-partitions' };

/** Whether and how small files are compacted after a commit. What is left out is the table's or the default. */
export interface AutoCompactSettings {
  readonly enabled?: boolean | undefined;
  /** A partition is compacted when it has so many small files. Default 50. */
  readonly minNumFiles?: number | undefined;
  /** Files it aims at; those below half of it are small. Default 128 MiB. */
  readonly maxFileBytes?: number | undefined;
}

export interface WriteRequest extends CommitOptions {
  readonly rows: Relation;
  /** The newest versions of tables that the rows were computed from, by the tables' ids: rows of the table itself must still be all there are. */
  readonly readVersions?: ReadonlyMap<string, Version> | undefined;
  readonly mode: WriteMode;
  /** Columns by name (default) or by place, as INSERT without a column list does. Missing columns are null, their default, or generated. */
  readonly matchBy?: 'name' | 'position' | undefined;
  /** Values are cast to the table's types by the rules of SQL INSERT (overflow and malformed text are errors); otherwise types must fit. */
  readonly storeAssignment?: boolean | undefined;
  /**
   * What an INSERT says of the members of structs: nothing (default), that its columns are listed, or that they go by name. Formats decide
   * what follows.
   */
  readonly structs?: 'listed' | 'by-name' | undefined;
  /** Adds columns the table lacks. */
  readonly mergeSchema?: boolean | undefined;
  /** Replaces schema and partitioning; only with mode `overwrite` without `replaceWhere`, otherwise without effect. */
  readonly overwriteSchema?: boolean | undefined;
  /** Must be the table's when given, except with `overwriteSchema`. */
  readonly partitionBy?: readonly string[] | undefined;
  /** Few, large files for each partition. Default: the table's `delta.autoOptimize.optimizeWrite`. */
  readonly optimizeWrite?: boolean | undefined;
  /** What files of an optimized write aim at. Default 512 MiB. */
  readonly optimizedFileBytes?: number | undefined;
  /** Format of the data files, where the table's format leaves the choice. Default: the table's `write.format.default`. */
  readonly fileFormat?: string | undefined;
  /** Default: the table's `delta.autoOptimize.autoCompact`. */
  readonly autoCompact?: AutoCompactSettings | undefined;
  /** Name for the history; default `WRITE`. */
  readonly operation?: string | undefined;
}

export interface WriteResult {
  /** `undefined`: nothing was committed, because the idempotency mark was there or nothing changed. */
  readonly version: Version | undefined;
  readonly rowCount: number;
  readonly fileCount: number;
  readonly sizeBytes: number;
}

/** A column (or a member of a struct column: several parts) and its new value. */
export interface Assignment {
  readonly target: readonly string[];
  readonly value: Expression;
}

/**
 * Rows that a query chose: their file (`_file`) and place in it (`_pos`) in a snapshot of the table, then the new values of an UPDATE in the
 * order of its assignments. `snapshotId`: the snapshot the operation works on; `undefined`: the table is empty.
 */
export type FindPlaces = (snapshotId: bigint | undefined) => Promise<Relation>;

export interface DeleteRequest extends CommitOptions {
  /** Default: all rows. */
  readonly condition?: Expression | undefined;
  /** Name the condition may qualify columns with. */
  readonly alias?: string | undefined;
  /** In place of a condition. */
  readonly places?: FindPlaces | undefined;
}

export interface UpdateRequest extends CommitOptions {
  readonly condition?: Expression | undefined;
  readonly assignments: readonly Assignment[];
  readonly alias?: string | undefined;
  /** In place of a condition and of the assignments' values. */
  readonly places?: FindPlaces | undefined;
}

export type MergeClause =
  | {
      readonly on: 'matched';
      readonly action: 'update';
      readonly condition?: Expression | undefined;
      /** `all`: every column from the source column of the same name. */
      readonly assignments: readonly Assignment[] | 'all';
    }
  | { readonly on: 'matched'; readonly action: 'delete'; readonly condition?: Expression | undefined }
  | {
      readonly on: 'not-matched';
      readonly action: 'insert';
      readonly condition?: Expression | undefined;
      readonly values: readonly Assignment[] | 'all';
    }
  | {
      readonly on: 'not-matched-by-source';
      readonly action: 'update';
      readonly condition?: Expression | undefined;
      readonly assignments: readonly Assignment[];
    }
  | { readonly on: 'not-matched-by-source'; readonly action: 'delete'; readonly condition?: Expression | undefined };

export interface MergeRequest extends CommitOptions {
  readonly source: Relation;
  /** Names by which conditions and values tell the sides apart. */
  readonly targetAlias: string | undefined;
  readonly sourceAlias: string | undefined;
  readonly condition: Expression;
  readonly clauses: readonly MergeClause[];
  /** Which condition asks a query, such as `search condition`: no table takes that, each has its own name for it. */
  readonly asks?: string | undefined;
  /** Adds source columns that `all` clauses mention and the table lacks. */
  readonly schemaEvolution?: boolean | undefined;
}

/** Rows touched by an UPDATE, DELETE or MERGE. */
export interface RowOperationResult {
  /** `undefined`: no row was concerned and nothing was committed. */
  readonly version: Version | undefined;
  readonly affectedRows: bigint;
  readonly updatedRows: bigint;
  readonly deletedRows: bigint;
  readonly insertedRows: bigint;
}

export interface OptimizeRequest extends CommitOptions {
  /** Over partition columns only. */
  readonly where?: Expression | undefined;
  /** Columns to cluster by along a Z-order curve; empty: bin packing. */
  readonly zOrderBy?: readonly string[] | undefined;
  /** Clusters files anew that were clustered by other columns than the table's present ones; only for clustered tables. */
  readonly full?: boolean | undefined;
  /** Default: the table's `delta.targetFileSize`, else 1 GiB. */
  readonly targetFileBytes?: number | undefined;
  /** Smaller files are packed. Default: all below the target. */
  readonly minFileBytes?: number | undefined;
  /** `purge`: rewrites files with deletion vectors whatever their size (REORG TABLE … APPLY (PURGE)). */
  readonly purge?: boolean | undefined;
}

/** Numbers of one side of a rewrite; `min`, `max` and `avg` in bytes, undefined without files. */
export interface FileSizeMetrics {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly avg: number;
  readonly totalFiles: number;
  readonly totalSize: number;
}

/** What an OPTIMIZE of a clustered table looked at and made; a cube is what was clustered together. */
export interface ClusteringMetrics {
  readonly cubeFiles: { readonly numFiles: number; readonly size: number };
  readonly otherFiles: { readonly numFiles: number; readonly size: number };
  readonly cubes: number;
  readonly mergedFiles: { readonly numFiles: number; readonly size: number };
  readonly outputCubes: number;
}

export interface OptimizeResult {
  /** `undefined`: there was nothing to do. */
  readonly version: Version | undefined;
  readonly filesAdded: FileSizeMetrics;
  readonly filesRemoved: FileSizeMetrics;
  /** Of the files removed. */
  readonly deletionVectorsRemoved: number;
  /** Rows that these marked as deleted. */
  readonly deletionVectorRowsRemoved: number;
  readonly partitionsOptimized: number;
  readonly filesConsidered: number;
  readonly filesSkipped: number;
  readonly bins: number;
  /** Only of clustered tables. */
  readonly clustering?: ClusteringMetrics | undefined;
}

export interface RestoreOptions extends CommitOptions {
  /** Restores although files of the version are gone; reading them fails. Default: such a restore is refused. */
  readonly ignoreMissingFiles?: boolean | undefined;
}

export interface RestoreResult {
  readonly version: Version;
  readonly tableSizeAfterRestore: number;
  readonly numOfFilesAfterRestore: number;
  readonly numRemovedFiles: number;
  readonly numRestoredFiles: number;
  readonly removedFilesSize: number;
  readonly restoredFilesSize: number;
}

/** A file that stands for the commits `from` to `until`, both included. */
export interface LogSummary {
  readonly from: Version;
  readonly until: Version;
  /** False: it was there. */
  readonly written: boolean;
}

/** Changes of rows and files, each one version (or none). Errors are `AnalysisException` (refused) or kind `conflict` (somebody else was first). */
export interface RowOperations {
  write(request: WriteRequest): Promise<WriteResult>;
  delete(request: DeleteRequest): Promise<RowOperationResult>;
  update(request: UpdateRequest): Promise<RowOperationResult>;
  merge(request: MergeRequest): Promise<RowOperationResult>;
  optimize(request: OptimizeRequest): Promise<OptimizeResult>;
  /** `timestamp`: the time the version was found by, as the caller wrote it, for the history. */
  restore(to: { readonly version: Version; readonly timestamp?: string | undefined }, options?: RestoreOptions): Promise<RestoreResult>;
  /** TRUNCATE: removes all rows by removing all files. */
  truncate(options?: CommitOptions): Promise<RowOperationResult>;
  /**
   * GENERATE symlink_format_manifest: one text file for each partition that names the table's files, for engines that cannot read the log.
   * @throws AnalysisException `DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS`, `DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING`.
   */
  generateManifest(signal?: AbortSignal): Promise<void>;
  /**
   * Summarises the commits since the newest log checkpoint in files that readers may take in their place, where the format has such files.
   * Nothing of the table changes, no version is made.
   */
  compactLog?(signal?: AbortSignal): Promise<readonly LogSummary[]>;
}
