import { deleteRows } from '../rows/change/delete-rows.ts';
import { updateRows } from '../rows/change/update-rows.ts';
import { mentionedFields } from '../rows/merge/mentioned-fields.ts';
import { mergeRows } from '../rows/merge/merge-rows.ts';
import type { DefinitionOperations } from '../table/definition-changes.ts';
import type { CommitOptions, MergeRequest, RowOperations } from '../table/row-operations.ts';
import { alter } from './definition/alter.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';
import { compactLog } from './log/compact-log.ts';
import { generateManifest } from './operations/generate-manifest.ts';
import type { OperationContext } from './operations/operation-context.ts';
import { optimize } from './operations/optimize/optimize.ts';
import { restore } from './operations/restore.ts';
import { truncate } from './operations/truncate.ts';
import { openDeltaRows } from './row-level/delta-rows.ts';
import { evolveSchema, type WriteTarget } from './write/evolve-schema.ts';
import { structsByName } from './write/structs-by-place.ts';
import { writeRows } from './write/write-rows.ts';

/** Everything that changes one table, bound to it. */
export function deltaOperations(context: OperationContext): RowOperations & DefinitionOperations {
  const inZoneOf = ({ zone }: CommitOptions = {}): OperationContext => (zone === undefined ? context : { ...context, zone });
  return {
    write: (request) => writeRows(inZoneOf(request), request),
    delete: async (request) => deleteRows(await openDeltaRows(inZoneOf(request), 'delete', request), request),
    update: async (request) => updateRows(await openDeltaRows(inZoneOf(request), 'update', request), request),
    merge: async (request) => {
      const evolve = (snapshot: DeltaSnapshot): WriteTarget => evolvedForMerge(inZoneOf(request), snapshot, request);
      return mergeRows(await openDeltaRows(inZoneOf(request), 'merge', request, evolve), request);
    },
    optimize: (request) => optimize(inZoneOf(request), request),
    restore: (to, options) => restore(context, to, options),
    truncate: (options) => truncate(context, options),
    generateManifest: (signal) => generateManifest(context, signal),
    compactLog: (signal) => compactLog(context, signal),
    alter: (change, options) => alter(inZoneOf(options), change, options),
  };
}

/**
 * The table with the columns that a MERGE with schema evolution adds: those of the source that its `*` clauses, or assignments by name,
 * mention and the table lacks. The version that is read when there are none.
 *
 * @throws AnalysisException as a write with `mergeSchema` does.
 */
function evolvedForMerge(context: OperationContext, snapshot: DeltaSnapshot, request: MergeRequest): WriteTarget {
  const fields = request.schemaEvolution === true ? mentionedFields(request) : [];
  if (fields.length === 0) return { snapshot, actions: [] };
  const rows = { sql: request.source.sql, schema: { kind: 'struct' as const, fields } };
  const asWrite = { rows, mode: { kind: 'append' as const }, matchBy: 'name' as const, storeAssignment: true, mergeSchema: true };
  return evolveSchema(context, snapshot, asWrite, structsByName);
}
