import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { type BackoffPolicy, backoffMs } from '../../base/backoff.ts';
import { describeError, isServiceError, ServiceError } from '../../base/errors.ts';
import type { CommitConflict, CommitId } from '../../table/commit.ts';
import { beforeFirstVersion, nextVersion, type Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationCommit, OperationContext } from '../operations/operation-context.ts';

const backoff: BackoffPolicy = { initialMs: 20, maxMs: 2_000 };

/** A commit to be taken to a certain end. `Conflict`: what the caller calls a reason to give up. */
interface CommitAttempts<Conflict> {
  /** What the first attempt is put on top of; version -1 for a table that is being created. */
  readonly base: DeltaSnapshot;
  readonly commitId: CommitId;
  /** For messages. */
  readonly operation: string;
  readonly maxAttempts: number;
  /** What to commit on top of `base`. */
  commitOn(base: DeltaSnapshot): OperationCommit;
  /** What a refused attempt says against trying again at all; `undefined`: ask `conflictWith`. */
  readonly refusal: (conflict: CommitConflict) => Conflict | undefined;
  /** What stands against the commit on a newer version; `undefined` when it still holds. */
  conflictWith(fresh: DeltaSnapshot): Promise<Conflict | undefined>;
}

type CommitEnd<Conflict> =
  | { readonly kind: 'committed'; readonly version: Version }
  /** Certain: no version holds the commit, and none ever will. `undefined`: the attempts are used up. */
  | { readonly kind: 'conflicted'; readonly conflict: Conflict | undefined; readonly attempts: number };

/**
 * Takes a commit to a certain end: tries the version after the newest, again on each newer one for as long as nothing stands against it.
 * After an unknown outcome the log is read before anything else happens; a commit that may have landed is not given up.
 *
 * Why trying again is safe while the first try is in doubt: both aim at the first free version with a conditional put, so at most one of
 * them lands, and the commit id tells whose it is.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): the caller must delete nothing; the store's own errors, and `ABORTED`,
 * only while nothing is in doubt.
 */
export async function commitUntilCertain<Conflict>(
  context: OperationContext,
  request: CommitAttempts<Conflict>,
  signal?: AbortSignal,
): Promise<CommitEnd<Conflict>> {
  let base = request.base;
  let doubt: Doubt | undefined;
  let attempt = 0;
  for (; attempt < request.maxAttempts; attempt++) {
    if (doubt === undefined) throwIfAborted(signal);
    const tried = await attemptOn(context, base, request, doubt);
    if (tried.kind === 'committed') return tried;
    if (tried.kind === 'conflicted') {
      const refusal = doubt === undefined ? request.refusal(tried.conflict) : undefined;
      if (refusal !== undefined) return { kind: 'conflicted', conflict: refusal, attempts: attempt + 1 };
    } else doubt = tried;
    if (attempt > 0 || doubt !== undefined) await context.clock.sleep(backoffMs(backoff, attempt, context.random));
    const seen = await look(context, request, doubt);
    if (seen === undefined) continue;
    if (seen.found !== undefined) return { kind: 'committed', version: seen.found };
    base = seen.fresh;
    // The version it aimed at is taken by somebody else: the lost try can no longer land.
    if (doubt !== undefined && base.version >= doubt.target) doubt = undefined;
    const standing = (await outdated(context, request, tried, base)) ?? (await request.conflictWith(base));
    if (standing === undefined) continue;
    if (doubt === undefined) return { kind: 'conflicted', conflict: standing, attempts: attempt + 1 };
    // Nothing must be tried any more, yet the lost try may still land in its free version: somebody has to take it first.
    break;
  }
  if (doubt === undefined) return { kind: 'conflicted', conflict: undefined, attempts: attempt };
  throw outcomeUnknown(context, request, doubt, doubt.cause);
}

/** What stands against trying again on any version. */
async function outdated<Conflict>(
  context: OperationContext,
  { base, refusal }: CommitAttempts<Conflict>,
  tried: Attempt | Doubt,
  fresh: DeltaSnapshot,
): Promise<Conflict | undefined> {
  if (tried.kind === 'conflicted' && tried.conflict.kind === 'staged-missing') return refusal(tried.conflict);
  const known = base.version === beforeFirstVersion || (await context.stands(base));
  return known ? undefined : refusal({ kind: 'history-changed', latest: fresh.version });
}

interface Doubt {
  readonly kind: 'unknown';
  /** The version the commit may have become, or may still become. */
  readonly target: Version;
  readonly cause: unknown;
}

type Attempt =
  | { readonly kind: 'committed'; readonly version: Version }
  | { readonly kind: 'conflicted'; readonly conflict: CommitConflict };

async function attemptOn<Conflict>(
  context: OperationContext,
  base: DeltaSnapshot,
  request: CommitAttempts<Conflict>,
  doubt: Doubt | undefined,
): Promise<Attempt | Doubt> {
  try {
    // No signal: a commit that began is seen through.
    const outcome = await context.tryCommit(base, request.commitOn(base), request.commitId);
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
async function look<Conflict>(
  context: OperationContext,
  request: CommitAttempts<Conflict>,
  doubt: Doubt | undefined,
): Promise<Sight | undefined> {
  try {
    const fresh = await context.refresh();
    return { fresh, found: doubt === undefined ? undefined : await context.findCommit(request.commitId, request.base.version) };
  } catch (error) {
    const creating = request.base.version === beforeFirstVersion;
    // There is still no table: its first version is free, and the lost try may yet take it.
    if (creating && isServiceError(error, 'not-found')) return { fresh: request.base, found: undefined };
    if (doubt === undefined) throw error;
    if (!isServiceError(error, 'unavailable')) throw outcomeUnknown(context, request, doubt, error);
    return undefined;
  }
}

function outcomeUnknown<Conflict>(
  context: OperationContext,
  request: CommitAttempts<Conflict>,
  doubt: Doubt,
  cause: unknown,
): ServiceError {
  return new ServiceError({
    code: 'COMMIT_OUTCOME_UNKNOWN',
    kind: 'unknown-outcome',
    message: `table "${context.name}": ${request.operation} may or may not be version ${doubt.target}: ${describeError(cause)}`,
    hint: 'nothing was deleted; the log tells at the next run whether it landed, and vacuum removes what did not',
    cause,
  });
}
