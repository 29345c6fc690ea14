import { bindExpression } from '../../expr/bind-expression.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { storedExpression } from '../files/stored-expression.ts';

/**
 * Refuses generated columns that could never be computed, before a table has them.
 *
 * @param fields those of the schema that are new.
 * @throws AnalysisException `DELTA_UNSUPPORTED_STORED_EXPRESSION`, and what binding and printing throw: `UNRESOLVED_ROUTINE`,
 * `UNRESOLVED_COLUMN.WITH_SUGGESTION`, `WRONG_NUM_ARGS`.
 */
export function checkGenerated(table: string, schema: StructType, fields: readonly Field[] = schema.fields): void {
  for (const field of fields) {
    const text = field.metadata?.['delta.generationExpression'];
    if (typeof text !== 'string') continue;
    const expression = storedExpression(table, `generated column "${field.name}"`, text);
    expressionSql(bindExpression(expression, [{ schema }]), columnPathSql);
  }
}
