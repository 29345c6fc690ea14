import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';

/**
 * The expression of a text that stands in the table's definition.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_STORED_EXPRESSION` (unsupported) for what is outside the grammar: such a table is not written,
 * because its rule could not be kept.
 */
export function storedExpression(table: string, where: string, text: string): Expression {
  try {
    return parseExpression(text);
  } catch (cause) {
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_STORED_EXPRESSION',
      kind: 'unsupported',
      message: `table ${table} cannot be written: the ${where} has the expression \`${text}\`, which is not understood here`,
      parameters: { table, where, expression: text },
      hint: 'write the table with the engine that defined it, or change the expression',
      cause,
    });
  }
}
