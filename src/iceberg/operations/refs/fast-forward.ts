import type { CommitOptions } from '../../../table/row-operations.ts';
import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import type { TableContext } from '../../table-context.ts';
import { commitUpdates } from '../../transaction/commit-updates.ts';
import { illegalArgument } from '../operation-errors.ts';
import { branchChange, knownRefs } from './move-main.ts';

export interface ForwardedBranch {
  readonly branch: string;
  /** `undefined`: the branch was made. */
  readonly previousSnapshotId: bigint | undefined;
  readonly snapshotId: bigint;
}

/**
 * Moves a branch to the snapshot of another branch or tag, which has to descend from the branch's own; a branch that is not there is made.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for names that are no fit branches and for snapshots that are not on one line.
 */
export async function fastForward(
  context: TableContext,
  { branch, to }: { readonly branch: string; readonly to: string },
  options: CommitOptions = {},
): Promise<ForwardedBranch> {
  let done: ForwardedBranch | undefined;
  await commitUpdates(
    context,
    ({ loaded, metadata }) => {
      const target = metadata.refs.get(to);
      if (target === undefined) throw illegalArgument(`Ref does not exist: ${to}`, knownRefs(metadata));
      const known = metadata.refs.get(branch);
      if (known?.type === 'tag') throw illegalArgument(`Ref ${branch} is a tag not a branch`);
      done = { branch, previousSnapshotId: known?.snapshotId, snapshotId: target.snapshotId };
      if (known?.snapshotId === target.snapshotId) return undefined;
      const line = [...ancestorsOf(metadata, snapshotById(metadata, target.snapshotId))].map(({ snapshotId }) => snapshotId);
      if (known !== undefined && !line.includes(known.snapshotId)) {
        throw illegalArgument(`Cannot fast-forward: ${branch} is not an ancestor of ${to}`, 'set the branch: CREATE OR REPLACE BRANCH');
      }
      return branchChange(loaded, branch, target.snapshotId);
    },
    options,
  );
  if (done === undefined) throw illegalArgument(`Ref does not exist: ${to}`);
  return done;
}
