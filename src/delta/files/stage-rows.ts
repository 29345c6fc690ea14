import type { Relation } from '../../table/relation.ts';
import type { AddFile, CdcFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

export interface StageOptions {
  readonly dataChange: boolean;
  /** Default: one file for each partition, up to 1 GiB. */
  readonly targetFileBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Writes the rows (the snapshot's columns in order) as data files that nothing refers to yet. They are checked already. */
export function stageRows(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  rows: Relation,
  options: StageOptions,
): Promise<readonly AddFile[]> {
  return Promise.reject(new TypeError(`${context.name} ${snapshot.version} ${rows.sql} ${String(options.dataChange)}`));
}

/** Writes change rows: the snapshot's columns, then `_change_type`. */
export function stageChanges(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  rows: Relation,
  signal?: AbortSignal,
): Promise<readonly CdcFile[]> {
  return Promise.reject(new TypeError(`${context.name} ${snapshot.version} ${rows.sql} ${String(signal?.aborted)}`));
}

/** Deletes staged files of a transaction that certainly failed. Best effort. */
export async function discardStaged(context: OperationContext, files: readonly { readonly storedPath: string }[]): Promise<void> {
  for (const file of files) await context.store.delete(file.storedPath).catch(() => undefined);
}
