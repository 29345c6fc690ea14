import type { FreshnessRequest, TopicFreshness } from '../admin/freshness.ts';
import type { JsonObject } from '../base/bigint-json.ts';
import type { EpochMs } from '../base/clock.ts';
import type { SourceColumns } from '../commit/audit-rows.ts';
import type { AuditLevel, TableAudit } from '../commit/audit-table.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { ReplayOutcome, ReplayReport, ReplayRequest } from '../ingest/letters/replay-letters.ts';
import type { StoredLetter } from '../ingest/letters/stored-letter.ts';
import type { HoldState } from '../maintenance/capped-holds.ts';
import type { Session } from '../session/session.ts';
import type { MaintenanceKind } from '../table/table.ts';
import type { FoundLetter, ListLettersOptions } from './commands/letter-commands.ts';
import type { PipelineFeeds } from './pipeline-feeds.ts';
import type { ReadRequest } from './read-lines.ts';

/** What a process runs. `all`: everything in one. */
export type Role = 'all' | 'ingest' | 'cdf' | 'maintenance';

export type MaintenanceVerb = MaintenanceKind;

/** What a command is given besides its own arguments. */
export interface CommandContext {
  readonly loaded: LoadedConfig;
  /** Fires at the first SIGINT or SIGTERM. `serve` drains then; the others stop. */
  readonly signal: AbortSignal;
}

export interface ServeOptions {
  readonly role: Role;
  /** Replay the sample data into the topics (only the development configuration). */
  readonly demo: boolean;
  /** With `demo`: replay, wait until everything is committed and published, and return. */
  readonly once: boolean;
  /** Records a second the demo replays; `undefined`: its own default. */
  readonly rate: number | undefined;
  /** The summary of `once` is to be one JSON line on standard output. */
  readonly json: boolean;
}

export interface TableSummary {
  readonly name: string;
  readonly format: string;
  readonly location: string;
  /** `undefined`: nothing exists at the location yet. */
  readonly version: number | undefined;
  readonly rowCount: number | undefined;
  readonly fileCount: number | undefined;
  readonly sizeBytes: number | undefined;
  readonly committedAt: EpochMs | undefined;
}

export interface ColumnSummary {
  readonly name: string;
  /** `decimal(12,2)`, as in the configuration. */
  readonly type: string;
  readonly nullable: boolean;
  readonly partition: boolean;
}

export interface TableDescription extends TableSummary {
  readonly tableId: string;
  readonly columns: readonly ColumnSummary[];
  readonly properties: Readonly<Record<string, string>>;
  readonly smallFileCount: number;
  readonly tombstoneCount: number;
  readonly versionsSinceCheckpoint: number;
  readonly progress: readonly { readonly writerId: string; readonly value: bigint }[];
}

export interface HistoryRow {
  readonly version: number;
  readonly committedAt: EpochMs;
  readonly operation: string;
  readonly addedRows: number | undefined;
  readonly addedFiles: number;
  readonly removedFiles: number;
  readonly dataChange: boolean;
  readonly engineInfo: string | undefined;
  /** The version has every record that could be read before this time in the topics it is read from; of versions of ours. */
  readonly validThrough: EpochMs | undefined;
  /** `topic/partition [from, until)` of the source this version holds, for versions of ours. */
  readonly sources: readonly string[];
}

export interface OffsetRow {
  readonly table: string;
  readonly topic: string;
  readonly partition: number;
  /** Next offset by the table, which is the truth. */
  readonly tableOffset: bigint | undefined;
  /** Next offset by the consumer group, which is a hint. */
  readonly groupOffset: bigint | undefined;
  readonly earliest: bigint | undefined;
  readonly end: bigint | undefined;
}

export interface FreshnessOptions extends FreshnessRequest {
  /** Waits so long for every table to have the record; 0: not at all. */
  readonly timeoutMs: number;
}

/** A row of `changes tail`, flat: the columns, then `_change_type`, `_commit_version`, `_commit_timestamp`. */
export type ChangeRow = JsonObject;

export interface TailOptions {
  readonly table: string;
  /** First version to print; `undefined`: with `follow` only what comes, else all there is. */
  readonly fromVersion: number | undefined;
  /** Goes on until the signal fires. */
  readonly follow: boolean;
  /** Rows to print at most. */
  readonly limit: number | undefined;
}

/** A table by its name. */
export interface NameInCatalog {
  /** The catalog, the namespaces, the table. */
  readonly parts: readonly string[];
  /** Configuration of a session that has the catalog, by key; it may hold secrets. */
  readonly conf: Readonly<Record<string, string>>;
}

