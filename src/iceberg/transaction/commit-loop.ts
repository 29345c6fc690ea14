import { backoffMs } from '../../base/backoff.ts';
import { isServiceError } from '../../base/errors.ts';
import { type Doubt, driveCommit } from '../../table/commit-driver.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../pointer/table-pointer.ts';
import type { TableContext } from '../table-context.ts';
import { CommitFailedException, CommitStateUnknownException } from './commit-errors.ts';
import { commitRetry, statusCheck } from './commit-settings.ts';

/** What of a table's context taking a commit to its end needs. */
export type CommitContext = Pick<TableContext, 'name' | 'pointer' | 'clock' | 'random' | 'commitTried'>;

/** A commit, as the attempts at it need it. */
export interface CommitSteps {
  /**
   * What to swap on top of the newest metadata (`undefined`: there is no table); `undefined` when there is nothing to commit on it.
   * Checks again what must hold. @throws what stands against the commit.
   */
  changeOn(base: LoadedMetadata | undefined): Promise<MetadataChange | undefined>;
  /** Whether metadata that was loaded has the change. */
  hasLanded(newest: TableMetadata, change: MetadataChange): boolean;
}

type CommitEnd = { readonly kind: 'committed'; readonly loaded: LoadedMetadata } | { readonly kind: 'nothing' };

/**
 * Takes a commit to a certain end: `driveCommit` tells how, the table's `commit.retry.*` how often. After an unknown outcome the table is read
 * until the swap is decided (`commit.status-check.*`).
 *
 * Trying again is safe once the base is not the newest any more: the swap in doubt aimed at the old one, and a snapshot's id is in the
 * table at most once.
 *
 * @throws CommitFailedException, what `changeOn` throws and the pointer's own errors: certain, the commit is not in the table.
 * CommitStateUnknownException: it may be, nothing it wrote may be deleted.
 */
export async function commitUntilCertain(
  context: CommitContext,
  first: LoadedMetadata | undefined,
  steps: CommitSteps,
  signal: AbortSignal | undefined,
): Promise<CommitEnd> {
  let change: MetadataChange | undefined;
  let reason = '';
  const hasLanded = ({ metadata }: LoadedMetadata): boolean => change !== undefined && steps.hasLanded(metadata, change);
  const end = await driveCommit<LoadedMetadata | undefined, CommitEnd, never>(
    context,
    {
      base: first,
      retry: (base) => commitRetry(base?.metadata.properties ?? {}),
      attempt: async (base) => {
        change = await steps.changeOn(base);
        if (change === undefined) return { kind: 'nothing', landed: { kind: 'nothing' } };
        const outcome = await swapOnce(context.pointer, base, change);
        if (outcome.kind === 'committed') return { kind: 'committed', landed: outcome };
        reason = outcome.kind === 'conflicted' ? outcome.reason : 'another commit took its place';
        return outcome.kind === 'conflicted' ? { kind: 'conflicted' } : outcome;
      },
      settle: (doubt) => lookFor(context, doubt, hasLanded),
      look: async (base) => {
        const newest = await context.pointer.load(base, signal);
        // A refusal may be the answer to a request that was sent twice on its way, whose first copy was granted.
        const landed = newest !== undefined && addsSnapshot(change) && hasLanded(newest);
        return landed
          ? { kind: 'committed', landed: { kind: 'committed', loaded: newest } }
          : { kind: 'newer', base: newest, mayLand: false };
      },
      unknown: (_doubt, cause) => new CommitStateUnknownException(context.name, cause),
    },
    signal,
  );
  if (end.kind === 'committed') return end.landed;
  throw new CommitFailedException(context.name, `${reason} (attempt ${end.attempts}, after ${Math.round(end.elapsedMs)} ms)`);
}

/** Only what has an id of its own can be told from what somebody else did. */
function addsSnapshot(change: MetadataChange | undefined): boolean {
  return change !== undefined && change.updates.some(({ action }) => action === 'add-snapshot');
}

/**
 * One attempt at a swap. That nobody knows how it ended is a result, not an error.
 *
 * @throws the pointer's errors: certain, nothing was changed.
 */
export async function swapOnce(pointer: TablePointer, base: LoadedMetadata | undefined, change: MetadataChange): Promise<SwapOutcome> {
  try {
    // Without a signal: a swap that began is seen through.
    return await pointer.swap(base, change);
  } catch (error) {
    if (isServiceError(error, 'unknown-outcome')) return { kind: 'unknown', cause: error };
    throw error;
  }
}

/** Looks for a change that may have landed. `undefined`: it has not, and others took its place. */
async function lookFor(
  { name, pointer, clock, random }: CommitContext,
  { base, cause }: Doubt<LoadedMetadata | undefined>,
  hasLanded: (newest: LoadedMetadata) => boolean,
): Promise<CommitEnd | undefined> {
  const { retries, totalMs, backoff } = statusCheck(base?.metadata.properties ?? {});
  const startedMs = clock.monotonicMs();
  for (let check = 0; check <= retries && clock.monotonicMs() - startedMs <= totalMs; check += 1) {
    if (check > 0) await clock.sleep(backoffMs(backoff, check - 1, random));
    // The storage or the catalog may still not answer: only time can tell.
    const newest = await pointer.load(undefined).catch(() => undefined);
    if (newest === undefined) continue;
    if (hasLanded(newest)) return { kind: 'committed', loaded: newest };
    if (newest.metadataLocation !== base?.metadataLocation) return undefined;
  }
  throw new CommitStateUnknownException(name, cause);
}
