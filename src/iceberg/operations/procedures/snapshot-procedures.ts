import type { Procedure } from '../../../table/queries.ts';
import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import { snapshotNotFound } from '../../snapshot-state-of.ts';
import type { TableContext } from '../../table-context.ts';
import { cherrypickSnapshot, type PickedSnapshot, publishChanges } from '../refs/cherrypick.ts';
import { fastForward } from '../refs/fast-forward.ts';
import { currentSnapshot, type MovedMain, rollbackToSnapshot, rollbackToTimestamp, setCurrentSnapshot } from '../refs/move-main.ts';
import { procedure } from './procedure.ts';

const movedColumns = { previous_snapshot_id: 'long', current_snapshot_id: 'long' } as const;
const pickedColumns = { source_snapshot_id: 'long', current_snapshot_id: 'long' } as const;

/** Procedures that move branches between snapshots. */
export function snapshotProcedures(context: TableContext): readonly Procedure[] {
  return [...moves(context), ...picks(context), ancestors(context)];
}

function moves(context: TableContext): readonly Procedure[] {
  return [
    procedure({
      name: 'rollback_to_snapshot',
      required: { snapshot_id: 'long' },
      output: movedColumns,
      run: async (given, signal) => movedRow(await rollbackToSnapshot(context, given.snapshot_id, { signal })),
    }),
    procedure({
      name: 'rollback_to_timestamp',
      required: { timestamp: 'timestamp' },
      output: movedColumns,
      run: async ({ timestamp }, signal) => movedRow(await rollbackToTimestamp(context, timestamp, { signal })),
    }),
    procedure({
      name: 'set_current_snapshot',
      optional: { snapshot_id: 'long', ref: 'string' },
      output: movedColumns,
      run: async ({ snapshot_id: snapshotId, ref }, signal) => movedRow(await setCurrentSnapshot(context, { snapshotId, ref }, { signal })),
    }),
    procedure({
      name: 'fast_forward',
      required: { branch: 'string', to: 'string' },
      output: { branch_updated: 'string', previous_ref: 'long', updated_ref: 'long' },
      run: async (given, signal) => {
        const done = await fastForward(context, given, { signal });
        return [[done.branch, done.previousSnapshotId, done.snapshotId]];
      },
    }),
  ];
}

function picks(context: TableContext): readonly Procedure[] {
  return [
    procedure({
      name: 'cherrypick_snapshot',
      required: { snapshot_id: 'long' },
      output: pickedColumns,
      run: async (given, signal) => pickedRow(await cherrypickSnapshot(context, given.snapshot_id, { signal })),
    }),
    procedure({
      name: 'publish_changes',
      required: { wap_id: 'string' },
      output: pickedColumns,
      run: async (given, signal) => pickedRow(await publishChanges(context, given.wap_id, { signal })),
    }),
  ];
}

function ancestors(context: TableContext): Procedure {
  return procedure({
    name: 'ancestors_of',
    optional: { snapshot_id: 'long' },
    output: { snapshot_id: 'long', timestamp: 'long' },
    run: async ({ snapshot_id: id }, signal) => {
      const { metadata } = await context.refresh(signal);
      const from = id === undefined ? currentSnapshot(metadata) : snapshotById(metadata, id);
      if (id !== undefined && from === undefined) throw snapshotNotFound(`Cannot find snapshot with ID ${id}`);
      return [...ancestorsOf(metadata, from)].map(({ snapshotId, timestampMs }) => [snapshotId, BigInt(timestampMs)]);
    },
  });
}

function movedRow({ previousSnapshotId, currentSnapshotId }: MovedMain): readonly (readonly (bigint | undefined)[])[] {
  return [[previousSnapshotId, currentSnapshotId]];
}

function pickedRow({ sourceSnapshotId, currentSnapshotId }: PickedSnapshot): readonly (readonly bigint[])[] {
  return [[sourceSnapshotId, currentSnapshotId]];
}
