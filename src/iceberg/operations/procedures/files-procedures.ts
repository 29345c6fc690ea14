import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { addFiles } from '../add-files/add-files.ts';
import { expireSnapshots } from '../expire/expire-snapshots.ts';
import { illegalArgument } from '../operation-errors.ts';
import { prefixMismatchMode } from '../orphans/location-match.ts';
import { removeOrphanFiles } from '../orphans/remove-orphan-files.ts';
import { optional, ProcedureValues, required, resultColumns } from './procedure-values.ts';

/** Through SQL no younger files are taken for orphans: nobody knows who is writing. */
const minOrphanAgeMs = 24 * 60 * 60 * 1000;

/** Procedures that delete files, or make them part of the table. */
export function filesProcedures(context: TableContext): readonly Procedure[] {
  return [expire(context), orphans(context), add(context)];
}

function expire(context: TableContext): Procedure {
  return {
    name: 'expire_snapshots',
    parameters: [
      optional('older_than', 'timestamp'),
      optional('retain_last', 'int'),
      optional('max_concurrent_deletes', 'int'),
      optional('stream_results', 'boolean'),
      optional('snapshot_ids', 'long-list'),
      optional('clean_expired_metadata', 'boolean'),
    ],
    output: resultColumns({
      deleted_data_files_count: 'long',
      deleted_position_delete_files_count: 'long',
      deleted_equality_delete_files_count: 'long',
      deleted_manifest_files_count: 'long',
      deleted_manifest_lists_count: 'long',
      deleted_statistics_files_count: 'long',
    }),
    run: async (args, signal) => {
      const values = new ProcedureValues(args);
      const result = await expireSnapshots(context, {
        olderThanMs: values.millis('older_than'),
        retainLast: values.int('retain_last'),
        maxConcurrentDeletes: values.int('max_concurrent_deletes'),
        snapshotIds: values.longs('snapshot_ids'),
        cleanExpiredMetadata: values.boolean('clean_expired_metadata'),
        signal,
      });
      const counts = [
        result.deletedDataFiles,
        result.deletedPositionDeleteFiles,
        result.deletedEqualityDeleteFiles,
        result.deletedManifests,
        result.deletedManifestLists,
        result.deletedStatisticsFiles,
      ];
      return [counts.map(BigInt)];
    },
  };
}

function orphans(context: TableContext): Procedure {
  return {
    name: 'remove_orphan_files',
    parameters: [
      optional('older_than', 'timestamp'),
      optional('location', 'string'),
      optional('dry_run', 'boolean'),
      optional('max_concurrent_deletes', 'int'),
      optional('file_list_view', 'string'),
      optional('equal_schemes', 'string-map'),
      optional('equal_authorities', 'string-map'),
      optional('prefix_mismatch_mode', 'string'),
    ],
    output: resultColumns({ orphan_file_location: 'string' }),
    run: async (args, signal) => {
      const values = new ProcedureValues(args);
      const olderThanMs = values.millis('older_than');
      if (olderThanMs !== undefined) refuseShortInterval(context, olderThanMs);
      if (values.text('file_list_view') !== undefined) {
        throw illegalArgument('file_list_view is not supported', 'leave it out: the storage is listed');
      }
      const { locations } = await removeOrphanFiles(context, {
        olderThanMs,
        location: values.text('location'),
        dryRun: values.boolean('dry_run'),
        maxConcurrentDeletes: values.int('max_concurrent_deletes'),
        equalSchemes: values.map('equal_schemes'),
        equalAuthorities: values.map('equal_authorities'),
        prefixMismatch: prefixMismatchMode(values.text('prefix_mismatch_mode')),
        signal,
      });
      return locations.map((location) => [location]);
    },
  };
}

function refuseShortInterval({ clock }: TableContext, olderThanMs: number): void {
  if (clock.now() - olderThanMs >= minOrphanAgeMs) return;
  throw illegalArgument(
    'Cannot remove orphan files with an interval less than 24 hours. Executing this procedure with a short interval may corrupt the table ' +
      'if other operations are happening at the same time. If you are absolutely confident that no concurrent operations will be affected by ' +
      'removing orphan files with such a short interval, you can use the Action API to remove orphan files with an arbitrary interval.',
    'leave older_than out: files of the last three days stay',
  );
}

function add(context: TableContext): Procedure {
  return {
    name: 'add_files',
    parameters: [
      required('source_table', 'string'),
      optional('partition_filter', 'string-map'),
      optional('check_duplicate_files', 'boolean'),
      optional('parallelism', 'int'),
    ],
    output: resultColumns({ added_files_count: 'long', changed_partition_count: 'long' }),
    run: async (args, signal) => {
      const values = new ProcedureValues(args);
      const result = await addFiles(context, {
        sourceTable: values.text('source_table') ?? '',
        partitionFilter: values.map('partition_filter'),
        checkDuplicateFiles: values.boolean('check_duplicate_files'),
        signal,
      });
      const { changedPartitions } = result;
      return [[BigInt(result.addedFiles), changedPartitions === undefined ? undefined : BigInt(changedPartitions)]];
    },
  };
}
