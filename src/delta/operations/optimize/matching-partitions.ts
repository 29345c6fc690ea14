import { AnalysisException } from '../../../base/analysis-exception.ts';
import { bindExpression } from '../../../expr/bind-expression.ts';
import type { Expression } from '../../../expr/expression.ts';
import { columnsOf } from '../../../expr/expression-tree.ts';
import type { AddFile } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { filesOfPartitions, partitionFieldsOf } from '../../row-level/partition-condition.ts';
import { DeltaRowWork } from '../../row-level/row-work.ts';
import type { OperationContext } from '../operation-context.ts';

/**
 * The live files whose partition satisfies the condition, which may use partition columns only: exactly those, not those that may.
 *
 * @throws AnalysisException `DELTA_NON_PARTITION_COLUMN_REFERENCE`, and what binding throws.
 */
export async function filesMatching(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  condition: Expression,
  signal?: AbortSignal,
): Promise<readonly AddFile[]> {
  const bound = bindExpression(condition, [{ schema: snapshot.schema }]);
  const work = new DeltaRowWork(context, { snapshot, engine: await context.engine(), signal });
  const fields = partitionFieldsOf(work, bound);
  if (fields === undefined) throw dataColumn(snapshot, bound);
  return filesOfPartitions(work, [...snapshot.files()], { bound, fields, alias: undefined });
}

function dataColumn(snapshot: DeltaSnapshot, condition: Expression): AnalysisException {
  const names = columnsOf(condition).map(({ path }) => path[0] ?? '');
  const columnName = names.find((name) => !snapshot.partitionColumns.includes(name)) ?? '';
  const columnList = snapshot.partitionColumns.join(', ');
  return new AnalysisException({
    errorClass: 'DELTA_NON_PARTITION_COLUMN_REFERENCE',
    sqlState: '42P10',
    parameters: { columnName, columnList },
    message: `Predicate references non-partition column '${columnName}'. Only the partition columns may be referenced: [${columnList}]`,
  });
}
