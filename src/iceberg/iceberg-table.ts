import type { AnalysisException } from '../base/analysis-exception.ts';
import type { Clock } from '../base/clock.ts';
import type { ServiceError } from '../base/errors.ts';
import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { StorageSettings } from '../base/storage-settings.ts';
import { unsupportedFeature } from '../base/unsupported-feature.ts';
import type { OpenEngine } from '../engine/engine.ts';
import { engineNotAvailable } from '../engine/engine-not-available.ts';
import { ScratchFiles } from '../rows/files/scratch-files.ts';
import { keepLastRows } from '../rows/keyed/keep-last-rows.ts';
import { repeatedKeys } from '../rows/keyed/repeated-keys.ts';
import { upsertRows } from '../rows/keyed/upsert-rows.ts';
import type { ChangesRequest, HeldChanges, SnapshotRows } from '../table/changes.ts';
import type { AppendIntent, CommitId, CommitOutcome } from '../table/commit.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { DefinitionChange, DefinitionOperations, TableDetail } from '../table/definition-changes.ts';
import type { HiddenColumn } from '../table/hidden-columns.ts';
import type { TriedUpsert, UpsertIntent } from '../table/keyed.ts';
import { tableGone, tableReplaced } from '../table/lost-tables.ts';
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
} from '../table/operations.ts';
import type { ChangelogRequest, MetadataTable, Procedure, SnapshotPoint } from '../table/queries.ts';
import { putReaderNote, type ReaderNote } from '../table/reader-notes.ts';
import type { HeldRelation } from '../table/relation.ts';
import type { CommitOptions, RowOperations } from '../table/row-operations.ts';
import type { ChangeScan, FileScan, ScanRequest } from '../table/scan.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { StreamOptions, StreamSource } from '../table/stream.ts';
import type { AuditSettings, Capabilities, HistoryLink, HistoryRange, QueryableTable, Snapshot } from '../table/table.ts';
import type { ExtentColumn, TableExtent } from '../table/table-extent.ts';
import { tableNotFound } from '../table/table-names.ts';
import type { TableObject } from '../table/table-object.ts';
import type { Version } from '../table/version.ts';
import { changelog } from './changes/changelog.ts';
import { previewChange } from './definition/alter-table.ts';
import { findSnapshotState } from './find-snapshot-state.ts';
import { historyOf, versionsOf } from './history.ts';
import { icebergOperations } from './iceberg-operations.ts';
import { metadataTable, metadataTableNames } from './metadata-tables/metadata-table.ts';
import { notesOf } from './operations/expire/expire-snapshots.ts';
import { heldBytes } from './operations/expire/retained-snapshots.ts';
import { refusedOperation } from './operations/operation-errors.ts';
import { icebergProcedures } from './operations/procedures/iceberg-procedures.ts';
import type { ChangeSource } from './pipeline/change-source.ts';
import { compact } from './pipeline/compact.ts';
import { planCompaction } from './pipeline/plan-compaction.ts';
import { icebergHealth } from './pipeline/table-health.ts';
import { findAppend, tryAppend } from './pipeline/try-append.ts';
import { removeOrphans, upkeep } from './pipeline/upkeep.ts';
import { changesOfVersion, rowsAtVersion } from './pipeline/version-changes.ts';
import { icebergWriteSpec } from './pipeline/write-spec.ts';
import type { LoadedMetadata, TablePointer } from './pointer/table-pointer.ts';
import { openIcebergRows, openIcebergUpsert } from './row-level/iceberg-rows.ts';
import { appendedFiles } from './scan/appended-files.ts';
import { fileScanOf } from './scan/file-scan.ts';
import { hiddenColumnsOf, namedFiles } from './scan/hidden-columns.ts';
import { liveFiles } from './scan/live-files.ts';
import { icebergExtent } from './scan/table-extent.ts';
import { tableObjects } from './scan/table-objects.ts';
import { snapshotIdOfVersion } from './snapshot-at.ts';
import type { SnapshotState } from './snapshot-state.ts';
import { asSnapshotState, mainBranch, snapshotNotFound, snapshotStateOf } from './snapshot-state-of.ts';
import { IcebergStreamSource } from './streaming/iceberg-stream-source.ts';
import type { TableContext } from './table-context.ts';
import { icebergDetail } from './table-detail.ts';
import type { TableFiles } from './table-files.ts';
import type { TableRoots } from './table-roots.ts';
import { IcebergTwin } from './twin/iceberg-twin.ts';
import { isTwin } from './twin/twin-properties.ts';

