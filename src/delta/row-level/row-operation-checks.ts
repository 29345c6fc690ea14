import { appendOnlyError } from '../delta-committer.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/**
 * Whether rows of the table may be changed at all.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_APPEND_ONLY` (42809), and what the table's features ask for and this code cannot do.
 */
export function checkRowOperation(context: OperationContext, snapshot: DeltaSnapshot): void {
  if (snapshot.settings.appendOnly) throw appendOnlyError(context.name);
}
