import { AnalysisException } from '../../../base/analysis-exception.ts';
import { present } from '../../../base/assert.ts';
import { bindExpression } from '../../../expr/bind-expression.ts';
import type { Expression } from '../../../expr/expression.ts';
import { columnsOf } from '../../../expr/expression-tree.ts';
import { statementTime } from '../../../expr/time-zone.ts';
import { filesOfPartitions } from '../../../rows/change/files-of-partitions.ts';
import { fieldNamed } from '../../../schema/column-path.ts';
import type { AddFile } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { partitionTextsOf } from '../../scan/partition-columns.ts';
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
  const partitionColumns = new Set(snapshot.partitionColumns.map((name) => fieldNamed(snapshot.schema.fields, name)?.name));
  if (!columnsOf(bound).every(({ path }) => partitionColumns.has(path[0]))) throw dataColumn(snapshot, bound);
  const work = { engine: await context.engine(), now: statementTime(context), signal };
  const textsOf = partitionTextsOf(snapshot, context.name);
  const files = await filesOfPartitions(work, [...snapshot.files()], { bound, schema: snapshot.schema, alias: undefined, textsOf });
  return present(files, 'partition columns are the same in all rows of a file');
}

function dataColumn(snapshot: DeltaSnapshot, condition: Expression): AnalysisException {
  const names = columnsOf(condition).map(({ path }) => path[0] ?? '');
  const columnName = names.find((name) => !snapshot.partitionColumns.includes(name)) ?? '';
  const columnList = snapshot.partitionColumns.join(', ');
  return new AnalysisException({
    errorClass: 'DELTA_NON_PARTITION_COLUMN_REFERENCE',
    parameters: { columnName, columnList },
    message: `Predicate references non-partition column '${columnName}'. Only the partition columns may be referenced: [${columnList}]`,
  });
}
