import { serviceError } from '../base/errors.ts';

/** docs/spec/commit-state-machine.md; the table below is that page's table. */
export type CommitState = 'idle' | 'committing' | 'rebasing' | 'verifying' | 'done' | 'discarded';

export type CommitEvent =
  /** A staged batch is next. */
  | 'staged'
  /** The store said: created. */
  | 'committed'
  /** Another version took the place, or the attempt certainly changed nothing. */
  | 'conflict'
  /** The store did not say whether the version was created. */
  | 'timeout'
  /** Our commit id is in the log. */
  | 'found'
  /** The log was read and our commit id is not in it. */
  | 'absent'
  /** Looked at the newest version: the batch still fits. */
  | 'rebased'
  /** Looked at the newest version: the batch's offsets or schema no longer fit. */
  | 'stale';

const impossible = undefined;

/** Total: a forgotten cell is a compile error. `undefined` marks what cannot happen. */
const transitions: Readonly<Record<CommitState, Readonly<Record<CommitEvent, CommitState | undefined>>>> = {
  idle: cells({ staged: 'committing' }),
  committing: cells({ committed: 'done', found: 'done', conflict: 'rebasing', timeout: 'verifying', stale: 'discarded' }),
  // `absent` is no proof that a lost write will never land. The retry is safe: rebasing reads the marks again and the commit is conditional.
  rebasing: cells({ rebased: 'committing', stale: 'discarded', found: 'done' }),
  verifying: cells({ found: 'done', absent: 'rebasing' }),
  done: cells({}),
  discarded: cells({}),
};

function cells(known: Partial<Record<CommitEvent, CommitState>>): Record<CommitEvent, CommitState | undefined> {
  return {
    staged: known.staged ?? impossible,
    committed: known.committed ?? impossible,
    conflict: known.conflict ?? impossible,
    timeout: known.timeout ?? impossible,
    found: known.found ?? impossible,
    absent: known.absent ?? impossible,
    rebased: known.rebased ?? impossible,
    stale: known.stale ?? impossible,
  };
}

/** @throws ServiceError `COMMIT_STATE_INVALID` (kind internal) for a cell that cannot happen. */
export function nextCommitState(state: CommitState, event: CommitEvent): CommitState {
  const next = transitions[state][event];
  if (next === undefined) {
    throw serviceError.internal('COMMIT_STATE_INVALID', `commit state ${state} has no transition for ${event}`);
  }
  return next;
}
