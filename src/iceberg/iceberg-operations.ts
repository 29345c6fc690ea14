import { AnalysisException } from '../base/analysis-exception.ts';
import type { DefinitionOperations } from '../table/definition-changes.ts';
import type { RowOperations } from '../table/row-operations.ts';
import { alterTable } from './definition/alter-table.ts';
import { deleteRows } from './row-level/delete-rows.ts';
import { mergeRows } from './row-level/merge-rows.ts';
import { updateRows } from './row-level/update-rows.ts';
import { writeRows } from './row-level/write-rows.ts';
import type { TableContext } from './table-context.ts';

/** Everything that changes one table, bound to it. What Delta has statements for, Iceberg has procedures for: they are refused by name. */
export function icebergOperations(context: TableContext): RowOperations & DefinitionOperations {
  return {
    write: (request) => writeRows(context, request),
    delete: (request) => deleteRows(context, request),
    update: (request) => updateRows(context, request),
    merge: (request) => mergeRows(context, request),
    truncate: (options = {}) => deleteRows(context, options),
    alter: async (change, options) => (await alterTable(context, change, options))?.version,
    optimize: () => Promise.reject(refused(context, 'OPTIMIZE', 'CALL catalog.system.rewrite_data_files(table => …)')),
    restore: () => Promise.reject(refused(context, 'RESTORE', 'CALL catalog.system.rollback_to_snapshot(table => …, snapshot_id => …)')),
    generateManifest: () => Promise.reject(refused(context, 'GENERATE', 'engines read the metadata itself')),
  };
}

function refused({ name }: TableContext, statement: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TABLE_OPERATION',
    sqlState: '0A000',
    kind: 'unsupported',
    message: `Table ${name} does not support ${statement}: it is an Iceberg table`,
    hint,
    parameters: { tableName: name, operation: statement },
  });
}
