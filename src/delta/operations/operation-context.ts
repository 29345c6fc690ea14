import type { JsonObject } from '../../base/bigint-json.ts';
import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Random } from '../../base/random.ts';
import type { OpenEngine } from '../../engine/engine.ts';
import type { TimeZone } from '../../expr/time-zone.ts';
import type { ObjectStore, OpenObjectStore } from '../../storage/object-store.ts';
import type { CommitId, CommitOutcome, ProgressAdvance } from '../../table/commit.ts';
import type { CommitTried } from '../../table/commit-driver.ts';
import type { AutoCompactSettings } from '../../table/row-operations.ts';
import type { StagedFile, WriteSpec } from '../../table/staged-file.ts';
import type { Version } from '../../table/version.ts';
import type { Action, AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { TablePlace } from '../files/table-place.ts';
import type { DeltaCommit } from '../replay-state.ts';

/** A commit of a table operation: its actions and what the history says about it. */
export interface OperationCommit {
  readonly operation: string;
  readonly operationParameters: JsonObject;
  /** All values are text, as other engines write them. */
  readonly operationMetrics: Readonly<Record<string, string>>;
  readonly isBlindAppend: boolean;
  /** The version the operation read. Default: the one it is put on top of. */
  readonly readVersion?: Version | undefined;
  readonly userMetadata?: string | undefined;
  /** Without `commitInfo`, which the committer writes first. May be empty. */
  readonly actions: readonly Action[];
  /** See `DeltaCommitRequest`. */
  readonly progress?: readonly ProgressAdvance[] | undefined;
  /** See `AppendIntent`. */
  readonly stagedSinceMs?: number | undefined;
  /** The files it adds were part of a table before, and whoever asks for them has looked, or wants them whether they are there or not. */
  readonly addsKnownFiles?: boolean | undefined;
}

/** What a version changed, for the work that follows it. */
export interface CommittedChange {
  /** Files whose rows the version brought; empty for maintenance. */
  readonly addedFiles: readonly AddFile[];
  /** Whether small files are compacted after it. Default: as the table's properties say. */
  readonly autoCompact?: AutoCompactSettings | undefined;
}

/** What operations and the change reader need of one table: its log, its store and the outside world. */
export interface OperationContext {
  /** The table's name, for messages. */
  readonly name: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Of the statement that is worked out; default: UTC. */
  readonly zone?: TimeZone | undefined;
  readonly random: Random;
  readonly commitTried?: CommitTried | undefined;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  /** @throws AnalysisException `ENGINE_NOT_AVAILABLE` where the process has none. */
  readonly engine: OpenEngine;
  /** Whether unknown properties below `delta.` are taken as they are. Absent: they are refused. */
  readonly arbitraryProperties?: (() => boolean) | undefined;
  /** Where the table's files lie. */
  readonly place: TablePlace;
  /** Opens what lies outside the table, as a clone refers to. Absent: local files only. */
  readonly openStore?: OpenObjectStore | undefined;
  /** Absolute directory of the table's files. @throws AnalysisException `ENGINE_NEEDS_LOCAL_FILES` for other stores. */
  localRoot(): string;
  /** The newest version, incrementally. */
  refresh(signal?: AbortSignal): Promise<DeltaSnapshot>;
  /** @throws AnalysisException `DELTA_VERSION_NOT_FOUND`, or what the log says when the version cannot be replayed any more. */
  snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot>;
  /** One version's own actions; `undefined` when the log does not have its commit file. */
  readCommit(version: Version, signal?: AbortSignal): Promise<DeltaCommit | undefined>;
  writeSpec(snapshot: DeltaSnapshot): WriteSpec;
  /** The `add` that makes a staged file live, with its statistics as the format spells them. */
  addOf(file: StagedFile, snapshot: DeltaSnapshot, options: { readonly dataChange: boolean }): AddFile;
  /** One attempt at the version after `base`; no retry, no verification. Kind `unavailable` is thrown when nothing was changed. */
  tryCommit(base: DeltaSnapshot, commit: OperationCommit, commitId: CommitId): Promise<CommitOutcome>;
  /** Whether the log still holds the very commit that made the snapshot. */
  stands(snapshot: DeltaSnapshot): Promise<boolean>;
  findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined>;
  /** Work a version of row operations leaves behind (log checkpoint, auto compaction). Best effort: never rejects. Absent: none. */
  readonly afterCommit?: ((version: Version, change: CommittedChange) => Promise<void>) | undefined;
}
