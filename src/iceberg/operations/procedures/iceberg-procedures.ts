import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { rewriteTablePath } from '../relocate/rewrite-table-path.ts';
import { computePartitionStats } from '../statistics/compute-partition-stats.ts';
import { computeTableStats } from '../statistics/compute-table-stats.ts';
import { filesProcedures } from './files-procedures.ts';
import { procedure } from './procedure.ts';
import { rewriteProcedures } from './rewrite-procedures.ts';
import { snapshotProcedures } from './snapshot-procedures.ts';

/** What SQL can CALL on an Iceberg table, under the names and with the results of the reference implementation. */
export function icebergProcedures(context: TableContext): readonly Procedure[] {
  return [
    ...snapshotProcedures(context),
    ...rewriteProcedures(context),
    ...filesProcedures(context),
    rewriteTablePathProcedure(context),
    ...statisticsProcedures(context),
  ];
}

/** Procedures that measure a snapshot for planners. No rows: there is none to measure. */
function statisticsProcedures(context: TableContext): readonly Procedure[] {
  return [
    procedure({
      name: 'compute_table_stats',
      optional: { snapshot_id: 'long', columns: 'string-list' },
      output: { statistics_file: 'string' },
      run: async ({ snapshot_id: snapshotId, columns }, signal) => {
        const file = await computeTableStats(context, { snapshotId, columns, signal });
        return file === undefined ? [] : [[file]];
      },
    }),
    procedure({
      name: 'compute_partition_stats',
      optional: { snapshot_id: 'long' },
      output: { partition_statistics_file: 'string' },
      run: async ({ snapshot_id: snapshotId }, signal) => {
        const file = await computePartitionStats(context, { snapshotId, signal });
        return file === undefined ? [] : [[file]];
      },
    }),
  ];
}

/** Stands for a list that was not asked for. */
const noFileList = 'N/A';

/** Prepares a copy of a table. */
function rewriteTablePathProcedure(context: TableContext): Procedure {
  return procedure({
    name: 'rewrite_table_path',
    required: { source_prefix: 'string', target_prefix: 'string' },
    optional: { start_version: 'string', end_version: 'string', staging_location: 'string', create_file_list: 'boolean' },
    output: {
      latest_version: 'string',
      file_list_location: 'string',
      rewritten_manifest_file_paths_count: 'integer',
      rewritten_delete_file_paths_count: 'integer',
    },
    run: async (given, signal) => {
      const result = await rewriteTablePath(context, {
        sourcePrefix: given.source_prefix,
        targetPrefix: given.target_prefix,
        startVersion: given.start_version,
        endVersion: given.end_version,
        stagingLocation: given.staging_location,
        createFileList: given.create_file_list,
        signal,
      });
      return [[result.latestVersion, result.fileListLocation ?? noFileList, result.rewrittenManifests, result.rewrittenDeleteFiles]];
    },
  });
}