/** What an Iceberg table is made of. */
export interface IcebergTableParts {
  readonly pointer: TablePointer;
  readonly files: TableFiles;
  /** Followed as metadata is loaded; the files are checked against them. */
  readonly roots: TableRoots;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Stands in every snapshot made. */
  readonly engineName: string;
  readonly engineVersion: string;
  readonly applicationSummary?: Readonly<Record<string, string>> | undefined;
  /** For queries and row operations; without it they are refused. */
  readonly engine?: OpenEngine | undefined;
  /** Default `main`. */
  readonly branch?: string | undefined;
  /** Write-audit-publish, of a table that has it. */
  readonly audit?: AuditSettings | undefined;
  readonly failpoint?: Failpoint | undefined;
  readonly commitTried?: CommitTried | undefined;
  /** Local directory for changes that are computed for the feed; without it they are refused. */
  readonly scratchDirectory?: string | undefined;
  /** Settings of the store that the files are in, for worker threads, which open it themselves. */
  readonly storage?: StorageSettings | undefined;
  /** Refuses a table that takes the place of this one, and that there is none any more. Default: follows what is there. */
  readonly staysWithTable?: boolean | undefined;
}

const withoutEngine = ['expire', 'rewrite-manifests', 'vacuum'] as const;
const withEngine = ['compact', 'rewrite-deletes'] as const;
/** What leaves data files alone. */
const ofTwins = ['expire', 'rewrite-manifests'] as const;

/** An Iceberg table behind the neutral contract. */
export class IcebergTable implements QueryableTable {
  readonly name: string;
  readonly format = 'iceberg';
  readonly context: TableContext;
  readonly #parts: IcebergTableParts;
  readonly #branch: string;
  readonly #scratch: ScratchFiles;
  readonly twin: IcebergTwin;
  #state: SnapshotState;

  /** @param loaded the newest metadata. @throws AnalysisException `CANNOT_FIND_REF` for a branch that is not there. */
  constructor(parts: IcebergTableParts, loaded: LoadedMetadata) {
    this.name = parts.pointer.name;
    this.#parts = parts;
    this.#branch = parts.branch ?? mainBranch;
    parts.roots.follow(loaded, parts.pointer);
    this.#state = snapshotStateOf(loaded, { branch: this.#branch });
    this.context = this.#contextOf(parts);
    this.twin = new IcebergTwin(this.context);
    this.#scratch = new ScratchFiles({ directory: parts.scratchDirectory, ids: parts.ids, clock: parts.clock });
  }

  /** As the newest metadata seen has it. */
  get location(): string {
    return this.#state.metadata.location;
  }

