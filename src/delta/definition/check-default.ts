import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';

/**
 * Refuses a default that could never be computed, before a column has it: no row could leave the column out.
 *
 * @throws ParseException for text that is no expression; AnalysisException what binding and printing throw: `UNRESOLVED_ROUTINE`,
 * `UNRESOLVED_COLUMN`, `WRONG_NUM_ARGS`.
 */
export function checkDefault(text: string): void {
  expressionSql(bindNow(bindExpression(parseExpression(text), []), 0n), columnPathSql);
}
