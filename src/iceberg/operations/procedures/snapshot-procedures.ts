import type { Procedure } from '../../../table/queries.ts';
import { ancestorsOf, snapshotById } from '../../ancestry.ts';
import { snapshotNotFound } from '../../snapshot-state-of.ts';
import type { TableContext } from '../../table-context.ts';
import { cherrypickSnapshot, publishChanges } from '../refs/cherrypick.ts';
import { fastForward } from '../refs/fast-forward.ts';
import { currentSnapshot, rollbackToSnapshot, rollbackToTimestamp, setCurrentSnapshot } from '../refs/move-main.ts';
import { optional, ProcedureValues, required, resultColumns } from './procedure-values.ts';

const movedColumns = resultColumns({ previous_snapshot_id: 'long', current_snapshot_id: 'long' });
const pickedColumns = resultColumns({ source_snapshot_id: 'long', current_snapshot_id: 'long' });

/** Procedures that move branches between snapshots. */
export function snapshotProcedures(context: TableContext): readonly Procedure[] {
  return [...moves(context), ...picks(context), ancestors(context)];
}

function moves(context: TableContext): readonly Procedure[] {
  return [
    {
      name: 'rollback_to_snapshot',
      parameters: [required('snapshot_id', 'long')],
      output: movedColumns,
      run: async (args, signal) => {
        const moved = await rollbackToSnapshot(context, new ProcedureValues(args).long('snapshot_id') ?? 0n, { signal });
        return [[moved.previousSnapshotId, moved.currentSnapshotId]];
      },
    },
    {
      name: 'rollback_to_timestamp',
      parameters: [required('timestamp', 'timestamp')],
      output: movedColumns,
      run: async (args, signal) => {
        const moved = await rollbackToTimestamp(context, new ProcedureValues(args).millis('timestamp') ?? 0, { signal });
        return [[moved.previousSnapshotId, moved.currentSnapshotId]];
      },
    },
    {
      name: 'set_current_snapshot',
      parameters: [optional('snapshot_id', 'long'), optional('ref', 'string')],
      output: movedColumns,
      run: async (args, signal) => {
        const values = new ProcedureValues(args);
        const moved = await setCurrentSnapshot(context, { snapshotId: values.long('snapshot_id'), ref: values.text('ref') }, { signal });
        return [[moved.previousSnapshotId, moved.currentSnapshotId]];
      },
    },
    {
      name: 'fast_forward',
      parameters: [required('branch', 'string'), required('to', 'string')],
      output: resultColumns({ branch_updated: 'string', previous_ref: 'long', updated_ref: 'long' }),
      run: async (args, signal) => {
        const values = new ProcedureValues(args);
        const done = await fastForward(context, { branch: values.text('branch') ?? '', to: values.text('to') ?? '' }, { signal });
        return [[done.branch, done.previousSnapshotId, done.snapshotId]];
      },
    },
  ];
}

function picks(context: TableContext): readonly Procedure[] {
  return [
    {
      name: 'cherrypick_snapshot',
      parameters: [required('snapshot_id', 'long')],
      output: pickedColumns,
      run: async (args, signal) => {
        const picked = await cherrypickSnapshot(context, new ProcedureValues(args).long('snapshot_id') ?? 0n, { signal });
        return [[picked.sourceSnapshotId, picked.currentSnapshotId]];
      },
    },
    {
      name: 'publish_changes',
      parameters: [required('wap_id', 'string')],
      output: pickedColumns,
      run: async (args, signal) => {
        const picked = await publishChanges(context, new ProcedureValues(args).text('wap_id') ?? '', { signal });
        return [[picked.sourceSnapshotId, picked.currentSnapshotId]];
      },
    },
  ];
}

function ancestors(context: TableContext): Procedure {
  return {
    name: 'ancestors_of',
    parameters: [optional('snapshot_id', 'long')],
    output: resultColumns({ snapshot_id: 'long', timestamp: 'long' }),
    run: async (args, signal) => {
      const { metadata } = await context.refresh(signal);
      const id = new ProcedureValues(args).long('snapshot_id');
      const from = id === undefined ? currentSnapshot(metadata) : snapshotById(metadata, id);
      if (id !== undefined && from === undefined) throw snapshotNotFound(`Cannot find snapshot with ID ${id}`);
      return [...ancestorsOf(metadata, from)].map(({ snapshotId, timestampMs }) => [snapshotId, BigInt(timestampMs)]);
    },
  };
}
