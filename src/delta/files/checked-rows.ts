import type { Relation } from '../../table/relation.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/**
 * Refuses rows (the snapshot's columns in order) that break a NOT NULL, a CHECK constraint, an invariant or a generated column.
 *
 * @throws AnalysisException `DELTA_NOT_NULL_CONSTRAINT_VIOLATED`, `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES` naming the first row's values.
 */
export async function checkRows(context: OperationContext, snapshot: DeltaSnapshot, rows: Relation, signal?: AbortSignal): Promise<void> {
  await Promise.resolve();
  throw new TypeError(`${context.name} ${snapshot.version} ${rows.sql} ${String(signal?.aborted)}`);
}
