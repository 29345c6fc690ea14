import type { Expression } from '../../../expr/expression.ts';
import { parseExpression } from '../../../expr/parse/parse-expression.ts';
import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { rewriteDataFiles } from '../rewrite/rewrite-data-files.ts';
import { rewriteManifests } from '../rewrite/rewrite-manifests.ts';
import { rewritePositionDeletes } from '../rewrite/rewrite-position-deletes.ts';
import { procedure } from './procedure.ts';

/** Procedures that put the same rows, manifests or deletes into other files. */
export function rewriteProcedures(context: TableContext): readonly Procedure[] {
  return [dataFiles(context), manifests(context), positionDeletes(context)];
}

function dataFiles(context: TableContext): Procedure {
  return procedure({
    name: 'rewrite_data_files',
    optional: { strategy: 'string', sort_order: 'string', options: 'string-map', where: 'string', branch: 'string' },
    output: {
      rewritten_data_files_count: 'integer',
      added_data_files_count: 'integer',
      rewritten_bytes_count: 'long',
      failed_data_files_count: 'integer',
      removed_delete_files_count: 'integer',
    },
    run: async ({ sort_order: sortOrder, where, ...given }, signal, zone) => {
      const request = { ...given, sortOrder, where: conditionOf(where), signal };
      const result = await rewriteDataFiles({ ...context, zone }, request);
      const { rewrittenDataFiles, addedDataFiles, rewrittenBytes, failedDataFiles, removedDeleteFiles } = result;
      return [[rewrittenDataFiles, addedDataFiles, BigInt(rewrittenBytes), failedDataFiles, removedDeleteFiles]];
    },
  });
}

function manifests(context: TableContext): Procedure {
  return procedure({
    name: 'rewrite_manifests',
    // Whether other engines hold the manifests in memory meanwhile is their affair.
    optional: { use_caching: 'boolean', spec_id: 'int' },
    output: { rewritten_manifests_count: 'integer', added_manifests_count: 'integer' },
    run: async (given, signal) => {
      const result = await rewriteManifests(context, { specId: given.spec_id, signal });
      return [[result.rewrittenManifests, result.addedManifests]];
    },
  });
}

function positionDeletes(context: TableContext): Procedure {
  return procedure({
    name: 'rewrite_position_delete_files',
    optional: { options: 'string-map', where: 'string' },
    output: {
      rewritten_delete_files_count: 'integer',
      added_delete_files_count: 'integer',
      rewritten_bytes_count: 'long',
      added_bytes_count: 'long',
    },
    run: async ({ options, where }, signal, zone) => {
      const result = await rewritePositionDeletes({ ...context, zone }, { options, where: conditionOf(where), signal });
      return [[result.rewrittenDeleteFiles, result.addedDeleteFiles, BigInt(result.rewrittenBytes), BigInt(result.addedBytes)]];
    },
  });
}

function conditionOf(text: string | undefined): Expression | undefined {
  return text === undefined ? undefined : parseExpression(text);
}
