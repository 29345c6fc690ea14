import { AnalysisException } from '../base/analysis-exception.ts';
import type { Clock } from '../base/clock.ts';
import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { OpenEngine } from '../engine/engine.ts';
import { engineNotAvailable } from '../engine/engine-not-available.ts';
import { keepLastRows } from '../rows/keyed/keep-last-rows.ts';
import { repeatedKeys } from '../rows/keyed/repeated-keys.ts';
import { upsertRows } from '../rows/keyed/upsert-rows.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { ChangesRequest, HeldChanges, SnapshotRows } from '../table/changes.ts';
import type { AppendIntent, CommitId, CommitOutcome } from '../table/commit.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { DefinitionChange, DefinitionOperations, TableDetail } from '../table/definition-changes.ts';
import type { HiddenColumn } from '../table/hidden-columns.ts';
import type { TriedUpsert, UpsertIntent } from '../table/keyed.ts';
import type {
  CompactionPlan,
  CompactionResult,
  CompactionRule,
  FileRewriter,
  HealthRequest,
  TableHealth,
  VacuumOptions,
  VacuumResult,
} from '../table/operations.ts';
import type { MetadataTable, Procedure, SnapshotPoint } from '../table/queries.ts';
import { putReaderNote, type ReaderNote } from '../table/reader-notes.ts';
import type { CommitOptions, RowOperations } from '../table/row-operations.ts';
import type { ChangeScan, FileScan, ScanRequest } from '../table/scan.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { StreamOptions, StreamSource } from '../table/stream.ts';
import type { Capabilities, HistoryLink, HistoryRange, QueryableTable, Snapshot } from '../table/table.ts';
import type { ExtentColumn, TableExtent } from '../table/table-extent.ts';
import { tableNotFound } from '../table/table-names.ts';
import type { TableObject } from '../table/table-object.ts';
import type { Version } from '../table/version.ts';
import { ChangeReader } from './changes/change-reader.ts';
import { changeScans } from './changes/change-scans.ts';
import { previewChange } from './definition/alter.ts';
import { addFileOf, DeltaCommitter } from './delta-committer.ts';
import type { DeltaLog } from './delta-log.ts';
import { deltaOperations } from './delta-operations.ts';
import { asDeltaSnapshot, type DeltaSnapshot } from './delta-snapshot.ts';
import { type TablePlace, tablePlace } from './files/table-place.ts';
import { findSnapshot } from './find-snapshot.ts';
import { historyOf, versionsOf } from './history.ts';
import { DeltaLeader } from './leader/delta-leader.ts';
import { twinNoteOf } from './leader/twin-note.ts';
import { readCheckpointHint } from './log/last-checkpoint.ts';
import { commitDigest } from './log/read-commit.ts';
import { LogUpkeep } from './log-upkeep.ts';
import type { CommittedChange, OperationContext } from './operations/operation-context.ts';
import { autoCompact } from './operations/optimize/auto-compact.ts';
import { compact } from './operations/optimize/compact.ts';
import { planCompaction } from './operations/optimize/plan-compaction.ts';
import { tableHealth } from './operations/table-health.ts';
import { heldBytes } from './operations/vacuum/held-bytes.ts';
import { vacuum } from './operations/vacuum/vacuum.ts';
import { lastVacuumAt } from './operations/vacuum/vacuum-lite.ts';
import { openDeltaRows, openDeltaUpsert } from './row-level/delta-rows.ts';
import { fileScanOf, scanWithHidden } from './scan/file-scan.ts';
import { hiddenColumnsOf } from './scan/hidden-columns.ts';
import { selectFiles } from './scan/select-files.ts';
import { deltaExtent } from './scan/table-extent.ts';
import { DeltaStreamSource } from './streaming/delta-stream-source.ts';
import { tableDetail } from './table-detail.ts';
import { tableObjects } from './table-objects.ts';
import { versionAt } from './version-at.ts';

