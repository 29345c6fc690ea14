import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { requireCondition } from '../../expr/clause-rules.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import type { StructType } from '../../schema/types.ts';
import { storedExpression } from '../files/stored-expression.ts';
import { constraintPrefix } from './dependent-columns.ts';

type Properties = Readonly<Record<string, string>>;

/** Properties of a table that is made: its constraints under the keys they are kept by, and all others. */
export function statedConstraints(properties: Properties): { readonly constraints: Properties; readonly others: Properties } {
  const isConstraint = (key: string): boolean => key.toLowerCase().startsWith(constraintPrefix);
  const entries = Object.entries(properties);
  const constraints = entries.filter(([key]) => isConstraint(key)).map(([key, text]) => [key.toLowerCase(), text] as const);
  return { constraints: Object.fromEntries(constraints), others: Object.fromEntries(entries.filter(([key]) => !isConstraint(key))) };
}

/** @throws AnalysisException as `requireRowCondition`, `UNRESOLVED_COLUMN.WITH_SUGGESTION`: no row could ever be written. */
export function checkConstraints(table: string, schema: StructType, constraints: Properties): void {
  for (const [key, text] of Object.entries(constraints)) {
    const name = key.slice(constraintPrefix.length);
    requireRowCondition({ name, condition: storedExpression(table, `constraint "${name}"`, text), text }, schema);
  }
}

/** Other engines would refuse to write a table whose constraint is none. @throws AnalysisException `DELTA_NON_BOOLEAN_CHECK_CONSTRAINT` */
export function requireRowCondition(
  change: { readonly name: string; readonly condition: Expression; readonly text: string },
  schema: StructType,
): void {
  const bound = bindExpression(change.condition, [{ schema }]);
  const type = expressionType(bound);
  if (type === undefined || type.kind === 'boolean' || type.kind === 'void') {
    requireCondition('WHERE', bound);
    return;
  }
  throw new AnalysisException({
    errorClass: 'DELTA_NON_BOOLEAN_CHECK_CONSTRAINT',
    message: `CHECK constraint '${change.name}' (${change.text}) should be a boolean expression.`,
    parameters: { name: change.name, expr: change.text },
  });
}
