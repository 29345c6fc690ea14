import type { Expression } from '../../../expr/expression.ts';
import { parseExpression } from '../../../expr/parse/parse-expression.ts';
import type { Procedure } from '../../../table/queries.ts';
import type { TableContext } from '../../table-context.ts';
import { rewriteDataFiles } from '../rewrite/rewrite-data-files.ts';
import { rewriteManifests } from '../rewrite/rewrite-manifests.ts';
import { rewritePositionDeletes } from '../rewrite/rewrite-position-deletes.ts';
import { optional, ProcedureValues, resultColumns } from './procedure-values.ts';

/** Procedures that put the same rows, manifests or deletes into other files. */
export function rewriteProcedures(context: TableContext): readonly Procedure[] {
  return [dataFiles(context), manifests(context), positionDeletes(context)];
}

function dataFiles(context: TableContext): Procedure {
  return {
    name: 'rewrite_data_files',
    parameters: [
      optional('strategy', 'string'),
      optional('sort_order', 'string'),
      optional('options', 'string-map'),
      optional('where', 'string'),
      optional('branch', 'string'),
    ],
    output: resultColumns({
      rewritten_data_files_count: 'integer',
      added_data_files_count: 'integer',
      rewritten_bytes_count: 'long',
      failed_data_files_count: 'integer',
      removed_delete_files_count: 'integer',
    }),
    run: async (args, signal, zone) => {
      const values = new ProcedureValues(args);
      const result = await rewriteDataFiles(
        { ...context, zone },
        {
          strategy: values.text('strategy'),
          sortOrder: values.text('sort_order'),
          options: values.map('options'),
          where: conditionOf(values),
          branch: values.text('branch'),
          signal,
        },
      );
      return [
        [
          result.rewrittenDataFiles,
          result.addedDataFiles,
          BigInt(result.rewrittenBytes),
          result.failedDataFiles,
          result.removedDeleteFiles,
        ],
      ];
    },
  };
}

function manifests(context: TableContext): Procedure {
  return {
    name: 'rewrite_manifests',
    // Whether other engines hold the manifests in memory meanwhile is their affair.
    parameters: [optional('use_caching', 'boolean'), optional('spec_id', 'int')],
    output: resultColumns({ rewritten_manifests_count: 'integer', added_manifests_count: 'integer' }),
    run: async (args, signal) => {
      const result = await rewriteManifests(context, { specId: new ProcedureValues(args).int('spec_id'), signal });
      return [[result.rewrittenManifests, result.addedManifests]];
    },
  };
}

function positionDeletes(context: TableContext): Procedure {
  return {
    name: 'rewrite_position_delete_files',
    parameters: [optional('options', 'string-map'), optional('where', 'string')],
    output: resultColumns({
      rewritten_delete_files_count: 'integer',
      added_delete_files_count: 'integer',
      rewritten_bytes_count: 'long',
      added_bytes_count: 'long',
    }),
    run: async (args, signal, zone) => {
      const values = new ProcedureValues(args);
      const result = await rewritePositionDeletes(
        { ...context, zone },
        { options: values.map('options'), where: conditionOf(values), signal },
      );
      return [[result.rewrittenDeleteFiles, result.addedDeleteFiles, BigInt(result.rewrittenBytes), BigInt(result.addedBytes)]];
    },
  };
}

function conditionOf(values: ProcedureValues): Expression | undefined {
  const text = values.text('where');
  return text === undefined ? undefined : parseExpression(text);
}
