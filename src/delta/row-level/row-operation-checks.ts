import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/**
 * Whether rows of the table may be changed at all.
 *
 * @throws AnalysisException `DELTA_CANNOT_MODIFY_APPEND_ONLY` (42809), and what the table's features ask for and this code cannot do.
 */
export function checkRowOperation(context: OperationContext, snapshot: DeltaSnapshot): void {
  if (snapshot.settings.appendOnly) {
    throw new AnalysisException({
      errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY',
      sqlState: '42809',
      message: `This table is configured to only allow appends. If you would like to permit updates or deletes, use 'ALTER TABLE ${context.name} SET TBLPROPERTIES (delta.appendOnly=false)'.`,
      parameters: { table_name: context.name, config: 'delta.appendOnly' },
    });
  }
}
