import { assert, assertNever } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import type { CommitId } from '../../table/commit.ts';
import type { CommitOptions } from '../../table/row-operations.ts';
import { snapshotById } from '../ancestry.ts';
import type { LoadedMetadata, SwapOutcome } from '../pointer/table-pointer.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { type StatePoint, snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { commitUntilCertain, swapOnce } from './commit-loop.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { type PreparedSnapshot, SnapshotProduction } from './snapshot-production.ts';

export interface SnapshotCommitOptions extends CommitOptions {
  /** Stored with the snapshot, the same for every attempt: `findCommit` finds it. */
  readonly commitId?: CommitId | undefined;
  /** When writing the added files began: see `missingStagedFile`. */
  readonly stagedSinceMs?: number | undefined;
  /** Default: the context's. */
  readonly branch?: string | undefined;
}

/**
 * Takes a change to a certain end: the newest state of the branch with its snapshot; of a change that is staged only, the state of the
 * staged snapshot. Tries again on newer bases for as long as nothing stands against it and the table's `commit.retry.*` allow; manifests
 * are written once, and what lost attempts wrote is deleted. Data files are the caller's: they are not deleted here.
 *
 * Whether the mark of `idempotency` is there already must have been asked before (`isAlreadyWritten`).
 *
 * @throws ValidationException, CommitFailedException (kind conflict) and errors of the storage and the catalog: certain, the change is not
 * in the table, and its manifests are deleted. CommitStateUnknownException (kind unknown-outcome): it may be; delete nothing.
 */
export async function commitSnapshot(
  context: TableContext,
  base: SnapshotState,
  change: SnapshotChange,
  options: SnapshotCommitOptions = {},
): Promise<SnapshotState> {
  const branch = options.branch ?? context.writeBranch ?? context.branch;
  const loaded = await commitProduced(
    context,
    base.loaded,
    new SnapshotProduction(context, change, { ...options, branch }),
    options.signal,
  );
  const state = snapshotStateOf(loaded.loaded, statePoint(branch, loaded.prepared));
  if (!loaded.prepared.staged && branch === context.branch) context.adopt(state);
  return state;
}

/** How one attempt at a change ended. */
export type TriedSnapshot =
  | { readonly kind: 'committed'; readonly state: SnapshotState }
  /** Somebody else was first. Nothing of the attempt is left. `state`: the newest. */
  | { readonly kind: 'conflicted'; readonly state: SnapshotState }
  /** It may have landed: ask `findCommit`, delete nothing. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * One attempt at a change on top of the base. Does not retry or verify.
 *
 * @throws ValidationException, errors of the storage and the catalog: certain, nothing of the attempt is in the table.
 */
export async function tryCommitSnapshot(
  context: TableContext,
  base: SnapshotState,
  change: SnapshotChange,
  options: SnapshotCommitOptions = {},
): Promise<TriedSnapshot> {
  const branch = options.branch ?? context.writeBranch ?? context.branch;
  const production = new SnapshotProduction(context, change, { ...options, branch });
  let prepared: PreparedSnapshot;
  let outcome: SwapOutcome;
  try {
    prepared = await production.attempt(base.loaded, options.signal);
    outcome = await swapOnce(context.pointer, base.loaded, prepared.change);
  } catch (error) {
    await production.discard();
    throw error;
  }
  switch (outcome.kind) {
    case 'committed': {
      await production.discard(prepared);
      const state = snapshotStateOf(outcome.loaded, statePoint(branch, prepared));
      if (!prepared.staged && branch === context.branch) context.adopt(state);
      return { kind: 'committed', state };
    }
    case 'conflicted': {
      const state = await context.refresh(options.signal);
      const { snapshotId } = prepared.snapshot;
      // A refusal may be the answer to a request that was sent twice on its way, whose first copy was granted.
      const landed = snapshotById(state.metadata, snapshotId) !== undefined;
      await production.discard(landed ? prepared : undefined);
      return landed ? { kind: 'committed', state: snapshotStateOf(state.loaded, { snapshotId }) } : { kind: 'conflicted', state };
    }
    case 'unknown':
      return outcome;
    default:
      return assertNever(outcome);
  }
}

/** Commits what a production makes; `base` undefined creates the table. @throws as `commitSnapshot`. */
export async function commitProduced(
  context: Pick<TableContext, 'name' | 'pointer' | 'clock' | 'random' | 'commitTried'>,
  base: LoadedMetadata | undefined,
  production: SnapshotProduction,
  signal: AbortSignal | undefined,
): Promise<{ readonly loaded: LoadedMetadata; readonly prepared: PreparedSnapshot }> {
  const attempts: PreparedSnapshot[] = [];
  try {
    const end = await commitUntilCertain(
      context,
      base,
      {
        changeOn: async (newest) => {
          const prepared = await production.attempt(newest, signal);
          attempts.push(prepared);
          return prepared.change;
        },
        hasLanded: (metadata) => production.snapshotId !== undefined && snapshotById(metadata, production.snapshotId) !== undefined,
      },
      signal,
    );
    const { loaded, prepared } = committedAttempt(end, attempts);
    await production.discard(prepared);
    return { loaded, prepared };
  } catch (error) {
    if (!isServiceError(error, 'unknown-outcome')) await production.discard();
    throw error;
  }
}

/** After an unknown outcome it may be an earlier attempt than the last that the table has: its list says which. */
function committedAttempt(
  end: Awaited<ReturnType<typeof commitUntilCertain>>,
  attempts: readonly PreparedSnapshot[],
): { readonly loaded: LoadedMetadata; readonly prepared: PreparedSnapshot } {
  const last = attempts.at(-1);
  assert(end.kind === 'committed' && last !== undefined, 'a snapshot is always something to commit');
  const { metadata } = end.loaded;
  const list = snapshotById(metadata, last.snapshot.snapshotId)?.manifestList;
  return { loaded: end.loaded, prepared: attempts.find((attempt) => attempt.list === list) ?? last };
}

function statePoint(branch: string, { snapshot, staged }: PreparedSnapshot): StatePoint {
  return staged ? { snapshotId: snapshot.snapshotId } : { branch };
}
