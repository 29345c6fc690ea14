import { AnalysisException } from '../../base/analysis-exception.ts';
import { commonType } from '../../expr/common-type.ts';
import { conjunction, type Expression, nullExpression } from '../../expr/expression.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import { type Analyzed, attributeColumn } from '../plan/analyzed.ts';
import { subqueryQualifier } from '../plan/subquery-name.ts';
import type { Execution } from '../run/execution.ts';

type InNode = Extract<Expression, { kind: 'in' }>;

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
  if (values.length === 1) return comparedValue(execution, node, query);
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

/** `a IN (SELECT x …)`; a FLOAT beside another number is a DOUBLE, where the engine would make the number a FLOAT. */
function comparedValue(execution: Execution, node: InNode, query: Analyzed): Expression {
  const [column] = query.attributes;
  const given = expressionType(node.operand);
  const found = column?.field.type;
  if (column === undefined || found === undefined || given === undefined) return node;
  const type = commonType(given, found);
  if (type === undefined && found.kind !== 'variant' && given.kind !== 'variant') throw otherTypes(given, found);
  if (type?.kind !== 'double' || (given.kind !== 'float' && found.kind !== 'float')) return node;
  const cast = (operand: Expression): Expression => ({ kind: 'cast', operand, type, safe: false, zone: node.zone });
  const attribute = { ...column, id: `compared#${execution.nextNumber()}`, field: { ...column.field, type } };
  const outputs = [{ attribute, value: cast(attributeColumn(column)) }];
  const id = execution.addSubquery('in', { kind: 'project', outputs, input: query, attributes: [attribute] });
  return { ...node, operand: cast(node.operand), options: [{ kind: 'column', path: [id], qualifier: subqueryQualifier }] };
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
    message: `The number of columns in the left hand side of an IN subquery does not match the number of columns in the output of subquery. Left hand side columns(length: ${given}), right hand side columns(length: ${attributes.length}): [${columns}].`,
    parameters: { leftLength: String(given), rightLength: String(attributes.length), rightColumns: columns },
  });
}

function otherTypes(given: DataType, found: DataType): AnalysisException {
  const [left, right] = [sqlTypeName(given), sqlTypeName(found)];
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH',
    message: `The data type of one or more elements in the left hand side of an IN subquery is not compatible with the data type of the output of the subquery. Left side: ["${left}"], right side: ["${right}"].`,
    hint: 'cast one side to the type of the other',
    parameters: { leftType: `"${left}"`, rightType: `"${right}"` },
  });
}