  get capabilities(): Capabilities {
    const queryable = this.#parts.engine !== undefined;
    const isOfLeader = isTwin(this.#state.metadata.properties);
    return {
      changeFeed: 'inferred',
      rowLevel: queryable && !isOfLeader ? 'copy-on-write' : 'none',
      maintenance: isOfLeader ? ofTwins : [...withoutEngine, ...(queryable ? withEngine : [])],
      overwriteReplaces: true,
      singleWriterOnly: this.#parts.pointer.singleWriterOnly,
    };
  }

  /** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND` when the table is gone. */
  async refresh(signal?: AbortSignal): Promise<SnapshotState> {
    for (;;) {
      const { loaded } = this.#state;
      const newest = await this.#parts.pointer.load(loaded, signal);
      if (newest === undefined) throw this.#gone();
      // What another caller took over meanwhile may be newer than what was read here.
      if (this.#state.loaded !== loaded) continue;
      if (newest !== loaded) this.#follow(newest);
      return this.#state;
    }
  }

  /** By the branch's ancestry. Tables of format version 1 number their snapshots from 1. */
  async snapshotAt(version: Version, signal?: AbortSignal): Promise<SnapshotState> {
    const newest = await this.refresh(signal);
    if (version === newest.version) return newest;
    const { loaded, metadata, snapshot } = newest;
    const id = snapshotIdOfVersion(metadata, snapshot?.snapshotId, version);
    if (id === undefined) throw this.#noVersion(version, newest);
    return snapshotStateOf(loaded, { snapshotId: id });
  }

  async findSnapshot(point: SnapshotPoint, signal?: AbortSignal): Promise<SnapshotState> {
    return findSnapshotState((await this.refresh(signal)).loaded, point);
  }

  async versionAt(timestampMs: number, signal?: AbortSignal): Promise<Version> {
    const { loaded } = await this.refresh(signal);
    return findSnapshotState(loaded, { kind: 'timestamp', micros: BigInt(Math.floor(timestampMs)) * 1_000n }).version;
  }

  async history(options: HistoryRange, signal?: AbortSignal): Promise<readonly HistoryLink[]> {
    return historyOf(await this.refresh(signal), options);
  }

  versions(snapshot: Snapshot): AsyncIterable<HistoryLink> {
    return versionsOf(asSnapshotState(snapshot));
  }

  objects(snapshot: Snapshot, signal?: AbortSignal): AsyncIterable<TableObject> {
    return tableObjects(this.context, asSnapshotState(snapshot), signal);
  }

  get metadataTables(): readonly string[] {
    return metadataTableNames;
  }

  async metadataTable(name: string, at: SnapshotPoint | undefined, signal?: AbortSignal): Promise<MetadataTable> {
    const newest = await this.refresh(signal);
    return metadataTable(this.context, at === undefined ? newest : findSnapshotState(newest.loaded, at), name);
  }

  onBranch(branch: string): IcebergTable {
    const wapBranch = this.#parts.audit?.branch;
    if (wapBranch !== undefined) {
      throw refusedOperation(`Cannot write to both branch and WAP branch, but got branch [${branch}] and WAP branch [${wapBranch}]`);
    }
    return new IcebergTable({ ...this.#parts, branch }, this.#state.loaded);
  }

  async audited(audit: AuditSettings, signal?: AbortSignal): Promise<IcebergTable> {
    const { loaded, metadata } = await this.refresh(signal);
    if (metadata.properties['write.wap.enabled']?.toLowerCase() !== 'true') return this;
    const { branch, id } = audit;
    if (branch !== undefined && id !== undefined) {
      throw refusedOperation(`Cannot set both WAP ID and branch, but got ID [${id}] and branch [${branch}]`);
    }
    const isThere = branch !== undefined && metadata.refs.has(branch);
    return new IcebergTable({ ...this.#parts, audit, ...(isThere ? { branch } : {}) }, loaded);
  }

  hiddenColumns(snapshot: Snapshot): readonly HiddenColumn[] {
    return hiddenColumnsOf(asSnapshotState(snapshot).metadata);
  }

  extent(snapshot: Snapshot, columns: readonly ExtentColumn[], signal?: AbortSignal): Promise<TableExtent | undefined> {
    return icebergExtent(this.context, asSnapshotState(snapshot), columns, signal);
  }

  async scan(snapshot: Snapshot, request: ScanRequest = {}, signal?: AbortSignal): Promise<FileScan> {
    const state = asSnapshotState(snapshot);
    const { appendedAfter: after, filter, hidden, hiddenFilter } = request;
    const found =
      after === undefined
        ? await liveFiles(this.context, state, filter, signal)
        : await appendedFiles(this.context, state, { after, filter }, signal);
    const { data, statistics } = namedFiles(found, hiddenFilter);
    return fileScanOf(this.context, state, data, { statistics, hidden }, signal);
  }

  async detail(signal?: AbortSignal): Promise<TableDetail> {
    return icebergDetail(this.name, await this.refresh(signal));
  }

  writeSpec(snapshot: Snapshot): WriteSpec {
    return icebergWriteSpec(asSnapshotState(snapshot), { ...this.context, storage: this.#parts.storage });
  }

  async tryAppend(base: Snapshot, intent: AppendIntent, signal?: AbortSignal): Promise<CommitOutcome> {
    return tryAppend(this.context, asSnapshotState(base), intent, signal);
  }

  async tryUpsert(base: Snapshot, intent: UpsertIntent): Promise<TriedUpsert> {
    const rows = await openIcebergUpsert(this.context, asSnapshotState(base), intent);
    return upsertRows(rows, intent.keyed, this.context.failpoint);
  }

  async repeatedKeys(snapshot: Snapshot, keyColumns: readonly string[], limit: number, signal?: AbortSignal): Promise<readonly string[]> {
    return repeatedKeys(await this.context.engine(), await this.scan(snapshot, {}, signal), { keyColumns, limit }, signal);
  }

  async keepLastRows(keyColumns: readonly string[], orderColumns: readonly string[], options: CommitOptions): Promise<bigint> {
    const rows = await openIcebergRows(this.context, 'delete', options);
    return (await keepLastRows(rows, { keyColumns, orderColumns })).deletedRows;
  }

  findCommit(commitId: CommitId, _afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined> {
    return findAppend(this.context, commitId, signal);
  }

  /** Nothing is left behind. */
  afterCommit(): Promise<void> {
    return Promise.resolve();
  }

  changesOf(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<HeldChanges> {
    return changesOfVersion(this.#changeSource(request), version, signal);
  }

  rowsAt(version: Version, request?: ChangesRequest, signal?: AbortSignal): Promise<SnapshotRows> {
    return rowsAtVersion(this.#changeSource(request), version, signal);
  }

  preview(base: Snapshot, change: DefinitionChange): Promise<SnapshotState> {
    return Promise.resolve(previewChange(this.context, asSnapshotState(base), change));
  }

  changelog(request: ChangelogRequest, signal?: AbortSignal): Promise<HeldRelation> {
    return changelog(this.context, request, signal);
  }

  /** @throws AnalysisException `UNSUPPORTED_FEATURE`: changes are computed from snapshots. */
  changeScans(): AsyncIterable<ChangeScan> {
    throw noChangeScans(this.name);
  }

  openStream(options: StreamOptions, signal?: AbortSignal): Promise<StreamSource> {
    return IcebergStreamSource.open(this.context, options, signal);
  }

  get procedures(): readonly Procedure[] {
    return icebergProcedures(this.context);
  }

  get operations(): RowOperations & DefinitionOperations {
    return icebergOperations(this.context);
  }

  async health(request: HealthRequest, signal?: AbortSignal): Promise<TableHealth> {
    return icebergHealth(this.context, await this.refresh(signal), request, signal);
  }

  async planCompaction(rule: CompactionRule, signal?: AbortSignal): Promise<CompactionPlan> {
    return planCompaction(this.context, await this.refresh(signal), rule, signal);
  }

  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
    return compact(this.context, plan, signal);
  }

  vacuum(options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
    return removeOrphans(this.context, options, signal);
  }

  maintain(request: UpkeepRequest, signal?: AbortSignal): Promise<UpkeepResult> {
    return upkeep(this.context, request, signal);
  }

  async noteReaders(note: ReaderNote, signal?: AbortSignal): Promise<void> {
    const { metadata } = await this.context.refresh(signal);
    await putReaderNote(notesOf(this.context, metadata), note, metadata.tableUuid, signal);
  }

  async heldBytes(fromVersion: Version, signal?: AbortSignal): Promise<number> {
    const { metadata } = await this.context.refresh(signal);
    // What a twin removes is its leader's.
    if (isTwin(metadata.properties)) return 0;
    return heldBytes(metadata, { nowMs: this.context.clock.now(), keepVersionsFrom: fromVersion });
  }

  /** There is no log to summarise. */
  async checkpoint(): Promise<{ readonly version: Version; readonly written: boolean }> {
    return { version: (await this.refresh()).version, written: false };
  }

  #changeSource(request: ChangesRequest = {}): ChangeSource {
    return { context: this.context, scratch: this.#scratch, storage: this.#parts.storage, filter: request.filter };
  }

  #gone(): ServiceError {
    if (this.#parts.staysWithTable !== true) return tableNotFound([this.name]);
    return tableGone(this.name, this.location, 'there is no such table any more');
  }

  /** @throws ServiceError `TABLE_REPLACED` (kind discontinuity). */
  #follow(newest: LoadedMetadata): void {
    const [known, found] = [this.#state.tableId, newest.metadata.tableUuid];
    if (this.#parts.staysWithTable === true && known !== found) throw tableReplaced(this.name, this.location, { known, found });
    this.#adopt(snapshotStateOf(newest, { branch: this.#branch }));
  }

  #adopt(state: SnapshotState): void {
    this.#parts.roots.follow(state.loaded, this.#parts.pointer);
    this.#state = state;
  }

  #contextOf(parts: IcebergTableParts): TableContext {
    return {
      name: this.name,
      pointer: parts.pointer,
      files: parts.files,
      clock: parts.clock,
      random: parts.random,
      ids: parts.ids,
      failpoint: parts.failpoint ?? inertFailpoint,
      commitTried: parts.commitTried,
      engine: parts.engine ?? (() => Promise.reject(engineNotAvailable(this.name))),
      engineName: parts.engineName,
      engineVersion: parts.engineVersion,
      applicationSummary: parts.applicationSummary,
      branch: this.#branch,
      writeBranch: parts.audit?.branch,
      wapId: parts.audit?.id,
      refresh: (signal) => this.refresh(signal),
      adopt: (state) => {
        this.#adopt(state);
      },
    };
  }

  #noVersion(version: Version, newest: SnapshotState): AnalysisException {
    const versions = historyOf(newest, {}).map((entry) => entry.version);
    const range = versions.length === 0 ? 'none' : `${versions.at(-1)} to ${versions[0]}`;
    return snapshotNotFound(`Cannot find version ${version} of table ${this.name}`, `versions of the branch ${this.#branch}: ${range}`);
  }
}

function noChangeScans(table: string): AnalysisException {
  return unsupportedFeature(`table "${table}" is an Iceberg table and has no change data feed`, {
    hint: "its changes are computed: CALL system.create_changelog_view(table => '…', options => map('start-snapshot-id', '…')), or tidewater changes",
  });
}
