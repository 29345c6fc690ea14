import type { DefinitionOperations } from '../table/definition-changes.ts';
import type { RowOperations } from '../table/row-operations.ts';
import { alter } from './definition/alter.ts';
import { compactLog } from './log/compact-log.ts';
import { generateManifest } from './operations/generate-manifest.ts';
import type { OperationContext } from './operations/operation-context.ts';
import { optimize } from './operations/optimize/optimize.ts';
import { restore } from './operations/restore.ts';
import { truncate } from './operations/truncate.ts';
import { deleteRows } from './row-level/delete-rows.ts';
import { mergeRows } from './row-level/merge/merge-rows.ts';
import { updateRows } from './row-level/update-rows.ts';
import { writeRows } from './write/write-rows.ts';

/** Everything that changes one table, bound to it. */
export function deltaOperations(context: OperationContext): RowOperations & DefinitionOperations {
  return {
    write: (request) => writeRows(context, request),
    delete: (request) => deleteRows(context, request),
    update: (request) => updateRows(context, request),
    merge: (request) => mergeRows(context, request),
    optimize: (request) => optimize(context, request),
    restore: (to, options) => restore(context, to, options),
    truncate: (options) => truncate(context, options),
    generateManifest: (signal) => generateManifest(context, signal),
    compactLog: (signal) => compactLog(context, signal),
    alter: (change, options) => alter(context, change, options),
  };
}
