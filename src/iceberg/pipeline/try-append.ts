import { assertNever } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import type { AppendIntent, CommitConflict, CommitId, CommitOutcome } from '../../table/commit.ts';
import { StagedFileMissingException } from '../../table/staged-presence.ts';
import type { Version } from '../../table/version.ts';
import { type ProgressMap, printProgress, progressKey, resolvedProgress } from '../progress.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { tryCommitSnapshot } from '../transaction/commit-snapshot.ts';
import { findCommit } from '../transaction/find-commit.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import { stagedContent } from './staged-content.ts';

/**
 * One attempt at appending staged files on top of the base, with the marks they carry: all marks stand in the snapshot's summary and in a
 * table property, both in the one swap. The swap holds only if the branch is where the base has it, so that a mark that equals its `from`
 * there does so when the commit lands.
 *
 * @throws ServiceError kind `unavailable` (nothing was changed), what writing manifests and the catalog throw.
 */
export async function tryAppend(
  context: TableContext,
  base: SnapshotState,
  intent: AppendIntent,
  signal?: AbortSignal,
): Promise<CommitOutcome> {
  const added = stagedContent(base, intent.files);
  return tryWithMarks(context, base, { intent, change: { kind: 'append', added, removed: [] } }, signal);
}

/** One attempt at a change with the marks of an intent. @throws as `tryAppend`. */
export async function tryWithMarks(
  context: TableContext,
  base: SnapshotState,
  { intent, change }: { readonly intent: AppendIntent; readonly change: Pick<SnapshotChange, 'kind' | 'added' | 'removed'> },
  signal?: AbortSignal,
): Promise<CommitOutcome> {
  const before = resolvedProgress(base);
  const moved = movedMark(base, before, intent);
  if (moved !== undefined) return { kind: 'conflicted', conflict: moved };
  const marks = printProgress(advanced(before, intent));
  const { commitId, stagedSinceMs, userMetadata } = intent;
  try {
    const outcome = await tryCommitSnapshot(
      context,
      base,
      {
        ...change,
        // The swap itself holds only on top of the base.
        validation: { since: base.snapshot?.snapshotId },
        summary: { [progressKey]: marks },
        updates: [{ action: 'set-properties', updates: { [progressKey]: marks } }],
      },
      { commitId, stagedSinceMs, userMetadata, signal },
    );
    switch (outcome.kind) {
      case 'committed':
        return { kind: 'committed', version: outcome.state.version };
      case 'conflicted':
        return { kind: 'conflicted', conflict: conflictOn(outcome.state, intent) };
      case 'unknown':
        return outcome;
      default:
        return assertNever(outcome);
    }
  } catch (error) {
    if (error instanceof StagedFileMissingException) {
      return { kind: 'conflicted', conflict: { kind: 'staged-missing', latest: base.version, path: error.path } };
    }
    // Others committed what an append must be looked at again for.
    if (isServiceError(error, 'conflict')) {
      return { kind: 'conflicted', conflict: { kind: 'version-taken', latest: (await context.refresh(signal)).version } };
    }
    throw error;
  }
}

/** The version a commit of ours became, in the branch's ancestry. */
export async function findAppend(context: TableContext, commitId: CommitId, signal?: AbortSignal): Promise<Version | undefined> {
  return (await findCommit(context, commitId, signal))?.version;
}

function conflictOn(newest: SnapshotState, intent: AppendIntent): CommitConflict {
  return movedMark(newest, resolvedProgress(newest), intent) ?? { kind: 'version-taken', latest: newest.version };
}

function movedMark(state: SnapshotState, marks: ProgressMap, { progress }: AppendIntent): CommitConflict | undefined {
  for (const { writerId, from } of progress) {
    const found = marks.get(writerId);
    if (found !== from) return { kind: 'progress-moved', writerId, expected: from, found, latest: state.version };
  }
  return undefined;
}

function advanced(before: ProgressMap, { progress }: AppendIntent): ProgressMap {
  const marks = new Map(before);
  for (const { writerId, until } of progress) marks.set(writerId, until);
  return marks;
}
