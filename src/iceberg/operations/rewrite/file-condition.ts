import { bindExpression } from '../../../expr/bind-expression.ts';
import { bindNow } from '../../../expr/bind-parameters.ts';
import { requireCondition } from '../../../expr/clause-rules.ts';
import type { Expression } from '../../../expr/expression.ts';
import { columnsOf, isDeterministic } from '../../../expr/expression-tree.ts';
import { printExpression } from '../../../expr/print-expression.ts';
import { statementTime } from '../../../expr/time-zone.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { illegalArgument } from '../operation-errors.ts';

const comparisons: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=', '<=>']);

/**
 * A condition of a user on files, bound to the columns of a state. One that does not tell files apart by what is known of them is refused: it would let
 * all files through, and all be rewritten.
 *
 * @throws AnalysisException `INVALID_ARGUMENT`, as the reference implementation, which has no expression of its own for it;
 * `DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN` 42K09.
 */
export function boundCondition(context: Pick<TableContext, 'clock'>, { schema }: SnapshotState, condition: Expression): Expression {
  const bound = bindNow(bindExpression(condition, [{ schema }]), statementTime(context));
  requireCondition('WHERE', bound);
  if (tellsFiles(bound)) return bound;
  throw illegalArgument(
    `Cannot convert Spark filter: ${printExpression(condition)} to Iceberg expression`,
    'compare columns with constants: =, <, IN, BETWEEN, IS NULL, LIKE with a beginning, joined by AND, OR and NOT',
  );
}

function tellsFiles(node: Expression): boolean {
  switch (node.kind) {
    case 'literal':
    case 'column':
      return true;
    case 'unary':
      return node.operator === 'not' && tellsFiles(node.operand);
    case 'binary':
      if (node.operator === 'and' || node.operator === 'or') return tellsFiles(node.left) && tellsFiles(node.right);
      return comparisons.has(node.operator) && isComparison(node.left, node.right);
    case 'is-distinct':
      return isComparison(node.left, node.right);
    case 'is':
      return isTerm(node.operand) || tellsFiles(node.operand);
    case 'in':
      return isTerm(node.operand) && node.options.every(isConstant);
    case 'between':
      return isComparison(node.operand, node.low) && isComparison(node.operand, node.high);
    case 'like':
      return node.form === 'like' && isTerm(node.operand) && node.pattern.kind === 'literal' && isBeginning(node.pattern.literal);
    case 'call':
      return isBeginningCall(node) || isConstant(node);
    default:
      return isConstant(node);
  }
}

function isComparison(left: Expression, right: Expression): boolean {
  return (isTerm(left) && isConstant(right)) || (isConstant(left) && isTerm(right)) || (isConstant(left) && isConstant(right));
}

/** A column, a member of one, or a transform of one, which partitions may be made of. */
function isTerm(node: Expression): boolean {
  if (node.kind === 'cast') return isTerm(node.operand);
  if (node.kind === 'member') return isTerm(node.operand);
  if (node.kind === 'call') return /^system\./.test(node.name.toLowerCase()) || ['isnan', 'is_nan'].includes(node.name.toLowerCase());
  return node.kind === 'column';
}

function isConstant(node: Expression): boolean {
  return columnsOf(node).length === 0 && isDeterministic(node);
}

function isBeginning(literal: Extract<Expression, { kind: 'literal' }>['literal']): boolean {
  return literal.type === 'string' && /^[^%_\\]*%?$/.test(literal.value);
}

function isBeginningCall({ name, arguments: given }: Extract<Expression, { kind: 'call' }>): boolean {
  const [text, start] = given;
  if (['isnan', 'is_nan'].includes(name.toLowerCase())) return text !== undefined && isTerm(text);
  return ['startswith', 'starts_with'].includes(name.toLowerCase()) && text?.kind === 'column' && start !== undefined && isConstant(start);
}
