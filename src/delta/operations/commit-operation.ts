import type { CommitConflict, CommitId } from '../../table/commit.ts';
import type { Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { commitUntilCertain } from '../transaction/commit-loop.ts';
import type { OperationCommit, OperationContext } from './operation-context.ts';

/** Attempts of one maintenance commit. Each lost one means that somebody else made progress; ingest commits several times a second. */
const maxAttempts = 60;

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
 * Takes a maintenance commit to a certain end, which may be a conflict: `commitUntilCertain` tells how.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome): the caller must delete nothing; the store's own errors, and `ABORTED`,
 * only while nothing is in doubt.
 */
export async function commitOperation(
  context: OperationContext,
  request: OperationRequest,
  signal?: AbortSignal,
): Promise<OperationOutcome> {
  let latest = request.base.version;
  const end = await commitUntilCertain<CommitConflict>(
    context,
    {
      base: request.base,
      commitId: request.commitId,
      operation: request.commit.operation,
      maxAttempts,
      commitOn: () => request.commit,
      refusal: (conflict) => (conflict.kind === 'version-taken' ? undefined : conflict),
      conflictWith: (fresh) => {
        latest = fresh.version;
        return Promise.resolve(request.conflictWith(fresh));
      },
    },
    signal,
  );
  if (end.kind === 'committed') return { kind: 'committed', version: end.landed };
  return { kind: 'conflicted', conflict: end.conflict ?? { kind: 'version-taken', latest } };
}
