import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { computePartitionStats } from '../statistics/compute-partition-stats.ts';
import { computeTableStats } from '../statistics/compute-table-stats.ts';
import { copyProcedures } from './copy-procedures.ts';
import { filesProcedures } from './files-procedures.ts';
import { optional, ProcedureValues, resultColumns } from './procedure-values.ts';
import { rewriteProcedures } from './rewrite-procedures.ts';
import { snapshotProcedures } from './snapshot-procedures.ts';

/** What SQL can CALL on an Iceberg table, under the names and with the results of the reference implementation. */
export function icebergProcedures(context: TableContext): readonly Procedure[] {
  return [
    ...snapshotProcedures(context),
    ...rewriteProcedures(context),
    ...filesProcedures(context),
    ...copyProcedures(context),
    ...statisticsProcedures(context),
  ];
}

/** Procedures that measure a snapshot for planners. No rows: there is none to measure. */
function statisticsProcedures(context: TableContext): readonly Procedure[] {
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
