import { AnalysisException } from '../../base/analysis-exception.ts';
import { conjunction, type Expression, nullExpression } from '../../expr/expression.ts';
import { type Analyzed, attributeColumn } from '../plan/analyzed.ts';
import { subqueryQualifier } from '../plan/subquery-name.ts';
import type { Execution } from '../run/execution.ts';

/**
 * `(a, b) IN (SELECT x, y …)` as whether there is a row that equals both, and NULL where none does and one may. Other nodes stay as they are.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH` 42K09 for as many values as the query has no columns.
 */
export function comparedRows(execution: Execution, node: Expression): Expression {
  if (node.kind !== 'in') return node;
  const [option, ...others] = node.options;
  const id = option?.kind === 'column' && option.qualifier === subqueryQualifier ? option.path[0] : undefined;
  const query = id === undefined || others.length > 0 ? undefined : execution.subquery(id)?.query;
  if (query === undefined) return node;
  const values = query.attributes.length === 1 ? [node.operand] : valuesOf(node.operand);
  if (values.length !== query.attributes.length) throw otherLength(values.length, query);
  if (values.length === 1) return node;
  const pairs = query.attributes.map(
    (attribute, index): Expression => ({
      kind: 'binary',
      operator: '=',
      left: values[index] ?? nullExpression,
      right: attributeColumn(attribute),
    }),
  );
  const whole: Expression = {
    kind: 'case',
    branches: [
      { when: exists(execution, query, pairs), then: truth(true) },
      {
        when: exists(execution, query, pairs.map(notFalse)),
        then: { kind: 'cast', operand: nullExpression, type: { kind: 'boolean' }, safe: false },
      },
    ],
    otherwise: truth(false),
  };
  return node.negated ? { kind: 'unary', operator: 'not', operand: whole } : whole;
}

/** The values of a row that is written down. */
function valuesOf(operand: Expression): readonly Expression[] {
  if (operand.kind !== 'call' || operand.name.toLowerCase() !== 'named_struct') return [operand];
  return operand.arguments.filter((_, index) => index % 2 === 1);
}

function exists(execution: Execution, query: Analyzed, conditions: readonly Expression[]): Expression {
  const condition = conjunction(conditions);
  const { attributes } = query;
  const found: Analyzed = condition === undefined ? query : { kind: 'filter', condition, input: query, attributes };
  const id = execution.addSubquery('exists', found);
  return { kind: 'column', path: [id], qualifier: subqueryQualifier, type: { kind: 'boolean' } };
}

function notFalse(operand: Expression): Expression {
  return { kind: 'is', operand, test: 'false', negated: true };
}

function truth(value: boolean): Expression {
  return { kind: 'literal', literal: { type: 'boolean', value } };
}

function otherLength(given: number, { attributes }: Analyzed): AnalysisException {
  const columns = attributes.map(({ field }) => `"${field.name}"`).join(', ');
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH',
    sqlState: '42K09',
    message: `The number of columns in the left hand side of an IN subquery does not match the number of columns in the output of subquery. Left hand side columns(length: ${given}), right hand side columns(length: ${attributes.length}): [${columns}].`,
    parameters: { leftLength: String(given), rightLength: String(attributes.length), rightColumns: columns },
  });
}
