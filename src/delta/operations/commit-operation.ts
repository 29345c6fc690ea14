import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { type BackoffPolicy, backoffMs } from '../../base/backoff.ts';
import { describeError, isServiceError, ServiceError } from '../../base/errors.ts';
import type { CommitConflict, CommitId } from '../../table/commit.ts';
import { nextVersion, type Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationCommit, OperationContext } from './operation-context.ts';

/** Attempts of one maintenance commit. Each lost one means that somebody else made progress; ingest commits several times a second. */
const maxAttempts = 60;
const backoff: BackoffPolicy = { initialMs: 20, maxMs: 2_000 };

interface OperationRequest {
  readonly base: DeltaSnapshot;
  readonly commitId: CommitId;
  /** The same for every attempt. */
  readonly commit: OperationCommit;
  /** What stands against the commit on a newer version; `undefined` when it still holds. */
  conflictWith(fresh: DeltaSnapshot): CommitConflict | undefined;
}

type OperationOutcome =
  | { readonly kind: 'committed'; readonly version: Version }
  /** Certain: no version holds the commit, and none ever will. */
  | { readonly kind: 'conflicted'; readonly conflict: CommitConflict };

/**
 * Takes a maintenance commit to a certain end: tries the version after the newest, again on each newer one for as long as nothing stands
 * against it. After an unknown outcome the log is read before anything else happens; a commit that may have landed is not given up.
 *
 * Why trying again is safe while the first try is in doubt: both aim at the first free version with a conditional put, so at most one of
 * them lands, and the commit id tells whose it is.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): the caller must delete nothing; the store's own errors, and `ABORTED`,
 * only while nothing is in doubt.
 */
export async function commitOperation(
  context: OperationContext,
  request: OperationRequest,
  signal?: AbortSignal,
): Promise<OperationOutcome> {
  let base = request.base;
  let conflict: CommitConflict = { kind: 'version-taken', latest: base.version };
  let doubt: Doubt | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (doubt === undefined) throwIfAborted(signal);
    const tried = await attemptOn(context, base, request, doubt);
    if (tried.kind === 'committed') return tried;
    if (tried.kind === 'conflicted') {
      conflict = tried.conflict;
      if (conflict.kind !== 'version-taken' && doubt === undefined) return tried;
    } else doubt = tried;
    if (attempt > 0 || doubt !== undefined) await context.clock.sleep(backoffMs(backoff, attempt, context.random));
    const seen = await look(context, request, doubt);
    if (seen === undefined) continue;
    if (seen.found !== undefined) return { kind: 'committed', version: seen.found };
    base = seen.fresh;
    // The version it aimed at is taken by somebody else: the lost try can no longer land.
    if (doubt !== undefined && base.version >= doubt.target) doubt = undefined;
    const standing = request.conflictWith(base);
    if (standing === undefined) continue;
    conflict = standing;
    if (doubt === undefined) return { kind: 'conflicted', conflict };
    // Nothing must be tried any more, yet the lost try may still land in its free version: somebody has to take it first.
    break;
  }
  if (doubt === undefined) return { kind: 'conflicted', conflict };
  throw outcomeUnknown(context, request, doubt, doubt.cause);
}

interface Doubt {
  readonly kind: 'unknown';
  /** The version the commit may have become, or may still become. */
  readonly target: Version;
  readonly cause: unknown;
}

async function attemptOn(
  context: OperationContext,
  base: DeltaSnapshot,
  request: OperationRequest,
  doubt: Doubt | undefined,
): Promise<OperationOutcome | Doubt> {
  try {
    // No signal: a commit that began is seen through.
    const outcome = await context.tryCommit(base, request.commit, request.commitId);
    switch (outcome.kind) {
      case 'committed':
      case 'already-committed':
        return { kind: 'committed', version: outcome.version };
      case 'conflicted':
        return outcome;
      case 'unknown':
        return { kind: 'unknown', target: nextVersion(base.version), cause: outcome.cause };
      default:
        return assertNever(outcome);
    }
  } catch (error) {
    // This try changed nothing; an earlier one may still be in doubt.
    if (doubt === undefined) throw error;
    if (!isServiceError(error, 'unavailable')) throw outcomeUnknown(context, request, doubt, error);
    return doubt;
  }
}

interface Sight {
  readonly fresh: DeltaSnapshot;
  readonly found: Version | undefined;
}

/** Reads the log; `undefined` when the store does not answer while a commit is in doubt, which only time can resolve. */
async function look(context: OperationContext, request: OperationRequest, doubt: Doubt | undefined): Promise<Sight | undefined> {
  try {
    const fresh = await context.refresh();
    return { fresh, found: doubt === undefined ? undefined : await context.findCommit(request.commitId, request.base.version) };
  } catch (error) {
    if (doubt === undefined) throw error;
    if (!isServiceError(error, 'unavailable')) throw outcomeUnknown(context, request, doubt, error);
    return undefined;
  }
}

function outcomeUnknown(context: OperationContext, request: OperationRequest, doubt: Doubt, cause: unknown): ServiceError {
  return new ServiceError({
    code: 'COMMIT_OUTCOME_UNKNOWN',
    kind: 'unknown-outcome',
    message: `table "${context.name}": ${request.commit.operation} may or may not be version ${doubt.target}: ${describeError(cause)}`,
    hint: 'nothing was deleted; the log tells at the next run whether it landed, and vacuum removes what did not',
    cause,
  });
}
