import { snapshotById } from '../../ancestry.ts';
import { findSnapshotState } from '../../find-snapshot-state.ts';
import type { MetadataUpdate } from '../../metadata/metadata-updates.ts';
import { requirementsFor } from '../../metadata/requirements.ts';
import type { IcebergSnapshot } from '../../metadata/table-metadata.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { commitUpdates } from '../../transaction/commit-updates.ts';
import { illegalArgument, refusedOperation } from '../operation-errors.ts';

/** A snapshot that statistics are made of, read by its own schema. */
export interface MeasuredSnapshot {
  readonly state: SnapshotState;
  readonly snapshot: IcebergSnapshot;
}

/** @returns `undefined`: none was named and the table has none. @throws AnalysisException `INVALID_ARGUMENT` for one that is not there. */
export async function measuredSnapshot(
  context: TableContext,
  { snapshotId, signal }: { readonly snapshotId?: bigint | undefined; readonly signal?: AbortSignal | undefined },
): Promise<MeasuredSnapshot | undefined> {
  const { loaded, snapshot: newest } = await context.refresh(signal);
  const snapshot = snapshotId === undefined ? newest : snapshotById(loaded.metadata, snapshotId);
  if (snapshotId !== undefined && snapshot === undefined) throw illegalArgument(`Snapshot not found: ${snapshotId}`);
  return snapshot && { snapshot, state: findSnapshotState(loaded, { kind: 'snapshot-id', id: snapshot.snapshotId }) };
}

/**
 * Sets statistics of a snapshot. @throws AnalysisException `VALIDATION_FAILED` when the snapshot has expired meanwhile; what committing throws.
 */
export async function setStatistics(
  context: TableContext,
  { snapshotId }: IcebergSnapshot,
  update: MetadataUpdate,
  signal: AbortSignal | undefined,
): Promise<void> {
  await commitUpdates(
    context,
    ({ metadata }) => {
      if (snapshotById(metadata, snapshotId) === undefined)
        throw refusedOperation(`Cannot set statistics of snapshot ${snapshotId}: it has expired meanwhile`);
      return { requirements: requirementsFor(metadata, [update]), updates: [update] };
    },
    { signal },
  );
}
