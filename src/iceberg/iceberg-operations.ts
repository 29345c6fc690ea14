import { AnalysisException } from '../base/analysis-exception.ts';
import { deleteRows } from '../rows/change/delete-rows.ts';
import { updateRows } from '../rows/change/update-rows.ts';
import { mergeRows } from '../rows/merge/merge-rows.ts';
import type { DefinitionOperations } from '../table/definition-changes.ts';
import type { CommitOptions, RowOperations } from '../table/row-operations.ts';
import { alterTable } from './definition/alter-table.ts';
import { type EvolvedState, evolvedForMerge } from './row-level/evolve-for-rows.ts';
import { openIcebergRows } from './row-level/iceberg-rows.ts';
import { writeRows } from './row-level/write-rows.ts';
import type { SnapshotState } from './snapshot-state.ts';
import type { TableContext } from './table-context.ts';

/** Everything that changes one table, bound to it. What Delta has statements for, Iceberg has procedures for: they are refused by name. */
export function icebergOperations(context: TableContext): RowOperations & DefinitionOperations {
  const inZoneOf = ({ zone }: CommitOptions = {}): TableContext => (zone === undefined ? context : { ...context, zone });
  return {
    write: (request) => writeRows(inZoneOf(request), request),
    delete: async (request) => deleteRows(await openIcebergRows(inZoneOf(request), 'delete', request), request),
    update: async (request) => updateRows(await openIcebergRows(inZoneOf(request), 'update', request), request),
    merge: async (request) => {
      const evolve = (state: SnapshotState): EvolvedState => evolvedForMerge(inZoneOf(request), state, request);
      return mergeRows(await openIcebergRows(inZoneOf(request), 'merge', request, evolve), request);
    },
    truncate: async (options = {}) => deleteRows(await openIcebergRows(context, 'delete', options), options),
    alter: async (change, options) => (await alterTable(inZoneOf(options), change, options))?.version,
    optimize: () => Promise.reject(refused(context, 'OPTIMIZE', 'CALL catalog.system.rewrite_data_files(table => …)')),
    restore: () => Promise.reject(refused(context, 'RESTORE', 'CALL catalog.system.rollback_to_snapshot(table => …, snapshot_id => …)')),
    generateManifest: () => Promise.reject(refused(context, 'GENERATE', 'engines read the metadata itself')),
  };
}

function refused({ name }: TableContext, statement: string, hint: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_FEATURE.TABLE_OPERATION',
    kind: 'unsupported',
    message: `Table ${name} does not support ${statement}: it is an Iceberg table`,
    hint,
    parameters: { tableName: name, operation: statement },
  });
}
