import type { CommitId } from '../../table/commit.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { snapshotStateOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { commitIdKey } from './snapshot-production.ts';

/**
 * The snapshot this commit became, in the ancestry of the context's branch; `undefined` when there is none, or when it was
 * expired.
 */
export async function findCommit(
  context: Pick<TableContext, 'refresh' | 'branch'>,
  commitId: CommitId,
  signal?: AbortSignal,
): Promise<SnapshotState | undefined> {
  const { loaded, snapshot } = await context.refresh(signal);
  for (const ancestor of ancestorsOf(loaded.metadata, snapshot)) {
    if (ancestor.summary[commitIdKey] === commitId) return snapshotStateOf(loaded, { snapshotId: ancestor.snapshotId });
  }
  return undefined;
}
