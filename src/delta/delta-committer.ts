import { throwIfAborted } from '../base/abort.ts';
import { AnalysisException } from '../base/analysis-exception.ts';
import { assert } from '../base/assert.ts';
import { type JsonObject, printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { AppendIntent, CommitConflict, CommitId, CommitOutcome, ProgressAdvance } from '../table/commit.ts';
import type { StagedFile } from '../table/staged-file.ts';
import { missingStagedFile } from '../table/staged-presence.ts';
import { beforeFirstVersion, nextVersion, type Version } from '../table/version.ts';
import { bodyOf, printActions } from './action-json.ts';
import { type Action, type AddFile, fileKey, type TxnAction } from './actions.ts';
import { deletionVectorPath } from './deletion-vectors/deletion-vector-path.ts';
import type { DeltaLog } from './delta-log.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';
import { commitPath } from './log/log-names.ts';
import { encodePath } from './paths.ts';
import { statsText } from './stats-text.ts';
import { checkRowsWritable, checkWritable } from './table-features.ts';
import { effectiveMetadata, effectiveProtocol } from './transaction/effective-definition.ts';
import { inCommitTimestampOf, withEnablement } from './transaction/in-commit-timestamps.ts';
import { isolationLevelOf } from './transaction/isolation.ts';

/** Anything that becomes one version of the table. */
export interface DeltaCommitRequest {
  readonly commitId: CommitId;
  readonly operation: string;
  readonly operationParameters: JsonObject;
  /** All values are text, as other engines write them. */
  readonly operationMetrics: Readonly<Record<string, string>>;
  /** Without `commitInfo`, which is written first. */
  readonly actions: readonly Action[];
  readonly isBlindAppend: boolean;
  /** The version the operation read. Default: the base of the attempt. */
  readonly readVersion?: Version | undefined;
  /** Marks that must stand where they are expected; the advances themselves are among `actions`. */
  readonly progress?: readonly ProgressAdvance[] | undefined;
  readonly userMetadata?: string | undefined;
  /** See `AppendIntent`. */
  readonly stagedSinceMs?: number | undefined;
  /** See `OperationCommit`. */
  readonly addsKnownFiles?: boolean | undefined;
}

/** Makes versions: one conditional put each. Does not retry, rebase or verify. */
export class DeltaCommitter {
  readonly #log: DeltaLog;
  readonly #clock: Clock;
  readonly #engineInfo: string;

  constructor(parts: { readonly log: DeltaLog; readonly clock: Clock; readonly engineInfo: string }) {
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#engineInfo = parts.engineInfo;
  }

  /**
   * Rows and the progress they carry, as one version.
   *
   * @throws what `tryCommit` and `checkWritable` throw: files come as decoded, so the table must ask for nothing more.
   */
  async tryAppend(base: DeltaSnapshot, intent: AppendIntent, signal?: AbortSignal): Promise<CommitOutcome> {
    const moved = movedMark(base, intent.progress);
    if (moved !== undefined) return { kind: 'conflicted', conflict: moved };
    checkWritable(base.protocol, base.metadata, base.schema, this.#log.name);
    const adds = intent.files.map((file) => addFileOf(file, base, { dataChange: true }));
    const txns = intent.progress.map((advance): TxnAction => ({ kind: 'txn', appId: advance.writerId, version: advance.until }));
    return this.tryCommit(
      base,
      {
        commitId: intent.commitId,
        operation: 'STREAMING UPDATE',
        operationParameters: {
          outputMode: 'Append',
          queryId: intent.progress[0]?.writerId.split(':', 1)[0] ?? base.tableId,
          epochId: String(nextVersion(base.version)),
        },
        operationMetrics: {
          numRemovedFiles: '0',
          numOutputRows: String(sum(intent.files, (file) => file.rowCount)),
          numOutputBytes: String(sum(intent.files, (file) => file.sizeBytes)),
          numAddedFiles: String(intent.files.length),
        },
        actions: [...txns, ...adds],
        isBlindAppend: true,
        progress: intent.progress,
        userMetadata: intent.userMetadata,
        stagedSinceMs: intent.stagedSinceMs,
      },
      signal,
    );
  }

  /**
   * One attempt at the version after `base` (version -1: the first version of a table that is not there yet). What came of it is a value;
   * thrown is only what leaves the table unchanged. The duties of features towards rows are the caller's.
   *
   * @throws ServiceError kind `unavailable` (nothing was changed), `DELTA_UNSUPPORTED_FEATURES_FOR_WRITE`,
   * `DELTA_CANNOT_MODIFY_APPEND_ONLY`, `ABORTED`.
   */
  async tryCommit(base: DeltaSnapshot, request: DeltaCommitRequest, signal?: AbortSignal): Promise<CommitOutcome> {
    throwIfAborted(signal);
    const moved = movedMark(base, request.progress ?? []);
    if (moved !== undefined) return { kind: 'conflicted', conflict: moved };
    checkRowsWritable(base.protocol, base.metadata, this.#log.name);
    checkRowsWritable(effectiveProtocol(base, request.actions), effectiveMetadata(base, request.actions), this.#log.name);
    checkAppendOnly(base, request.actions, this.#log.name);
    const version = nextVersion(base.version);
    const path = commitPath(version);
    const actions = this.#actionsOf(base, request);
    const bytes = printActions(actions);
    // Right before the write: what it is built on is there, and what it refers to.
    const [isFree, missing] = await Promise.all([this.#isFree(base, signal), this.#missingFile(base, request, signal)]);
    if (isFree && missing !== undefined) {
      return { kind: 'conflicted', conflict: { kind: 'staged-missing', latest: base.version, path: missing } };
    }
    if (isFree) {
      try {
        // No signal: once the put has begun, only its own answer tells what happened.
        if ((await this.#log.store.putIfAbsent(path, bytes)) === 'created') {
          await this.#log.accept(base, actions, path);
          return { kind: 'committed', version };
        }
      } catch (cause) {
        if (isServiceError(cause, 'unknown-outcome')) return { kind: 'unknown', cause };
        throw cause;
      }
    }
    return this.#taken(base, request, signal);
  }

  /** Whether the version after `base` is worth trying. */
  async #isFree(base: DeltaSnapshot, signal: AbortSignal | undefined): Promise<boolean> {
    if (base.version !== beforeFirstVersion) return this.#log.isNewest(base, signal);
    return (await this.#log.find(signal)) === undefined;
  }

  async #missingFile(base: DeltaSnapshot, request: DeltaCommitRequest, signal: AbortSignal | undefined): Promise<string | undefined> {
    // Nobody vacuums a table that is not there yet.
    if (base.version === beforeFirstVersion || request.addsKnownFiles === true) return undefined;
    return missingStagedFile(
      { paths: stagedPaths(base, request.actions), sinceMs: request.stagedSinceMs },
      {
        monotonicMs: () => this.#clock.monotonicMs(),
        isThere: async (path) => (await this.#log.store.head(path, signal)) !== undefined,
      },
    );
  }

  /** The version is not free: ours already, or what stands against trying again. */
  async #taken(base: DeltaSnapshot, request: DeltaCommitRequest, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    const latest = await this.#log.find(signal);
    if (latest === undefined) throw this.#log.gone(base.version);
    const own = await this.#log.findCommit(request.commitId, base.version, signal);
    if (own !== undefined) return { kind: 'already-committed', version: own };
    return { kind: 'conflicted', conflict: conflictBetween(base, latest, request) };
  }

  #actionsOf(base: DeltaSnapshot, request: DeltaCommitRequest): readonly Action[] {
    const nowMs = this.#clock.now();
    const inCommitTimestamp = inCommitTimestampOf(base, request.actions, nowMs);
    const body = {
      inCommitTimestamp,
      timestamp: nowMs,
      operation: request.operation,
      operationParameters: request.operationParameters,
      readVersion: readVersionOf(base, request),
      isolationLevel: isolationLevelOf(request.actions, base.metadata.configuration),
      isBlindAppend: request.isBlindAppend,
      operationMetrics: request.operationMetrics,
      userMetadata: request.userMetadata,
      engineInfo: this.#engineInfo,
      txnId: request.commitId,
    };
    // The log demands it first.
    return [{ kind: 'commitInfo', body }, ...withEnablement(base, request.actions, inCommitTimestamp)];
  }
}

function readVersionOf(base: DeltaSnapshot, request: DeltaCommitRequest): Version | undefined {
  const version = request.readVersion ?? base.version;
  return version === beforeFirstVersion ? undefined : version;
}

/** The `add` that makes a staged file live. */
export function addFileOf(file: StagedFile, snapshot: DeltaSnapshot, options: { readonly dataChange: boolean }): AddFile {
  for (const column of snapshot.partitionColumns) {
    assert(column in file.partitionValues, `staged file "${file.path}" has no value for partition column "${column}"`);
  }
  return {
    kind: 'add',
    path: encodePath(file.path),
    storedPath: file.path,
    partitionValues: file.partitionValues,
    sizeBytes: file.sizeBytes,
    modifiedMs: file.modifiedMs,
    dataChange: options.dataChange,
    stats: statsText(file, snapshot.schema, snapshot.partitionColumns),
  };
}

/** The refusal to take rows out of a table that says `delta.appendOnly`. */
export function appendOnlyError(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY',
    message:
      `This table is configured to only allow appends. If you would like to permit updates or deletes, use 'ALTER TABLE ${table} SET ` +
      `TBLPROPERTIES (delta.appendOnly=false)'.`,
    parameters: { table_name: table, config: 'delta.appendOnly' },
    hint: 'set the property delta.appendOnly to false first',
  });
}

/** What stands against repeating the request on `latest`; `version-taken` when nothing does. */
export function conflictBetween(
  base: DeltaSnapshot,
  latest: DeltaSnapshot,
  request: Pick<DeltaCommitRequest, 'actions' | 'progress'>,
): CommitConflict {
  const moved = movedMark(latest, request.progress ?? []);
  if (moved !== undefined) return moved;
  const detail = metadataChange(base, latest);
  if (detail !== undefined) return { kind: 'metadata-changed', latest: latest.version, detail };
  for (const action of request.actions) {
    if (action.kind === 'remove' && latest.file(fileKey(action)) === undefined) {
      return { kind: 'files-removed', latest: latest.version, path: action.storedPath };
    }
  }
  return { kind: 'version-taken', latest: latest.version };
}

function movedMark(snapshot: DeltaSnapshot, progress: readonly ProgressAdvance[]): CommitConflict | undefined {
  for (const { writerId, from } of progress) {
    const found = snapshot.progressOf(writerId);
    if (found !== from) return { kind: 'progress-moved', writerId, expected: from, found, latest: snapshot.version };
  }
  return undefined;
}

function metadataChange(base: DeltaSnapshot, latest: DeltaSnapshot): string | undefined {
  if (latest.metadata !== base.metadata && printJson(bodyOf(latest.metadata)) !== printJson(bodyOf(base.metadata))) {
    return latest.tableId === base.tableId ? 'schema, partitioning or properties changed' : `the table was replaced (id ${latest.tableId})`;
  }
  const sameProtocol = latest.protocol === base.protocol || printJson(bodyOf(latest.protocol)) === printJson(bodyOf(base.protocol));
  return sameProtocol ? undefined : 'the protocol changed';
}

function checkAppendOnly(base: DeltaSnapshot, actions: readonly Action[], table: string): void {
  if (base.settings.appendOnly && actions.some((action) => action.kind === 'remove' && action.dataChange)) throw appendOnlyError(table);
}

function sum<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}

/**
 * Files of the table's own folder that the actions refer to and `base` does not: data, deletion vectors and recorded changes. What a clone refers to
 * elsewhere is no file of the table.
 */
function stagedPaths(base: DeltaSnapshot, actions: readonly Action[]): readonly string[] {
  const paths = new Set<string>();
  const kept = new Set<string>();
  for (const action of actions) {
    if (action.kind !== 'add' && action.kind !== 'cdc' && action.kind !== 'remove') continue;
    const vector = action.kind === 'cdc' || action.deletionVector === undefined ? undefined : deletionVectorPath(action.deletionVector);
    // A file that gets another deletion vector is removed and added in one version; a vector that stays, too.
    const into = action.kind === 'remove' ? kept : paths;
    if (!isElsewhere(action.storedPath)) into.add(action.storedPath);
    if (vector !== undefined) into.add(vector);
  }
  return [...paths].filter((path) => !kept.has(path) && base.file(path) === undefined);
}

function isElsewhere(storedPath: string): boolean {
  return /^([a-z][a-z0-9+.-]*:|\/)/i.test(storedPath);
}