/** What a Delta table is made of. */
export interface DeltaTableParts {
  readonly log: DeltaLog;
  /** As configured, for messages; files are written below the store's own root. */
  readonly location: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Stands in every version made: name and version of this program. */
  readonly engineInfo: string;
  readonly rewriter: FileRewriter;
  /** For row operations and queries; without it they are refused. */
  readonly engine?: OpenEngine | undefined;
  /** Opens what clones refer to in other stores. Default: local files only. */
  readonly openStore?: OpenObjectStore | undefined;
  readonly arbitraryProperties?: (() => boolean) | undefined;
  /** Directories outside of the table that its log may refer to. Default: none. */
  readonly outside?: (() => readonly string[]) | undefined;
  /** For a table that does not say it itself. Default zstd. */
  readonly compression?: WriteSpec['compression'] | undefined;
  /** Deletes expired log with the log checkpoints of row operations, as Spark does. Default false: feeds say what they still need. */
  readonly cleansUpLog?: boolean | undefined;
  readonly failpoint?: Failpoint | undefined;
  readonly commitTried?: CommitTried | undefined;
  /** Local directory for changes that are computed for the feed; without it they are refused. */
  readonly scratchDirectory?: string | undefined;
}

/** A Delta Lake table behind the neutral contract. */
export class DeltaTable implements QueryableTable {
  readonly name: string;
  readonly format = 'delta';
  readonly location: string;
  readonly #parts: DeltaTableParts;
  readonly #upkeep: LogUpkeep;
  /** There is an engine for row operations. */
  readonly #queryable: boolean;
  readonly #committer: DeltaCommitter;
  readonly #context: OperationContext;
  readonly #changes: ChangeReader;
  readonly leader: DeltaLeader;

  constructor(parts: DeltaTableParts) {
    this.#parts = parts;
    this.name = parts.log.name;
    this.location = parts.location;
    this.#upkeep = new LogUpkeep(parts);
    this.#queryable = parts.engine !== undefined;
    this.#committer = new DeltaCommitter({ log: parts.log, clock: parts.clock, engineInfo: parts.engineInfo });
    this.#context = contextOf(parts, this.#committer, (version, change) => this.#afterRowCommit(version, change));
    this.#changes = new ChangeReader(this.#context, parts.scratchDirectory);
    this.leader = new DeltaLeader(this.#context);
  }

  /** What operations of Delta's own need of the table, which may not be there yet. */
  get context(): OperationContext {
    return this.#context;
  }

  /** By the newest version seen. */
  get capabilities(): Capabilities {
    const recorded = this.#parts.log.current?.settings.changeDataFeed === true;
    const vectors = this.#parts.log.current?.settings.deletionVectors === true;
    return {
      changeFeed: recorded ? 'recorded' : 'none',
      rowLevel: this.#queryable ? (vectors ? 'deletion-vectors' : 'copy-on-write') : 'none',
      maintenance: ['compact', 'vacuum', 'checkpoint'],
    };
  }

  refresh(signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.#parts.log.refresh(signal);
  }

  snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.#parts.log.snapshotAt(version, signal);
  }

  writeSpec(snapshot: Snapshot): WriteSpec {
    return this.#context.writeSpec(asDeltaSnapshot(snapshot));
  }

  async tryAppend(base: Snapshot, intent: AppendIntent, signal?: AbortSignal): Promise<CommitOutcome> {
    return this.#committer.tryAppend(asDeltaSnapshot(base), intent, signal);
  }

