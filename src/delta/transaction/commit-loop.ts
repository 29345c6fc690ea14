import { describeError, isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { CommitConflict, CommitId } from '../../table/commit.ts';
import { type CommitEnd, type Doubt, driveCommit, type Seen, type Tried } from '../../table/commit-driver.ts';
import { beforeFirstVersion, nextVersion, type Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationCommit, OperationContext } from '../operations/operation-context.ts';

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

/**
 * Takes a commit to a certain end: `driveCommit` tells how.
 *
 * Why trying again is safe while the first try is in doubt: both aim at the first free version with a conditional put, so at most one of
 * them lands, and the commit id tells whose it is.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): the caller must delete nothing; the store's own errors, and `ABORTED`,
 * only while nothing is in doubt.
 */
export function commitUntilCertain<Conflict>(
  context: OperationContext,
  request: CommitAttempts<Conflict>,
  signal?: AbortSignal,
): Promise<CommitEnd<Version, Conflict>> {
  const { base, commitId, refusal } = request;
  /** A file of the last try was missing, which no version makes good. */
  let missing: Conflict | undefined;
  const attempt = async (onto: DeltaSnapshot): Promise<Tried<Version, Conflict>> => {
    missing = undefined;
    const outcome = await context.tryCommit(onto, request.commitOn(onto), commitId);
    if (outcome.kind === 'unknown') return outcome;
    if (outcome.kind !== 'conflicted') return { kind: 'committed', landed: outcome.version };
    const refused = refusal(outcome.conflict);
    if (outcome.conflict.kind === 'staged-missing') missing = refused;
    return { kind: 'conflicted', refusal: refused };
  };
  const look = async (_onto: DeltaSnapshot, doubt: Doubt<DeltaSnapshot> | undefined): Promise<Seen<DeltaSnapshot, Version, Conflict>> => {
    const { fresh, found } = await latest(context, request, doubt !== undefined);
    if (found !== undefined) return { kind: 'committed', landed: found };
    // Once somebody else has the version that it aimed at, the lost try can no longer land.
    const mayLand = doubt !== undefined && fresh.version < nextVersion(doubt.base.version);
    const known = base.version === beforeFirstVersion || (await context.stands(base));
    const outdated = missing ?? (known ? undefined : refusal({ kind: 'history-changed', latest: fresh.version }));
    return { kind: 'newer', base: fresh, mayLand, standing: outdated ?? (await request.conflictWith(fresh)) };
  };
  return driveCommit(
    context,
    {
      base,
      retry: () => ({ retries: request.maxAttempts - 1, backoff: { initialMs: 20, maxMs: 2_000 }, totalMs: Infinity, eager: true }),
      attempt,
      look,
      unknown: (doubt, cause) => outcomeUnknown(context.name, request.operation, nextVersion(doubt.base.version), cause),
    },
    signal,
  );
}

/** The table as it is now. `found`: the version that a commit in doubt has become. */
async function latest(
  context: OperationContext,
  { base, commitId }: Pick<CommitAttempts<unknown>, 'base' | 'commitId'>,
  inDoubt: boolean,
): Promise<{ readonly fresh: DeltaSnapshot; readonly found?: Version | undefined }> {
  try {
    const fresh = await context.refresh();
    return { fresh, found: inDoubt ? await context.findCommit(commitId, base.version) : undefined };
  } catch (error) {
    // There is still no table: its first version is free, and a lost try may yet take it.
    if (base.version === beforeFirstVersion && isServiceError(error, 'not-found')) return { fresh: base };
    throw error;
  }
}

function outcomeUnknown(table: string, operation: string, version: Version, cause: unknown): ServiceError {
  return serviceError.unknownOutcome(
    'COMMIT_OUTCOME_UNKNOWN',
    `table "${table}": ${operation} may or may not be version ${version}: ${describeError(cause)}`,
    { hint: 'nothing was deleted; the log tells at the next run whether it landed, and vacuum removes what did not', cause },
  );
}
