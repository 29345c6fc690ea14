import { bindExpression } from '../../expr/bind-expression.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import { storedExpression } from '../files/stored-expression.ts';

/**
 * Refuses generated columns that could never be computed, before a table has them.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_STORED_EXPRESSION`, and what binding and printing throw: `UNRESOLVED_ROUTINE`,
 * `UNRESOLVED_COLUMN.WITH_SUGGESTION`, `WRONG_NUM_ARGS`.
 */
export function checkGenerated(table: string, schema: StructType): void {
  for (const field of schema.fields) {
    const text = field.metadata?.['delta.generationExpression'];
    if (typeof text !== 'string') continue;
    const expression = storedExpression(table, `generated column "${field.name}"`, text);
    expressionSql(bindExpression(expression, [{ schema }]), columnPathSql);
  }
}
