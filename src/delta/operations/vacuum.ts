import { type EpochMs, toEpochMs } from '../../base/clock.ts';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import type { ObjectInfo } from '../../storage/object-store.ts';
import { toCommitId } from '../../table/commit.ts';
import type { VacuumOptions, VacuumResult } from '../../table/operations.ts';
import type { Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkWritable } from '../table-features.ts';
import { commitOperation } from './commit-operation.ts';
import { eachBounded } from './each-bounded.ts';
import type { OperationCommit, OperationContext } from './operation-context.ts';
import { filesNeededForChanges, filesNeededNow, filesRemovedSince } from './vacuum-keep-set.ts';
import { vacuumCandidates } from './vacuum-listing.ts';
import { vacuumRetentionMs } from './vacuum-retention.ts';

/** One run deletes at most so many files, which bounds its memory; the next run goes on. */
const maxFilesPerVacuum = 200_000;
const maxReportedPaths = 10_000;
const deleteConcurrency = 8;

/**
 * Deletes files that no version within the retention refers to: not live, not removed within the retention, not needed by a feed
 * (`keepChangesFrom`), and last written before the retention began by the storage's own clock (which also protects the files of commits
 * in flight). Recorded changes are referenced by no snapshot and go by age. Nothing to delete: nothing is committed.
 *
 * @throws ServiceError `VACUUM_RETENTION_TOO_SHORT`, `VACUUM_RETENTION_INVALID` (invalid), `VACUUM_CONTENTION` (conflict); what the protocol
 * check and the store throw. After a failure in the middle everything that was deleted was garbage; another run continues.
 */
export async function vacuum(context: OperationContext, options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
  const snapshot = await context.refresh(signal);
  checkWritable(snapshot.protocol, snapshot.metadata, snapshot.schema, context.name);
  const retentionMs = vacuumRetentionMs(snapshot.settings.deletedFileRetentionMs, options, context.name);
  const deleteBefore = toEpochMs(context.clock.now() - retentionMs);
  const needs = await needsOf(context, snapshot, { ...options, retentionMs, deleteBefore }, signal);
  const found = await listGarbage(context, snapshot, needs, signal);
  await context.failpoint('V1');
  if (options.dryRun || found.files.length === 0) return resultOf(found);
  const logged = await logCommit(context, startOf(found.files, snapshot, { ...options, retentionMs }), signal);
  const files = await recheck(context, found.files, { ...options, retentionMs, deleteBefore, logged }, signal);
  await deleteAll(context, files, signal);
  return resultOf({ files, heldByFeeds: found.heldByFeeds });
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

async function listGarbage(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  needs: Needs,
  signal: AbortSignal | undefined,
): Promise<Garbage> {
  const files: ObjectInfo[] = [];
  let heldByFeeds = 0;
  const options = { partitionColumns: snapshot.partitionColumns, modifiedBefore: needs.deleteBefore };
  for await (const object of vacuumCandidates(context.store, options, signal)) {
    if (needs.now.has(object.path)) continue;
    if (needs.changes.has(object.path)) heldByFeeds += 1;
    else if (files.push(object) === maxFilesPerVacuum) break;
  }
  return { files, heldByFeeds };
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
): Promise<readonly ObjectInfo[]> {
  const storedAt = (await context.readCommit(retention.logged, signal))?.modifiedMs;
  const deleteBefore = toEpochMs(Math.min(retention.deleteBefore, (storedAt ?? Number.POSITIVE_INFINITY) - retention.retentionMs));
  const needs = await needsOf(context, await context.refresh(signal), { ...retention, deleteBefore }, signal);
  return files.filter((file) => file.modifiedMs < deleteBefore && !needs.now.has(file.path) && !needs.changes.has(file.path));
}

async function deleteAll(context: OperationContext, files: readonly ObjectInfo[], signal: AbortSignal | undefined): Promise<void> {
  let deleted = 0;
  const remove = async (file: ObjectInfo): Promise<void> => {
    await context.store.delete(file.path, signal);
    deleted += 1;
  };
  const half = Math.ceil(files.length / 2);
  try {
    await eachBounded(files.slice(0, half), deleteConcurrency, remove, signal);
    await context.failpoint('V2');
    await eachBounded(files.slice(half), deleteConcurrency, remove, signal);
  } catch (error) {
    await logFailure(context, deleted);
    throw error;
  }
  await logCommit(context, endOf('COMPLETED', deleted), undefined);
}

/** The failure itself is what the caller must hear of; whether the history tells it too is secondary. */
async function logFailure(context: OperationContext, deleted: number): Promise<void> {
  try {
    await logCommit(context, endOf('FAILED', deleted), undefined);
  } catch (error) {
    if (!isServiceError(error)) throw error;
  }
}

async function logCommit(context: OperationContext, commit: OperationCommit, signal: AbortSignal | undefined): Promise<Version> {
  const request = { base: await context.refresh(signal), commitId: toCommitId(context.ids.uuid()), commit, conflictWith: () => undefined };
  const outcome = await commitOperation(context, request, signal);
  if (outcome.kind === 'committed') return outcome.version;
  throw new ServiceError({
    code: 'VACUUM_CONTENTION',
    kind: 'conflict',
    message: `table "${context.name}": ${commit.operation} found no free version up to ${outcome.conflict.latest}`,
    retryable: true,
    hint: 'run vacuum again when fewer writers commit',
  });
}

function startOf(
  files: readonly ObjectInfo[],
  snapshot: DeltaSnapshot,
  options: VacuumOptions & { readonly retentionMs: number },
): OperationCommit {
  const specified = options.retentionHours === undefined ? {} : { specifiedRetentionMillis: String(options.retentionMs) };
  return {
    operation: 'VACUUM START',
    operationParameters: {
      retentionCheckEnabled: String(options.allowShortRetention !== true),
      defaultRetentionMillis: String(snapshot.settings.deletedFileRetentionMs),
      ...specified,
    },
    operationMetrics: { numFilesToDelete: String(files.length), sizeOfDataToDelete: String(bytesOf(files)) },
    isBlindAppend: true,
    actions: [],
  };
}

function endOf(status: 'COMPLETED' | 'FAILED', deleted: number): OperationCommit {
  return {
    operation: 'VACUUM END',
    operationParameters: { status },
    // Object stores have no folders; empty ones of a file system stay.
    operationMetrics: { numDeletedFiles: String(deleted), numVacuumedDirectories: '0' },
    isBlindAppend: true,
    actions: [],
  };
}

function resultOf(garbage: Garbage): VacuumResult {
  return {
    paths: garbage.files.slice(0, maxReportedPaths).map((file) => file.path),
    fileCount: garbage.files.length,
    sizeBytes: bytesOf(garbage.files),
    heldByFeeds: garbage.heldByFeeds,
  };
}

function bytesOf(files: readonly ObjectInfo[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}