/** One table, whether a configuration knows it or not. */
export interface TableRequest {
  /** For messages: the name in the configuration, or the location. */
  readonly name: string;
  /** A directory or URI, or one metadata file of an Iceberg table. Without effect where there is `inCatalog`. */
  readonly location: string;
  /** Of a table that a catalog knows. */
  readonly inCatalog?: NameInCatalog | undefined;
  /** For an Iceberg table that lies elsewhere than where it was written. */
  readonly pathMap?: readonly { readonly from: string; readonly to: string }[] | undefined;
  /** What relative locations in an Iceberg table's metadata are relative to. */
  readonly pathBase?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads one table. */
export interface ReadTableRequest extends ReadRequest, TableRequest {
  readonly what: 'rows' | 'schema' | 'history' | 'changes';
}

/** Audits one table. */
export interface AuditRequest extends TableRequest {
  readonly level: AuditLevel;
  /** Columns that hold where in the source a row is from; `undefined`: none are known. */
  readonly columns: SourceColumns | undefined;
}

export interface AuditReport extends TableAudit {
  readonly table: string;
  readonly level: AuditLevel;
}

export interface MaintainOptions {
  readonly table: string;
  readonly dryRun: boolean;
  /** Only for `vacuum` and `expire`. */
  readonly retentionMs: number | undefined;
  readonly allowShortRetention: boolean;
}

export interface MaintainReport {
  readonly table: string;
  readonly verb: MaintenanceVerb;
  /** `planned`: a dry run. */
  readonly outcome: 'done' | 'planned' | 'nothing-to-do' | 'conflicted';
  readonly version: number | undefined;
  /** What was done or would be done: counts and bytes by name. */
  readonly details: Readonly<Record<string, number>>;
  /** Files deleted or that would be; possibly shortened. */
  readonly paths: readonly string[];
  /** Of a dry run of what deletes: who has yet to read which versions, and whether they are kept. */
  readonly readers: readonly HoldState[];
}

/** What the command line asks of the application; implemented in `src/app`. All throw `ServiceError`. */
/** Which topic is looked at, and for what table. */
export interface InitRequest {
  readonly topic: string;
  readonly table: string;
  readonly format: 'delta' | 'iceberg';
  /** Records to look at, of all partitions together. */
  readonly records: number;
  /** Columns for the members of change events, not for those of their rows. */
  readonly wholeEvents: boolean;
}

/** What the registry says of one schema of a feed. */
export interface FeedSchemaCheck {
  readonly feed: string;
  readonly subject: string;
  /** Why the feed would wait; `undefined`: it would not. */
  readonly problem: string | undefined;
}

export interface AppCommands {
  /** Runs until the signal fires and everything is drained. Resolves with the exit code. */
  serve(context: CommandContext, options: ServeOptions): Promise<number>;
  /** The configuration of a pipeline for a topic, as YAML. */
  init(context: CommandContext, request: InitRequest): Promise<string>;
  /** Asks the registry about the schemas of all feeds; registers nothing. */
  checkFeedSchemas(context: CommandContext): Promise<readonly FeedSchemaCheck[]>;
  listTables(context: CommandContext): Promise<readonly TableSummary[]>;
  describeTable(context: CommandContext, table: string): Promise<TableDescription>;
  /** Newest first. */
  history(context: CommandContext, options: { readonly table: string; readonly limit: number }): Promise<readonly HistoryRow[]>;
  offsets(context: CommandContext): Promise<readonly OffsetRow[]>;
  /** Where a record is in the tables that its topic feeds. Starts no server; without a broker the tables alone answer. */
  freshness(context: CommandContext, request: FreshnessOptions): Promise<TopicFreshness>;
  /** Calls `onLine` in order and waits for it. */
  readTable(request: ReadTableRequest, onLine: (line: string) => Promise<void>): Promise<void>;
  /** Calls `onRow` in order and waits for it. */
  tailChanges(context: CommandContext, options: TailOptions, onRow: (row: ChangeRow) => Promise<void>): Promise<void>;
  maintain(context: CommandContext, verb: MaintenanceVerb, options: MaintainOptions): Promise<MaintainReport>;
  /** A session for SQL with configuration by key; to be stopped by the caller. Needs no configuration file. */
  openSession(config: Readonly<Record<string, string>>): Session;
  /** Calls `use` with the feeds of the pipeline. */
  operateFeeds<T>(context: CommandContext, use: (feeds: PipelineFeeds, signal: AbortSignal) => Promise<T>): Promise<T>;
  audit(request: AuditRequest): Promise<AuditReport>;
  /** Calls `onLetter` in order and waits for it. */
  listLetters(context: CommandContext, options: ListLettersOptions, onLetter: (found: FoundLetter) => Promise<void>): Promise<void>;
  /** The letter at a place of the dead-letter topic. */
  showLetter(context: CommandContext, at: { readonly partition: number; readonly offset: bigint }): Promise<FoundLetter>;
  /** Replays letters into their tables. Calls `onOutcome` in order and waits for it. */
  replayLetters(
    context: CommandContext,
    request: ReplayRequest,
    onOutcome: (letter: StoredLetter, outcome: ReplayOutcome) => Promise<void>,
  ): Promise<ReplayReport>;
}
