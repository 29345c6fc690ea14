import type { CommitId } from '../../table/commit.ts';
import { ancestorsOf } from '../ancestry.ts';
import type { IcebergView } from '../iceberg-view.ts';
import type { TableContext } from '../table-context.ts';
import { viewOf } from '../view-of.ts';
import { commitIdKey } from './snapshot-production.ts';

/**
 * The snapshot this commit became, in the ancestry of the context's branch; `undefined` when there is none, or when it was
 * expired.
 */
export async function findCommit(
  context: Pick<TableContext, 'refresh' | 'branch'>,
  commitId: CommitId,
  signal?: AbortSignal,
): Promise<IcebergView | undefined> {
  const { loaded, snapshot } = await context.refresh(signal);
  for (const ancestor of ancestorsOf(loaded.metadata, snapshot)) {
    if (ancestor.summary[commitIdKey] === commitId) return viewOf(loaded, { snapshotId: ancestor.snapshotId });
  }
  return undefined;
}
