import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { backoffMs } from '../../base/backoff.ts';
import { isServiceError } from '../../base/errors.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../pointer/table-pointer.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import type { TableContext } from '../table-context.ts';
import { CommitFailedException, CommitStateUnknownException } from './commit-errors.ts';
import { commitRetry, type RetrySettings, statusCheck } from './commit-settings.ts';

/** What of a table's context taking a commit to its end needs. */
export type CommitContext = Pick<TableContext, 'name' | 'pointer' | 'clock' | 'random'>;

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
 * Takes a commit to a certain end: swaps it on top of the base, and of each newer one for as long as nothing stands against it and the
 * table's `commit.retry.*` allow. After an unknown outcome the table is read before anything else happens (`commit.status-check.*`).
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
  const { clock, pointer, random } = context;
  const startedMs = clock.monotonicMs();
  let base = first;
  for (let attempt = 0; ; attempt += 1) {
    throwIfAborted(signal);
    const change = await steps.changeOn(base);
    if (change === undefined) return { kind: 'nothing' };
    const outcome = await swapOnce(pointer, base, change);
    if (outcome.kind === 'committed') return outcome;
    let reason: string;
    switch (outcome.kind) {
      case 'conflicted':
        reason = outcome.reason;
        break;
      case 'unknown': {
        const seen = await lookFor(context, base, change, steps, outcome.cause);
        if (seen.kind === 'committed') return seen;
        reason = 'another commit took its place';
        break;
      }
      default:
        return assertNever(outcome);
    }
    const settings = commitRetry(base?.metadata.properties ?? {});
    const elapsedMs = clock.monotonicMs() - startedMs;
    const isLast = attempt >= settings.retries || elapsedMs > settings.totalMs;
    if (!isLast) await clock.sleep(backoffMs(settings.backoff, attempt, random), signal);
    const newest = await pointer.load(base, signal);
    // A refusal may be the answer to a request that was sent twice on its way, whose first copy was granted.
    if (newest !== undefined && addsSnapshot(change) && steps.hasLanded(newest.metadata, change))
      return { kind: 'committed', loaded: newest };
    if (isLast) {
      throw new CommitFailedException(context.name, `${reason} (attempt ${attempt + 1}, after ${Math.round(elapsedMs)} ms)`);
    }
    base = newest;
  }
}

/** Only what has an id of its own can be told from what somebody else did. */
function addsSnapshot({ updates }: MetadataChange): boolean {
  return updates.some(({ action }) => action === 'add-snapshot');
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

/** Looks for a change that may have landed. `passed`: it has not, and others took its place. */
async function lookFor(
  context: CommitContext,
  base: LoadedMetadata | undefined,
  change: MetadataChange,
  steps: CommitSteps,
  cause: unknown,
): Promise<{ readonly kind: 'committed'; readonly loaded: LoadedMetadata } | { readonly kind: 'passed' }> {
  const settings: RetrySettings = statusCheck(base?.metadata.properties ?? {});
  const startedMs = context.clock.monotonicMs();
  for (let check = 0; check <= settings.retries && context.clock.monotonicMs() - startedMs <= settings.totalMs; check += 1) {
    if (check > 0) await context.clock.sleep(backoffMs(settings.backoff, check - 1, context.random));
    // The storage or the catalog may still not answer: only time can tell.
    const newest = await context.pointer.load(undefined).catch(() => undefined);
    if (newest === undefined) continue;
    if (steps.hasLanded(newest.metadata, change)) return { kind: 'committed', loaded: newest };
    if (newest.metadataLocation !== base?.metadataLocation) return { kind: 'passed' };
  }
  throw new CommitStateUnknownException(context.name, cause);
}
