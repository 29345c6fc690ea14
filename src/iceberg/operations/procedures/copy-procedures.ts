import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { rewriteTablePath } from '../relocate/rewrite-table-path.ts';
import { optional, ProcedureValues, required, resultColumns } from './procedure-values.ts';

/** Stands for a list that was not asked for. */
const noFileList = 'N/A';

/** Procedures that prepare copies of a table. */
export function copyProcedures(context: TableContext): readonly Procedure[] {
  return [
    {
      name: 'rewrite_table_path',
      parameters: [
        required('source_prefix', 'string'),
        required('target_prefix', 'string'),
        optional('start_version', 'string'),
        optional('end_version', 'string'),
        optional('staging_location', 'string'),
        optional('create_file_list', 'boolean'),
      ],
      output: resultColumns({
        latest_version: 'string',
        file_list_location: 'string',
        rewritten_manifest_file_paths_count: 'integer',
        rewritten_delete_file_paths_count: 'integer',
      }),
      run: async (args, signal) => {
        const values = new ProcedureValues(args);
        const result = await rewriteTablePath(context, {
          sourcePrefix: values.text('source_prefix') ?? '',
          targetPrefix: values.text('target_prefix') ?? '',
          startVersion: values.text('start_version'),
          endVersion: values.text('end_version'),
          stagingLocation: values.text('staging_location'),
          createFileList: values.boolean('create_file_list'),
          signal,
        });
        return [[result.latestVersion, result.fileListLocation ?? noFileList, result.rewrittenManifests, result.rewrittenDeleteFiles]];
      },
    },
  ];
}
