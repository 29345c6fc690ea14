import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { addFiles } from '../add-files/add-files.ts';
import { expireSnapshots } from '../expire/expire-snapshots.ts';
import { illegalArgument } from '../operation-errors.ts';
import { prefixMismatchMode } from '../orphans/location-match.ts';
import { removeOrphanFiles } from '../orphans/remove-orphan-files.ts';
import { procedure } from './procedure.ts';

/** Through SQL no younger files are taken for orphans: nobody knows who is writing. */
const minOrphanAgeMs = 24 * 60 * 60 * 1000;

/** Procedures that delete files, or make them part of the table. */
export function filesProcedures(context: TableContext): readonly Procedure[] {
  return [expire(context), orphans(context), add(context)];
}

function expire(context: TableContext): Procedure {
  return procedure({
    name: 'expire_snapshots',
    optional: {
      older_than: 'timestamp',
      retain_last: 'int',
      max_concurrent_deletes: 'int',
      stream_results: 'boolean',
      snapshot_ids: 'long-list',
      clean_expired_metadata: 'boolean',
    },
    output: {
      deleted_data_files_count: 'long',
      deleted_position_delete_files_count: 'long',
      deleted_equality_delete_files_count: 'long',
      deleted_manifest_files_count: 'long',
      deleted_manifest_lists_count: 'long',
      deleted_statistics_files_count: 'long',
    },
    run: async (given, signal) => {
      const result = await expireSnapshots(context, {
        olderThanMs: given.older_than,
        retainLast: given.retain_last,
        maxConcurrentDeletes: given.max_concurrent_deletes,
        snapshotIds: given.snapshot_ids,
        cleanExpiredMetadata: given.clean_expired_metadata,
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
  });
}

function orphans(context: TableContext): Procedure {
  return procedure({
    name: 'remove_orphan_files',
    optional: {
      older_than: 'timestamp',
      location: 'string',
      dry_run: 'boolean',
      max_concurrent_deletes: 'int',
      file_list_view: 'string',
      equal_schemes: 'string-map',
      equal_authorities: 'string-map',
      prefix_mismatch_mode: 'string',
    },
    output: { orphan_file_location: 'string' },
    run: async (given, signal) => {
      if (given.older_than !== undefined) refuseShortInterval(context, given.older_than);
      if (given.file_list_view !== undefined) {
        throw illegalArgument('file_list_view is not supported', 'leave it out: the storage is listed');
      }
      const { locations } = await removeOrphanFiles(context, {
        olderThanMs: given.older_than,
        location: given.location,
        dryRun: given.dry_run,
        maxConcurrentDeletes: given.max_concurrent_deletes,
        equalSchemes: given.equal_schemes,
        equalAuthorities: given.equal_authorities,
        prefixMismatch: prefixMismatchMode(given.prefix_mismatch_mode),
        signal,
      });
      return locations.map((location) => [location]);
    },
  });
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
  return procedure({
    name: 'add_files',
    required: { source_table: 'string' },
    optional: { partition_filter: 'string-map', check_duplicate_files: 'boolean', parallelism: 'int' },
    output: { added_files_count: 'long', changed_partition_count: 'long' },
    run: async (given, signal) => {
      const { addedFiles, changedPartitions } = await addFiles(context, {
        sourceTable: given.source_table,
        partitionFilter: given.partition_filter,
        checkDuplicateFiles: given.check_duplicate_files,
        signal,
      });
      return [[BigInt(addedFiles), changedPartitions === undefined ? undefined : BigInt(changedPartitions)]];
    },
  });
}
