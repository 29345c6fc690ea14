import { AnalysisException } from '../../../base/analysis-exception.ts';
import { type EpochMs, toEpochMs } from '../../../base/clock.ts';
import { isServiceError, serviceError } from '../../../base/errors.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import type { ObjectInfo } from '../../../storage/object-store.ts';
import { toCommitId } from '../../../table/commit.ts';
import type { VacuumOptions, VacuumResult } from '../../../table/operations.ts';
import { firstNeeded } from '../../../table/reader-notes.ts';
import type { Version } from '../../../table/version.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { twinNoteOf, twinProperty } from '../../leader/twin-note.ts';
import { checkRowsWritable } from '../../table-features.ts';
import { commitOperation } from '../commit-operation.ts';
import type { OperationCommit, OperationContext } from '../operation-context.ts';
import { type VacuumFolders, vacuumFolders } from './vacuum-folders.ts';
import { filesNeededForChanges, filesNeededNow, filesRemovedSince } from './vacuum-keep-set.ts';
import { vacuumCandidates } from './vacuum-listing.ts';
import { liteCandidates, noteVacuumed } from './vacuum-lite.ts';
import { vacuumRetentionMs } from './vacuum-retention.ts';

/** One run deletes at most so many files, which bounds its memory; the next run goes on. */
const maxFilesPerVacuum = 200_000;
const maxReportedPaths = 10_000;
/** Deletions at the same time: on a local disk they share syncs of their directory. */
const deleteConcurrency = 32;

/**
 * Deletes files that no version within the retention refers to: not live, not removed within the retention, not needed by a feed
 * (`keepChangesFrom`, and what readers noted beside the table), and last written before the retention began by the storage's own clock (which also protects the files of commits
 * in flight). Recorded changes are referenced by no snapshot and go by age. On a file system, folders that hold nothing any more go too,
 * unless something changed in them within the retention. Files outside the table are never touched.
 *
 * @throws ServiceError `READER_NOTE_INVALID`; AnalysisException `TWIN_NEEDS_FILES`, `DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT`, `DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE`, `DELTA_CANNOT_VACUUM_LITE`;
 * ServiceError `VACUUM_CONTENTION` (conflict); what the protocol check and the store throw. After a failure in the middle everything that was
 * deleted was garbage; another run continues.
 */
export async function vacuum(context: OperationContext, options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
  const snapshot = await context.refresh(signal);
  checkRowsWritable(snapshot.protocol, snapshot.metadata, context.name);
  refuseForTwin(snapshot, options, context.name);
  const retentionMs = vacuumRetentionMs(snapshot.settings.deletedFileRetentionMs, options, context.name);
  const deleteBefore = toEpochMs(context.clock.now() - retentionMs);
  const keepChangesFrom = await firstNeeded(context.store, snapshot.tableId, options.keepChangesFrom, signal);
  const retention: Retention = { ...options, retentionMs, deleteBefore, keepChangesFrom };
  const found = await findGarbage(context, snapshot, retention, signal);
  const folders = await vacuumFolders(context, found.files, { partitionColumns: snapshot.partitionColumns, deleteBefore }, signal);
  await context.failpoint('before-vacuum-deletes');
  const idle = found.files.length + folders.removable.length === 0;
  if (options.dryRun) return resultOf(found, folders.removable);
  // What a feed or the limit of one run held back must be found again by a run that looks at the log only.
  const whole = found.heldByFeeds === 0 && !found.more;
  if (idle && options.quietWhenIdle === true) {
    await noteVacuumed(context, whole ? deleteBefore : undefined);
    return resultOf(found, folders.removable);
  }
  const logged = await logCommit(context, startOf(found.files, folders, snapshot, retention), signal);
  const sure = await recheck(context, found.files, { ...retention, logged }, signal);
  const removed = await deleteAll(context, sure.files, folders, signal);
  await noteVacuumed(context, whole ? sure.deleteBefore : undefined);
  return resultOf({ ...found, files: sure.files }, removed);
}

/** Its twin may still show what this table has removed: only whoever asked the twin may delete. */
function refuseForTwin(snapshot: DeltaSnapshot, { dryRun, keepChangesFrom }: VacuumOptions, table: string): void {
  const twin = twinNoteOf(snapshot.metadata);
  if (twin === undefined || dryRun || keepChangesFrom !== undefined) return;
  throw new AnalysisException({
    errorClass: 'TWIN_NEEDS_FILES',
    kind: 'unsupported',
    message: `table "${table}" shares its data files with ${twin.table}, whose snapshots may need what would be deleted here`,
    hint: `run tidewater maintain vacuum of its pipeline, which asks the twin; when there is no twin any more, ALTER TABLE … UNSET TBLPROPERTIES ('${twinProperty}')`,
  });
}

interface Retention extends VacuumOptions {
  readonly retentionMs: number;
  readonly deleteBefore: EpochMs;
}

/** What must stay, and why. */
interface Needs {
  readonly deleteBefore: EpochMs;
  readonly now: ReadonlySet<string>;
  readonly changes: ReadonlySet<string>;
}

interface Garbage {
  readonly files: readonly ObjectInfo[];
  readonly heldByFeeds: number;
  /** There is more than one run deletes. */
  readonly more: boolean;
}

async function needsOf(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  retention: Retention,
  signal: AbortSignal | undefined,
): Promise<Needs> {
  const { deleteBefore, keepChangesFrom } = retention;
  const now = filesNeededNow(snapshot, deleteBefore);
  if (retention.retentionMs > snapshot.settings.deletedFileRetentionMs) {
    for (const path of await filesRemovedSince(context, snapshot.version, deleteBefore, signal)) now.add(path);
  }
  const changes =
    keepChangesFrom === undefined
      ? new Set<string>()
      : await filesNeededForChanges(context, { fromVersion: keepChangesFrom, untilVersion: snapshot.version }, signal);
  return { deleteBefore, now, changes };
}

