import type { EpochMs } from '../base/clock.ts';
import type { Literal } from '../expr/expression.ts';
import type { ColumnIds } from '../schema/column-ids.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangesRequest, HeldChanges, SnapshotRows } from './changes.ts';
import type { AppendIntent, CommitId, CommitOutcome } from './commit.ts';
import type { DefinitionChange, DefinitionOperations, TableDetail } from './definition-changes.ts';
import type { TableFormat } from './formats.ts';
import type { HiddenColumn } from './hidden-columns.ts';
import type { TriedUpsert, UpsertIntent } from './keyed.ts';
import type {
  CompactionPlan,
  CompactionResult,
  CompactionRule,
  HealthRequest,
  TableHealth,
  UpkeepRequest,
  UpkeepResult,
  VacuumOptions,
  VacuumResult,
} from './operations.ts';
import type { PartitionFieldDefinition } from './partitioning/transform.ts';
import type { WriteOrderKey } from './partitioning/write-order.ts';
import type { ChangelogRequest, MetadataTable, Procedure, SnapshotPoint } from './queries.ts';
import type { ReaderNote } from './reader-notes.ts';
import type { HeldRelation } from './relation.ts';
import type { CommitOptions, RowOperations } from './row-operations.ts';
import type { ChangeScan, FileScan, ScanRequest } from './scan.ts';
import type { WriteSpec } from './staged-file.ts';
import type { StreamOptions, StreamSource } from './stream.ts';
import type { ExtentColumn, TableExtent } from './table-extent.ts';
import type { TableObject } from './table-object.ts';
import type { LeaderTable, TwinTable } from './twin.ts';
import type { Version } from './version.ts';

export type MaintenanceKind = 'compact' | 'vacuum' | 'checkpoint' | 'expire' | 'rewrite-manifests' | 'rewrite-deletes';

/** What a table can do. Services ask this, never which format it is. */
export interface Capabilities {
  readonly changeFeed: 'recorded' | 'inferred' | 'none';
  readonly rowLevel: 'copy-on-write' | 'deletion-vectors' | 'none';
  readonly maintenance: readonly MaintenanceKind[];
  /** `saveAsTable` with mode overwrite replaces the table, its schema and partitioning too; otherwise its rows. */
  readonly overwriteReplaces?: boolean | undefined;
  /** Why the table must not have two writers at once; `undefined`: it may. */
  readonly singleWriterOnly?: string | undefined;
}

/** An immutable view of one version, held in memory and refreshed incrementally. */
export interface Snapshot {
  /** Identity of the table, the same for all its versions; a replaced table has another. */
  readonly tableId: string;
  readonly version: Version;
  /** Where the format names its versions otherwise: Iceberg's snapshot id. */
  readonly snapshotId?: bigint | undefined;
  readonly committedAt: EpochMs;
  readonly schema: StructType;
  /** What a column gets that is written without a value, where the format keeps it as a value; of others: null, or what the schema says. */
  readonly columnDefaults?: ReadonlyMap<string, Literal> | undefined;
  /** Source columns of the partitioning that rows written from now on follow. */
  readonly partitionColumns: readonly string[];
  /** Where `partitionColumns` does not say it: a partitioning by transforms. */
  readonly partitioned?: boolean | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Rows by the files' statistics; `undefined` when a file has none. */
  readonly rowCount: number | undefined;
  /** The writer's stored progress. */
  progressOf(writerId: string): bigint | undefined;
  /** All marks whose writer id starts with `prefix`. */
  progressStartingWith(prefix: string): ReadonlyMap<string, bigint>;
}

