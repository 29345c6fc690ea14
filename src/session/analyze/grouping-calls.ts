import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import { outputName } from '../../expr/output-name.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import type { GroupElement } from '../plan/plan.ts';

/**
 * A bound value with `grouping_id()` as that of all keys. What `grouping` and `grouping_id` ask about are keys of sets.
 *
 * @throws AnalysisException `UNSUPPORTED_GROUPING_EXPRESSION`, `GROUPING_COLUMN_MISMATCH`, `GROUPING_ID_COLUMN_MISMATCH`.
 */
export function withGroupingKeys(value: Expression, groups: readonly GroupElement[] | undefined): Expression {
  return mapExpression(value, (node) => {
    if (node.kind !== 'call' || node.over !== undefined) return node;
    const name = node.name.toLowerCase();
    if (name !== 'grouping' && name !== 'grouping_id') return node;
    const keys = keysOfSets(groups);
    if (name === 'grouping_id' && node.arguments.length === 0) return { ...node, arguments: keys };
    const [texts, asked] = [keys.map(textOf), node.arguments.map(textOf)];
    if (name === 'grouping' && !asked.every((text) => texts.includes(text))) throw mismatch('GROUPING_COLUMN_MISMATCH', node, keys);
    if (name === 'grouping_id' && asked.join() !== texts.join()) throw mismatch('GROUPING_ID_COLUMN_MISMATCH', node, keys);
    return node;
  });
}

/** Each key once, in the order of the text. */
function keysOfSets(groups: readonly GroupElement[] | undefined): readonly Expression[] {
  if (groups?.some(({ kind }) => kind !== 'key') !== true) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_GROUPING_EXPRESSION',
      message: 'grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup.',
    });
  }
  return [...new Map(groups.flatMap(({ sets }) => sets.flat()).map((key) => [textOf(key), key])).values()];
}

function mismatch(errorClass: string, call: Expression & { readonly kind: 'call' }, keys: readonly Expression[]): AnalysisException {
  const [asked, known] = [call.arguments, keys].map((values) => values.map((each) => withoutId(outputName(each))).join(', '));
  return new AnalysisException({
    errorClass,
    message: `Columns of ${call.name} (${asked}) do not match the columns of GROUP BY (${known}).`,
    hint: call.name.toLowerCase() === 'grouping' ? 'ask about a key of GROUP BY' : 'name all keys in their order, or none: grouping_id()',
  });
}

/** Columns are bound: what stands behind the name is of one query. */
function withoutId(name: string): string {
  return name.replaceAll(/#\d+/gu, '');
}

function textOf(value: Expression): string {
  return expressionSql(value, columnPathSql);
}
