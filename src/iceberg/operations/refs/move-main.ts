import type { CommitOptions } from '../../../table/row-operations.ts';
import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import { requirementsFor } from '../../metadata/requirements.ts';
import type { IcebergSnapshot, SnapshotRef, TableMetadata } from '../../metadata/table-metadata.ts';
import type { LoadedMetadata, MetadataChange } from '../../pointer/table-pointer.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import { mainBranch } from '../../snapshot-state-of.ts';
import type { TableContext } from '../../table-context.ts';
import { commitUpdates } from '../../transaction/commit-updates.ts';
import { illegalArgument, refusedOperation } from '../operation-errors.ts';

/** Where the main branch was and is. */
export interface MovedMain {
  readonly previousSnapshotId: bigint | undefined;
  readonly currentSnapshotId: bigint;
}

/** Makes an ancestor of the current snapshot the current one. @throws AnalysisException `VALIDATION_FAILED` for any other snapshot. */
export function rollbackToSnapshot(context: TableContext, snapshotId: bigint, options: CommitOptions = {}): Promise<MovedMain> {
  return moveMain(context, (metadata) => checkedAncestor(metadata, snapshotId), options);
}

/** Makes the newest ancestor from before a time (milliseconds since the epoch) the current snapshot. */
export function rollbackToTimestamp(context: TableContext, timestampMs: number, options: CommitOptions = {}): Promise<MovedMain> {
  return moveMain(
    context,
    (metadata) => {
      for (const ancestor of ancestorsOf(metadata, currentSnapshot(metadata))) {
        if (ancestor.timestampMs < timestampMs) return ancestor.snapshotId;
      }
      throw illegalArgument(`Cannot roll back, no valid snapshot older than: ${timestampMs}`);
    },
    options,
  );
}

/** Makes any snapshot of the table, by its id or by a branch or tag, the current one. */
export function setCurrentSnapshot(
  context: TableContext,
  target: { readonly snapshotId?: bigint | undefined; readonly ref?: string | undefined },
  options: CommitOptions = {},
): Promise<MovedMain> {
  const { snapshotId, ref } = target;
  if ((snapshotId === undefined) === (ref === undefined)) {
    return Promise.reject(illegalArgument('Either snapshot_id or ref must be provided, not both'));
  }
  return moveMain(
    context,
    (metadata) => {
      const id = snapshotId ?? metadata.refs.get(ref ?? '')?.snapshotId;
      if (id === undefined) throw refusedOperation(`Cannot find matching snapshot ID for ref ${ref ?? ''}`, knownRefs(metadata));
      if (snapshotById(metadata, id) === undefined) throw refusedOperation(`Cannot roll back to unknown snapshot id: ${id}`);
      return id;
    },
    options,
  );
}

/** The snapshot that readers get who name no other. */
export function currentSnapshot(metadata: TableMetadata): IcebergSnapshot | undefined {
  const id = metadata.refs.get(mainBranch)?.snapshotId ?? metadata.currentSnapshotId;
  return id === undefined ? undefined : snapshotById(metadata, id);
}

/** What moves a branch; its retention stays. */
export function branchChange({ metadata }: LoadedMetadata, branch: string, snapshotId: bigint): MetadataChange {
  const known = metadata.refs.get(branch);
  const settings = { minSnapshotsToKeep: undefined, maxSnapshotAgeMs: undefined, maxRefAgeMs: undefined, ...known };
  const ref: SnapshotRef = { ...settings, type: 'branch', snapshotId };
  const updates = [{ action: 'set-snapshot-ref', refName: branch, ref }] as const;
  return { requirements: requirementsFor(metadata, updates), updates };
}

export function knownRefs({ refs }: TableMetadata): string {
  return `it has the branches and tags: ${[...refs.keys()].slice(0, 20).join(', ') || 'none'}`;
}

async function moveMain(context: TableContext, targetIn: (metadata: TableMetadata) => bigint, options: CommitOptions): Promise<MovedMain> {
  let moved: MovedMain | undefined;
  await commitUpdates(
    context,
    ({ loaded, metadata }: SnapshotState) => {
      const target = targetIn(metadata);
      const previous = currentSnapshot(metadata)?.snapshotId;
      moved = { previousSnapshotId: previous, currentSnapshotId: target };
      return previous === target ? undefined : branchChange(loaded, mainBranch, target);
    },
    options,
  );
  if (moved === undefined) throw refusedOperation(`table ${context.name} has no snapshot to move`);
  return moved;
}

function checkedAncestor(metadata: TableMetadata, snapshotId: bigint): bigint {
  if (snapshotById(metadata, snapshotId) === undefined) throw refusedOperation(`Cannot roll back to unknown snapshot id: ${snapshotId}`);
  for (const ancestor of ancestorsOf(metadata, currentSnapshot(metadata))) if (ancestor.snapshotId === snapshotId) return snapshotId;
  throw refusedOperation(
    `Cannot roll back to snapshot, not an ancestor of the current state: ${snapshotId}`,
    'set_current_snapshot takes any snapshot of the table',
  );
}