/** One version as the history shows it, newest first. */
export interface HistoryEntry {
  readonly version: Version;
  readonly committedAt: EpochMs;
  readonly operation: string;
  /** As text; what is no text in the log is its JSON. `undefined` is null. */
  readonly operationParameters: Readonly<Record<string, string | undefined>>;
  readonly operationMetrics: Readonly<Record<string, string>>;
  readonly userMetadata: string | undefined;
  readonly engineInfo: string | undefined;
  /** The version the writer had read. */
  readonly readVersion?: number | undefined;
  readonly isolationLevel?: string | undefined;
  readonly isBlindAppend?: boolean | undefined;
  /** Who wrote it and by what; only managed platforms say so. `job` and `notebook` as JSON text. */
  readonly userId?: string | undefined;
  readonly userName?: string | undefined;
  readonly clusterId?: string | undefined;
  readonly job?: string | undefined;
  readonly notebook?: string | undefined;
  /** Progress marks this version stored. */
  readonly progress: ReadonlyMap<string, bigint>;
  readonly addedFiles: number;
  readonly removedFiles: number;
  /** Rows in the added files, when all have statistics. */
  readonly addedRows: number | undefined;
  /** By how many rows the table grew (or shrank: negative), deleted and marked ones taken off; `undefined` when the version does not tell. */
  readonly netRows?: number | undefined;
  /** False for maintenance: the rows of the table are the same before and after. */
  readonly dataChange: boolean;
}

/** Which versions of a history: both ends included, and of those the newest `limit`. */
export interface HistoryRange {
  readonly limit?: number | undefined;
  readonly fromVersion?: Version | undefined;
  /** Default: the newest. */
  readonly untilVersion?: Version | undefined;
}

/** A version in the order of its history. */
export interface HistoryLink extends HistoryEntry {
  /** The version it follows, which the history may have no more; `undefined`: it is the table's first. */
  readonly previous: Version | undefined;
}

export interface TableDefinition {
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  /** Partitioning by transforms, in place of `partitionColumns`, where the format has them. */
  readonly partitioning?: readonly PartitionFieldDefinition[] | undefined;
  /** Ids that columns get, where the format has them and these name it: those of a table before it. */
  readonly columnIds?: ColumnIds | undefined;
  /** Columns that tell rows apart. Default: none. */
  readonly identifierColumns?: readonly string[] | undefined;
  /** The order that files are to be written in, where the format keeps one. Default: none. */
  readonly sortOrder?: readonly WriteOrderKey[] | undefined;
  /** The format's own. */
  readonly properties: Readonly<Record<string, string>>;
}

/** What every user of a table needs. */
export interface OpenTable {
  readonly name: string;
  readonly format: TableFormat;
  readonly location: string;
  readonly capabilities: Capabilities;
  /** The newest version. Incremental: reads only versions newer than the last one seen. */
  refresh(signal?: AbortSignal): Promise<Snapshot>;
}