async function findGarbage(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  retention: Retention,
  signal: AbortSignal | undefined,
): Promise<Garbage> {
  const needs = await needsOf(context, snapshot, retention, signal);
  const { deleteBefore } = retention;
  const candidates =
    retention.mode === 'lite'
      ? await liteCandidates(context, deleteBefore, signal)
      : vacuumCandidates(context.store, { partitionColumns: snapshot.partitionColumns, modifiedBefore: deleteBefore }, signal);
  const files: ObjectInfo[] = [];
  let heldByFeeds = 0;
  for await (const object of candidates) {
    if (needs.now.has(object.path)) continue;
    if (needs.changes.has(object.path)) heldByFeeds += 1;
    else if (files.push(object) === maxFilesPerVacuum) return { files, heldByFeeds, more: true };
  }
  return { files, heldByFeeds, more: false };
}

/**
 * What is still garbage for the newest version, by a time no later than the storage's own: the log entry just written tells it. A clock of
 * this process that runs ahead must not shorten the retention.
 */
async function recheck(
  context: OperationContext,
  files: readonly ObjectInfo[],
  retention: Retention & { readonly logged: Version },
  signal: AbortSignal | undefined,
): Promise<{ readonly files: readonly ObjectInfo[]; readonly deleteBefore: EpochMs }> {
  const storedAt = (await context.readCommit(retention.logged, signal))?.modifiedMs;
  const deleteBefore = toEpochMs(Math.min(retention.deleteBefore, (storedAt ?? Number.POSITIVE_INFINITY) - retention.retentionMs));
  const needs = await needsOf(context, await context.refresh(signal), { ...retention, deleteBefore }, signal);
  const sure = files.filter((file) => file.modifiedMs < deleteBefore && !needs.now.has(file.path) && !needs.changes.has(file.path));
  return { files: sure, deleteBefore };
}

/** Deletes the files, then the folders that hold nothing; returns the folders that went. */
async function deleteAll(
  context: OperationContext,
  files: readonly ObjectInfo[],
  folders: VacuumFolders,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  let deleted = 0;
  const remove = async (file: ObjectInfo): Promise<void> => {
    await context.store.delete(file.path, signal);
    deleted += 1;
  };
  const half = Math.ceil(files.length / 2);
  let removedFolders: readonly string[];
  try {
    await mapBounded(files.slice(0, half), deleteConcurrency, remove, signal);
    await context.failpoint('within-vacuum-deletes');
    await mapBounded(files.slice(half), deleteConcurrency, remove, signal);
    removedFolders = await folders.remove();
  } catch (error) {
    await logFailure(context, { deleted, folders: folders.considered });
    throw error;
  }
  await logCommit(context, endOf('COMPLETED', { deleted, folders: folders.considered }), undefined);
  return removedFolders;
}

/** The failure itself is what the caller must hear of; whether the history tells it too is secondary. */
async function logFailure(context: OperationContext, done: Parameters<typeof endOf>[1]): Promise<void> {
  try {
    await logCommit(context, endOf('FAILED', done), undefined);
  } catch (error) {
    if (!isServiceError(error)) throw error;
  }
}

async function logCommit(context: OperationContext, commit: OperationCommit, signal: AbortSignal | undefined): Promise<Version> {
  const request = { base: await context.refresh(signal), commitId: toCommitId(context.ids.uuid()), commit, conflictWith: () => undefined };
  const outcome = await commitOperation(context, request, signal);
  if (outcome.kind === 'committed') return outcome.version;
  throw serviceError.conflict(
    'VACUUM_CONTENTION',
    `table "${context.name}": ${commit.operation} found no free version up to ${outcome.conflict.latest}`,
    { retryable: true, hint: 'run vacuum again when fewer writers commit' },
  );
}

function startOf(files: readonly ObjectInfo[], folders: VacuumFolders, snapshot: DeltaSnapshot, retention: Retention): OperationCommit {
  const specified = retention.retentionHours === undefined ? {} : { specifiedRetentionMillis: retention.retentionMs };
  return {
    operation: 'VACUUM START',
    operationParameters: {
      retentionCheckEnabled: retention.allowShortRetention !== true,
      defaultRetentionMillis: snapshot.settings.deletedFileRetentionMs,
      ...specified,
    },
    operationMetrics: {
      numFilesToDelete: String(files.length + folders.removable.length),
      sizeOfDataToDelete: String(bytesOf(files)),
    },
    isBlindAppend: true,
    actions: [],
  };
}

function endOf(
  status: 'COMPLETED' | 'FAILED',
  done: { readonly deleted: number /** Looked at, without the table's own. */; readonly folders: number },
): OperationCommit {
  return {
    operation: 'VACUUM END',
    operationParameters: { status },
    operationMetrics: { numDeletedFiles: String(done.deleted), numVacuumedDirectories: String(done.folders + 1) },
    isBlindAppend: true,
    actions: [],
  };
}

function resultOf(garbage: Pick<Garbage, 'files' | 'heldByFeeds'>, folders: readonly string[]): VacuumResult {
  return {
    paths: [...garbage.files.slice(0, maxReportedPaths).map((file) => file.path), ...folders].slice(0, maxReportedPaths),
    fileCount: garbage.files.length,
    sizeBytes: bytesOf(garbage.files),
    heldByFeeds: garbage.heldByFeeds,
    folderCount: folders.length,
  };
}

function bytesOf(files: readonly ObjectInfo[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}