  async tryUpsert(base: Snapshot, intent: UpsertIntent): Promise<TriedUpsert> {
    const rows = await openDeltaUpsert(this.#context, asDeltaSnapshot(base), intent);
    return upsertRows(rows, intent.keyed, this.#context.failpoint);
  }

  async repeatedKeys(snapshot: Snapshot, keyColumns: readonly string[], limit: number, signal?: AbortSignal): Promise<readonly string[]> {
    return repeatedKeys(await this.#context.engine(), await this.scan(snapshot, {}, signal), { keyColumns, limit }, signal);
  }

  async keepLastRows(keyColumns: readonly string[], orderColumns: readonly string[], options: CommitOptions): Promise<bigint> {
    const rows = await openDeltaRows(this.#context, 'update', options);
    return (await keepLastRows(rows, { keyColumns, orderColumns })).deletedRows;
  }

  findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined> {
    return this.#parts.log.findCommit(commitId, afterVersion, signal);
  }

  /** As `LogUpkeep.afterCommit`. */
  afterCommit(version: Version, signal?: AbortSignal): Promise<void> {
    return this.#upkeep.afterCommit(version, signal);
  }

  history(options: HistoryRange, signal?: AbortSignal): Promise<readonly HistoryLink[]> {
    return historyOf(this.#parts.log, options, signal);
  }

  versions(snapshot: Snapshot, signal?: AbortSignal): AsyncIterable<HistoryLink> {
    return versionsOf(this.#parts.log, snapshot.version, signal);
  }

  objects(snapshot: Snapshot, signal?: AbortSignal): AsyncIterable<TableObject> {
    return tableObjects(this.#context, asDeltaSnapshot(snapshot), signal);
  }

  async changesOf(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<HeldChanges> {
    return this.#proven(await this.#changes.changesOf(version, request, signal), signal);
  }

  async rowsAt(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<SnapshotRows> {
    return this.#proven(await this.#changes.rowsAt(version, request, signal), signal);
  }

  linkAt(version: Version, signal?: AbortSignal): Promise<string | undefined> {
    return commitDigest(this.#context.store, version, signal);
  }

  preview(base: Snapshot, change: DefinitionChange, signal?: AbortSignal): Promise<DeltaSnapshot> {
    return previewChange(this.#context, asDeltaSnapshot(base), change, signal);
  }

  keptMs(newest: Snapshot): number {
    return asDeltaSnapshot(newest).settings.deletedFileRetentionMs;
  }

  findSnapshot(point: SnapshotPoint, signal?: AbortSignal): Promise<DeltaSnapshot> {
    return findSnapshot(
      {
        refresh: () => this.refresh(signal),
        snapshotAt: (version) => this.snapshotAt(version, signal),
        versionAt: (timestampMs) => this.versionAt(timestampMs, signal),
        earliestVersion: async () => (await this.history({}, signal)).at(-1)?.version ?? 0,
      },
      point,
      signal,
    );
  }

  /** Delta tables have none. */
  get metadataTables(): readonly string[] {
    return [];
  }

  metadataTable(name: string): Promise<MetadataTable> {
    return Promise.reject(tableNotFound([this.name, name]));
  }

  /** Delta tables have statements: OPTIMIZE, VACUUM, RESTORE. */
  get procedures(): readonly Procedure[] {
    return [];
  }

  versionAt(timestampMs: number, signal?: AbortSignal): Promise<Version> {
    return versionAt(this.#context, timestampMs, signal);
  }

  hiddenColumns(snapshot: Snapshot): readonly HiddenColumn[] {
    return hiddenColumnsOf(asDeltaSnapshot(snapshot));
  }

  extent(snapshot: Snapshot, columns: readonly ExtentColumn[]): Promise<TableExtent | undefined> {
    return Promise.resolve(deltaExtent(asDeltaSnapshot(snapshot), columns));
  }

  async scan(snapshot: Snapshot, request: ScanRequest = {}, signal?: AbortSignal): Promise<FileScan> {
    const delta = asDeltaSnapshot(snapshot);
    signal?.throwIfAborted();
    const { filter, hidden } = request;
    const files = selectFiles(delta, filter);
    const scan = hidden === undefined ? fileScanOf(this.#context, delta, files) : scanWithHidden(this.#context, delta, files, hidden);
    return Promise.resolve(scan);
  }

  changeScans(range: { readonly from: Version; readonly until: Version }, signal?: AbortSignal): AsyncIterable<ChangeScan> {
    return changeScans(this.#context, range, signal);
  }

  openStream(options: StreamOptions, signal?: AbortSignal): Promise<StreamSource> {
    return DeltaStreamSource.open(this.#context, options, signal);
  }

  get operations(): RowOperations & DefinitionOperations {
    return deltaOperations(this.#context);
  }

  async detail(signal?: AbortSignal): Promise<TableDetail> {
    return tableDetail(await this.#parts.log.refresh(signal), this.location);
  }

  async health({ compaction }: HealthRequest, signal?: AbortSignal): Promise<TableHealth> {
    const { store } = this.#parts.log;
    return tableHealth(await this.#parts.log.refresh(signal), {
      compaction: { ...compaction, deletionVectors: this.#rewritesVectors },
      newestCheckpoint: await readCheckpointHint(store, signal),
      lastVacuumMs: await lastVacuumAt(store, signal),
    });
  }

  async planCompaction(rule: CompactionRule, signal?: AbortSignal): Promise<CompactionPlan> {
    return planCompaction(await this.#parts.log.refresh(signal), { ...rule, deletionVectors: this.#rewritesVectors });
  }

  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
    return compact(this.#context, this.#parts.rewriter, plan, signal);
  }

  vacuum(options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
    return vacuum(this.#context, options, signal);
  }

  async noteReaders(note: ReaderNote, signal?: AbortSignal): Promise<void> {
    await putReaderNote(this.#parts.log.store, note, (await this.#parts.log.refresh(signal)).tableId, signal);
  }

  heldBytes(fromVersion: Version, signal?: AbortSignal): Promise<number> {
    return heldBytes(this.#context, fromVersion, signal);
  }

  checkpoint(
    options: { readonly dryRun: boolean; readonly keepVersionsFrom?: Version | undefined },
    signal?: AbortSignal,
  ): Promise<{ readonly version: Version; readonly written: boolean }> {
    return this.#upkeep.checkpoint(options, signal);
  }

  /** What was read by the number of a version is of this table only if it still is this table. */
  async #proven(read: HeldChanges, signal: AbortSignal | undefined): Promise<HeldChanges> {
    try {
      await this.#parts.log.prove(signal);
      return read;
    } catch (error) {
      await read.release?.();
      throw error;
    }
  }

  /** Whether compaction goes through the engine, which reads files without their deleted rows. */
  get #rewritesVectors(): boolean {
    return this.#queryable;
  }

  /** What a version of row operations leaves behind. The version stands whatever happens here. */
  async #afterRowCommit(version: Version, change: CommittedChange): Promise<void> {
    await this.#upkeep.afterRowCommit(version);
    if (change.addedFiles.length === 0) return;
    const touched = change.addedFiles.map((file) => file.partitionValues);
    await autoCompact(this.#context, version, touched, change.autoCompact).catch(() => undefined);
  }
}

function contextOf(
  parts: DeltaTableParts,
  committer: DeltaCommitter,
  afterCommit: NonNullable<OperationContext['afterCommit']>,
): OperationContext {
  const { log } = parts;
  const { openStore, outside = (): readonly string[] => [] } = parts;
  const place = tablePlace({ name: log.name, store: log.store, openStore, outside });
  // As it is opened again elsewhere: locations of object stores are not percent-encoded.
  const location = place.isLocal ? log.store.root : place.root;
  return {
    name: log.name,
    store: log.store,
    clock: parts.clock,
    random: parts.random,
    ids: parts.ids,
    failpoint: parts.failpoint ?? inertFailpoint,
    commitTried: parts.commitTried,
    engine: parts.engine ?? (() => Promise.reject(engineNotAvailable(log.name))),
    place,
    openStore: parts.openStore,
    arbitraryProperties: parts.arbitraryProperties,
    localRoot: () => localRootOf(log, place),
    refresh: (signal) => log.refresh(signal),
    snapshotAt: (version, signal) => log.snapshotAt(version, signal),
    readCommit: (version, signal) => log.readCommit(version, signal),
    writeSpec: (snapshot) => writeSpecOf(snapshot, { location, fallback: parts.compression }),
    addOf: addFileOf,
    tryCommit: (base, commit, commitId) => committer.tryCommit(base, { ...commit, commitId }),
    stands: (snapshot) => log.stands(snapshot),
    findCommit: (commitId, afterVersion, signal) => log.findCommit(commitId, afterVersion, signal),
    afterCommit,
  };
}

function writeSpecOf(
  snapshot: DeltaSnapshot,
  options: { readonly location: string; readonly fallback: WriteSpec['compression'] | undefined },
): WriteSpec {
  const { compression } = snapshot.settings;
  const supported = compression === 'snappy' || compression === 'uncompressed' || compression === 'zstd' ? compression : undefined;
  return {
    location: options.location,
    schema: snapshot.schema,
    columnIds: twinNoteOf(snapshot.metadata)?.columnIds,
    partitionColumns: snapshot.partitionColumns,
    partitionColumnsInFile: false,
    compression: supported ?? options.fallback ?? 'zstd',
    partitionPathStyle: 'hive-delta',
    statisticsColumns: snapshot.settings.statisticsColumns,
  };
}

function localRootOf(log: DeltaLog, place: TablePlace): string {
  if (place.isLocal) return place.root;
  throw new AnalysisException({
    errorClass: 'ENGINE_NEEDS_LOCAL_FILES',
    kind: 'unsupported',
    message: `table "${log.name}" lies at ${log.store.root}, and this operation needs local files`,
    hint: 'do it on a copy of the files in a local or mounted file system',
  });
}