/** What feeds and audits read: versions one by one, and what each changed. */
export interface ReadableTable extends OpenTable {
  /** @throws AnalysisException (kind not-found) naming the available range. */
  snapshotAt(version: Version, signal?: AbortSignal): Promise<Snapshot>;
  /** Newest first. */
  history(options: HistoryRange, signal?: AbortSignal): Promise<readonly HistoryLink[]>;
  /**
   * The changes of exactly one version; none for a version that is not, or not any more, one of the table's.
   * @throws ServiceError `CDF_GAP` (kind not-found) when the log or a needed file is gone, `CDF_NOT_ENABLED` (kind invalid) when the feed
   * is off at that version, `CDF_UNSUPPORTED` (kind unsupported) naming the feature.
   */
  changesOf(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<HeldChanges>;
  rowsAt(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<SnapshotRows>;
  /** `VersionLink.id` of the version that has the number now; `undefined`: its commit is gone. Absent: the links of `history` tell as much. */
  linkAt?(version: Version, signal?: AbortSignal): Promise<string | undefined>;
}

/** What appends of staged files need. */
export interface AppendableTable extends OpenTable {
  writeSpec(snapshot: Snapshot): WriteSpec;
  /** One attempt at the version after `base`. Does not retry, rebase or verify: `commit/` owns the state machine. */
  tryAppend(base: Snapshot, intent: AppendIntent, signal?: AbortSignal): Promise<CommitOutcome>;
  /** The version after `afterVersion` that this commit id created, if it is in the log. */
  findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined>;
  /** Work a commit leaves behind; best effort, never throws, off the commit path. */
  afterCommit(version: Version, signal?: AbortSignal): Promise<void>;
}

/** What a table that has one row for each key needs. */
export interface KeyedTable {
  /**
   * One attempt at the version after `base`, in which each key of the intent has its staged row, or none, and all others have theirs. The rows
   * of the keys are looked up in `base` anew for each attempt. Does not retry, rebase or verify; what a lost attempt wrote is deleted, the staged
   * files stay.
   *
   * @throws what `tryAppend` of the table throws, and the errors of the engine.
   */
  tryUpsert(base: Snapshot, intent: UpsertIntent, signal?: AbortSignal): Promise<TriedUpsert>;
  /** Some keys that more than one row of the snapshot has, as text, at most `limit`. */
  repeatedKeys(snapshot: Snapshot, keyColumns: readonly string[], limit: number, signal?: AbortSignal): Promise<readonly string[]>;
  /**
   * Deletes all rows of each key but the last, in one version: by the order columns; of equal rows the one in the file that was added last, and there
   * the one furthest back. Says how many it deleted.
   *
   * @throws errors of kind `conflict` when others change the table meanwhile.
   */
  keepLastRows(keyColumns: readonly string[], orderColumns: readonly string[], options: CommitOptions): Promise<bigint>;
}

/** What maintenance looks at and does. */
export interface MaintainedTable extends OpenTable {
  health(request: HealthRequest, signal?: AbortSignal): Promise<TableHealth>;
  /** Not empty exactly when health, asked by the same rule at the same version, says that there is something to compact. */
  planCompaction(rule: CompactionRule, signal?: AbortSignal): Promise<CompactionPlan>;
  /** Rewrites the plan's groups and commits them in one version. A conflict is a result (`conflicted`), not an error. */
  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult>;
  vacuum(options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult>;
  /** The kinds of `capabilities.maintenance` that no other method does. */
  maintain?(request: UpkeepRequest, signal?: AbortSignal): Promise<UpkeepResult>;
  /** Summarises the newest version for those who open the table, if that is not done yet, and cleans up what has expired of its history. */
  checkpoint(
    options: { readonly dryRun: boolean; readonly keepVersionsFrom?: Version | undefined },
    signal?: AbortSignal,
  ): Promise<{ readonly version: Version; readonly written: boolean }>;
  /** Notes beside the table who still reads its changes from where on. Whatever deletes of the table, in any process of this product, keeps that. */
  noteReaders(note: ReaderNote, signal?: AbortSignal): Promise<void>;
  /** Bytes of files that only readers of changes from the version on keep: by the table's own retention they would be gone, or may go any time. */
  heldBytes(fromVersion: Version, signal?: AbortSignal): Promise<number>;
}

/** One table, for all that a pipeline does with it. */
export interface Table extends ReadableTable, AppendableTable, KeyedTable, MaintainedTable {
  /** What the table is, beside its columns. */
  detail(signal?: AbortSignal): Promise<TableDetail>;
  /** Changes of its columns and the like. */
  readonly operations: DefinitionOperations;
  /** For a format whose files tables of another one can share. */
  readonly leader?: LeaderTable | undefined;
  /** For a format that can follow a table of another one. */
  readonly twin?: TwinTable | undefined;
}

/** Where writes wait until they are published. */
export interface AuditSettings {
  readonly branch?: string | undefined;
  readonly id?: string | undefined;
}

/** A table that also answers queries and takes row operations, through the embedded engine. */
export interface QueryableTable extends Table {
  /**
   * The snapshot a read names.
   * @throws AnalysisException when there is none, naming the range of those that are.
   */
  findSnapshot(point: SnapshotPoint, signal?: AbortSignal): Promise<Snapshot>;
  /** How long the files of versions before the newest are kept at least, in milliseconds; default: for as long as the table names them. */
  keptMs?(newest: Snapshot): number;
  /** The versions the table still knows of, oldest first, up to and with `snapshot`'s; one at a time, however many there are. */
  versions(snapshot: Snapshot, signal?: AbortSignal): AsyncIterable<HistoryLink>;
  /**
   * The objects a snapshot is made of, one at a time, each named before what it leads to is read: what cannot be read ends its own
   * branch only.
   */
  objects(snapshot: Snapshot, signal?: AbortSignal): AsyncIterable<TableObject>;
  /** Names of the tables about the table, in lower case: `snapshots`, `files`, … */
  readonly metadataTables: readonly string[];
  /** @throws AnalysisException for a name that is not among `metadataTables`. */
  metadataTable(name: string, at: SnapshotPoint | undefined, signal?: AbortSignal): Promise<MetadataTable>;
  /** The table as a branch has it: reads and writes are the branch's. `undefined`: the format has no branches. */
  onBranch?(name: string): QueryableTable;
  /**
   * The table as write-audit-publish has it: writes wait on a branch or under an id, where the table wants that (`write.wap.enabled`);
   * reads are those of the branch as soon as it is there. The table itself where it does not. `undefined`: the format has no such thing.
   *
   * @throws AnalysisException for a branch and an id together.
   */
  audited?(audit: AuditSettings, signal?: AbortSignal): Promise<QueryableTable>;
  /** What `CALL system.…` can run on the table. */
  readonly procedures: readonly Procedure[];
  /**
   * The row changes of a range as rows of the engine, with the columns of `create_changelog_view`, where the format computes them from
   * snapshots; `undefined`: `changeScans` has them.
   */
  changelog?(request: ChangelogRequest, signal?: AbortSignal): Promise<HeldRelation>;
  /** The version in force at a time: the newest one committed at or before it. @throws AnalysisException when the time is outside the table's history. */
  versionAt(timestampMs: number, signal?: AbortSignal): Promise<Version>;
  /**
   * The table at `base` as a change of its definition would leave it, with the same rows; `base` where nothing changes. Nothing is written, and only
   * the process that asked has it.
   *
   * @throws as `operations.alter`, but for what only a commit finds out.
   */
  preview(base: Snapshot, change: DefinitionChange, signal?: AbortSignal): Promise<Snapshot>;
  /** Columns that queries may name beside those of the schema, which hide them where names are the same. */
  hiddenColumns(snapshot: Snapshot): readonly HiddenColumn[];
  /** What metadata alone tells of all rows of a snapshot; `undefined` when only the rows can tell. */
  extent(snapshot: Snapshot, columns: readonly ExtentColumn[], signal?: AbortSignal): Promise<TableExtent | undefined>;
  /** The files of a snapshot that may hold rows of the filter. */
  scan(snapshot: Snapshot, request?: ScanRequest, signal?: AbortSignal): Promise<FileScan>;
  /**
   * The row changes of versions `from` to `until`, both included, in order, rows in the schema of `until`.
   * @throws AnalysisException for a range that the table has not, changes that were not kept, and schemas that do not go together.
   */
  changeScans(range: { readonly from: Version; readonly until: Version }, signal?: AbortSignal): AsyncIterable<ChangeScan>;
  /** The table as a stream of rows or row changes. */
  openStream(options: StreamOptions, signal?: AbortSignal): Promise<StreamSource>;
  /** @throws AnalysisException when there is no engine. */
  readonly operations: RowOperations & DefinitionOperations;
}

/** Names to tables. */
export interface TableCatalog {
  readonly names: readonly string[];
  /** @throws ServiceError `TABLE_NOT_FOUND` when the catalog has no such name or nothing exists at its location. */
  load(name: string, signal?: AbortSignal): Promise<QueryableTable>;
  /** Opens the table, creating it first when nothing exists at its location. `definition`: in place of the catalog's. */
  loadOrCreate(name: string, signal?: AbortSignal, definition?: TableDefinition): Promise<QueryableTable>;
}
