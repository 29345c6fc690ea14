import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { rewriteTablePath } from '../relocate/rewrite-table-path.ts';
import { procedure } from './procedure.ts';

/** Stands for a list that was not asked for. */
const noFileList = 'N/A';

/** Prepares a copy of a table. */
export function rewriteTablePathProcedure(context: TableContext): Procedure {
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
