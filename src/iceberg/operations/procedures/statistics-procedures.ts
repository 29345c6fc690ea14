import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { computePartitionStats } from '../statistics/compute-partition-stats.ts';
import { computeTableStats } from '../statistics/compute-table-stats.ts';
import { optional, ProcedureValues, resultColumns } from './procedure-values.ts';

/** Procedures that measure a snapshot for planners. No rows: there is none to measure. */
export function statisticsProcedures(context: TableContext): readonly Procedure[] {
  return [
    {
      name: 'compute_table_stats',
      parameters: [optional('snapshot_id', 'long'), optional('columns', 'string-list')],
      output: resultColumns({ statistics_file: 'string' }),
      run: async (args, signal) => {
        const values = new ProcedureValues(args);
        const request = { snapshotId: values.long('snapshot_id'), columns: values.texts('columns'), signal };
        const file = await computeTableStats(context, request);
        return file === undefined ? [] : [[file]];
      },
    },
    {
      name: 'compute_partition_stats',
      parameters: [optional('snapshot_id', 'long')],
      output: resultColumns({ partition_statistics_file: 'string' }),
      run: async (args, signal) => {
        const file = await computePartitionStats(context, { snapshotId: new ProcedureValues(args).long('snapshot_id'), signal });
        return file === undefined ? [] : [[file]];
      },
    },
  ];
}
