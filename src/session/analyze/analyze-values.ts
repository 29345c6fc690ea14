import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { hasAggregate, someNode } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { isGeneratorName } from '../../expr/generators.ts';
import { printExpression } from '../../expr/print-expression.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { Analyzed } from '../plan/analyzed.ts';
import { subqueryOf } from '../plan/subquery-name.ts';
import type { Analysis } from './analysis.ts';
import { rowsOfCommonTypes } from './common-values.ts';
import { describedTypes } from './described-types.ts';
import { sourceAttributes } from './outputs.ts';

/** Rows that are written down. @throws AnalysisException `INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH` 42000. */
export async function analyzeValues(analysis: Analysis, rows: readonly (readonly Expression[])[]): Promise<Analyzed> {
  const width = rows[0]?.length ?? 0;
  const written: (readonly Expression[])[] = [];
  for (const row of rows) {
    if (row.length !== width) {
      throw new AnalysisException({
        errorClass: 'INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH',
        message: `Cannot use an inline table: inline table expected ${width} columns but found ${row.length} columns in a row.`,
      });
    }
    const values: Expression[] = [];
    for (const value of row) refuseOtherRows(value);
    for (const value of row) values.push(await analysis.bind(value, { attributes: [] }));
    written.push(values);
  }
  const bound = rowsOfCommonTypes(written, analysis.execution.now.zone?.rule);
  const columns = Array.from({ length: width }, (_, index) => bound.flatMap((row) => row[index] ?? []));
  const known = columns.map(sameType);
  const unknown = known.includes(undefined);
  const fieldsOf = (types: readonly (DataType | undefined)[]): readonly Field[] =>
    columns.map((values, index) => ({
      name: `col${index + 1}`,
      type: values.every(isNull) ? { kind: 'void' } : (types[index] ?? { kind: 'string' }),
      nullable: !values.every(isValue),
    }));
  const made = (types: readonly (DataType | undefined)[]): Analyzed => ({
    kind: 'values',
    rows: bound,
    attributes: sourceAttributes(analysis.execution, fieldsOf(types)),
  });
  if (!unknown) return made(known);
  const types = await describedTypes(analysis, made([]));
  return made(known.map((type, index) => type ?? types[index]));
}

/** A row that is written down knows no other rows. */
function refuseOtherRows(value: Expression): void {
  const asks = (node: Expression): boolean => node.kind === 'column' && subqueryOf(node.path[0] ?? '') !== undefined;
  if (someNode(value, asks)) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES',
      kind: 'unsupported',
      message: 'Unsupported subquery expression: Scalar subqueries in the VALUES clause.',
      hint: 'write SELECT …, (SELECT …) in place of VALUES',
    });
  }
  const manyRows = (node: Expression): boolean => node.kind === 'call' && (node.over !== undefined || isGeneratorName(node.name));
  if (!hasAggregate(value) && !someNode(value, manyRows)) return;
  const expr = printExpression(value);
  throw new AnalysisException({
    errorClass: 'INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE',
    message: `Invalid inline table. Cannot evaluate the expression ${expr} in inline table definition.`,
    parameters: { expr },
  });
}

function sameType(values: readonly Expression[]): DataType | undefined {
  const types = values.map(expressionType);
  const [first] = types;
  return first !== undefined && first.kind !== 'decimal' && types.every((type) => type?.kind === first.kind) ? first : undefined;
}

function isNull(value: Expression): boolean {
  return value.kind === 'literal' && value.literal.type === 'null';
}

function isValue(value: Expression): boolean {
  return value.kind === 'literal' && value.literal.type !== 'null';
}
