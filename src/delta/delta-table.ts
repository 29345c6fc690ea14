import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import { type Failpoint, inertFailpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { SnapshotRows, VersionChanges } from '../table/changes.ts';
import type { AppendIntent, CommitId, CommitOutcome } from '../table/commit.ts';
import type { CompactionPlan, CompactionResult, FileRewriter, TableHealth, VacuumOptions, VacuumResult } from '../table/operations.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { Capabilities, HistoryEntry, Snapshot, Table } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import { ChangeReader } from './changes/change-reader.ts';
import { writeVersionChecksum } from './checkpoint/version-checksum.ts';
import { writeCheckpoint } from './checkpoint/write-checkpoint.ts';
import { addFileOf, DeltaCommitter } from './delta-committer.ts';
import type { DeltaLog } from './delta-log.ts';
import { asDeltaSnapshot, type DeltaSnapshot } from './delta-snapshot.ts';
import { historyOf } from './history.ts';
import { cleanUpHorizon, cleanUpLog } from './log/clean-up-log.ts';
import { readCheckpointHint } from './log/last-checkpoint.ts';
import { listLog } from './log/log-listing.ts';
import { compact } from './operations/compact.ts';
import type { OperationContext } from './operations/operation-context.ts';
import { type CompactionPlanOptions, planCompaction } from './operations/plan-compaction.ts';
import { tableHealth } from './operations/table-health.ts';
import { vacuum } from './operations/vacuum.ts';

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
  /** For a table that does not say it itself. Default zstd. */
  readonly compression?: WriteSpec['compression'] | undefined;
  readonly failpoint?: Failpoint | undefined;
}

/** A Delta Lake table behind the neutral contract. */
export class DeltaTable implements Table {
  readonly name: string;
  readonly format = 'delta';
  readonly location: string;
  readonly #log: DeltaLog;
  readonly #clock: Clock;
  readonly #rewriter: FileRewriter;
  readonly #compression: WriteSpec['compression'] | undefined;
  readonly #committer: DeltaCommitter;
  readonly #context: OperationContext;
  readonly #changes: ChangeReader;

  constructor(parts: DeltaTableParts) {
    this.name = parts.log.name;
    this.location = parts.location;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#rewriter = parts.rewriter;
    this.#compression = parts.compression;
    this.#committer = new DeltaCommitter({ log: parts.log, clock: parts.clock, engineInfo: parts.engineInfo });
    this.#context = contextOf(parts, this.#committer);
    this.#changes = new ChangeReader(this.#context);
  }

  /** By the newest version seen. */
  get capabilities(): Capabilities {
    const recorded = this.#log.current?.settings.changeDataFeed === true;
    return { changeFeed: recorded ? 'recorded' : 'none', rowLevel: 'none', maintenance: ['compact', 'vacuum', 'checkpoint'] };
  }

  refresh(signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.#log.refresh(signal);
  }

  snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.#log.snapshotAt(version, signal);
  }

  writeSpec(snapshot: Snapshot): WriteSpec {
    return writeSpecOf(asDeltaSnapshot(snapshot), { location: this.#log.store.root, fallback: this.#compression });
  }

  async tryAppend(base: Snapshot, intent: AppendIntent, signal?: AbortSignal): Promise<CommitOutcome> {
    return this.#committer.tryAppend(asDeltaSnapshot(base), intent, signal);
  }

  findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined> {
    return this.#log.findCommit(commitId, afterVersion, signal);
  }

  /**
   * Writes the log checkpoint and the checksum of a version that is due for them. The log is cleaned up by `checkpoint` only, which is
   * told what feeds still need.
   */
  async afterCommit(version: Version, signal?: AbortSignal): Promise<void> {
    try {
      const interval = this.#log.current?.settings.checkpointInterval ?? 0;
      if (version === 0 || interval === 0 || version % interval !== 0) return;
      await this.#checkpoint(await this.#log.snapshotAt(version, signal), signal);
    } catch {
      // The version stands whatever happens here; the next one that is due, or maintenance, makes up for it.
    }
  }

  history(
    options: { readonly limit?: number | undefined; readonly fromVersion?: Version | undefined },
    signal?: AbortSignal,
  ): Promise<readonly HistoryEntry[]> {
    return historyOf(this.#log, options, signal);
  }

  changesOf(version: Version, signal?: AbortSignal): Promise<VersionChanges> {
    return this.#changes.changesOf(version, signal);
  }

  rowsAt(version: Version, signal?: AbortSignal): Promise<SnapshotRows> {
    return this.#changes.rowsAt(version, signal);
  }

  async health(signal?: AbortSignal): Promise<TableHealth> {
    const snapshot = await this.#log.refresh(signal);
    return tableHealth(snapshot, await readCheckpointHint(this.#log.store, signal));
  }

  async planCompaction(options: CompactionPlanOptions, signal?: AbortSignal): Promise<CompactionPlan> {
    return planCompaction(await this.#log.refresh(signal), options);
  }

  compact(plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
    return compact(this.#context, this.#rewriter, plan, signal);
  }

  vacuum(options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
    return vacuum(this.#context, options, signal);
  }

  async checkpoint(
    options: { readonly dryRun: boolean; readonly keepVersionsFrom?: Version | undefined },
    signal?: AbortSignal,
  ): Promise<{ readonly version: Version; readonly written: boolean }> {
    const snapshot = await this.#log.refresh(signal);
    const { store } = this.#log;
    const listing = await listLog(store, 0, signal);
    const written = canCheckpoint(snapshot) && !listing.checkpoints.some((checkpoint) => checkpoint.version === snapshot.version);
    if (options.dryRun) return { version: snapshot.version, written };
    if (written) await this.#checkpoint(snapshot, signal);
    if (snapshot.settings.expiredLogCleanup) {
      const { logRetentionMs } = snapshot.settings;
      const horizon = cleanUpHorizon(listing, { nowMs: this.#clock.now(), logRetentionMs, keepVersionsFrom: options.keepVersionsFrom });
      if (horizon !== undefined) await cleanUpLog(store, listing, horizon, signal);
    }
    return { version: snapshot.version, written };
  }

  async #checkpoint(snapshot: DeltaSnapshot, signal: AbortSignal | undefined): Promise<void> {
    if (!canCheckpoint(snapshot)) return;
    // Not later than the storage's own time: a clock that is ahead must not forget removed files that readers may still use, for vacuum
    // deletes what the checkpoint does not name.
    const nowMs = Math.min(this.#clock.now(), snapshot.committedAt);
    await writeCheckpoint(this.#log, snapshot, { nowMs }, signal);
    await writeVersionChecksum(this.#log.store, snapshot, signal).catch((error: unknown) => {
      // Optional for every reader, and never replaced.
      if (isServiceError(error, 'aborted')) throw error;
    });
  }
}

/** Checkpoints of tables that ask for the second checkpoint format are left to engines that write it. */
function canCheckpoint(snapshot: DeltaSnapshot): boolean {
  const features = snapshot.protocol.writerFeatures ?? [];
  return !features.includes('v2Checkpoint') && snapshot.settings.checkpointPolicy === 'classic';
}

function contextOf(parts: DeltaTableParts, committer: DeltaCommitter): OperationContext {
  const { log } = parts;
  return {
    name: log.name,
    store: log.store,
    clock: parts.clock,
    random: parts.random,
    ids: parts.ids,
    failpoint: parts.failpoint ?? inertFailpoint,
    refresh: (signal) => log.refresh(signal),
    snapshotAt: (version, signal) => log.snapshotAt(version, signal),
    readCommit: (version, signal) => log.readCommit(version, signal),
    writeSpec: (snapshot) => writeSpecOf(snapshot, { location: log.store.root, fallback: parts.compression }),
    addOf: addFileOf,
    tryCommit: (base, commit, commitId) => committer.tryCommit(base, { ...commit, commitId }),
    findCommit: (commitId, afterVersion, signal) => log.findCommit(commitId, afterVersion, signal),
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
    partitionColumns: snapshot.partitionColumns,
    partitionColumnsInFile: false,
    compression: supported ?? options.fallback ?? 'zstd',
    partitionPathStyle: 'hive-delta',
    statisticsColumns: snapshot.settings.statisticsColumns,
  };
}
