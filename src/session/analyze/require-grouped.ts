import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { childrenOf, hasAggregate, isAggregate } from '../../expr/expression-tree.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import { type Nameable, nameable } from '../plan/analyzed.ts';
import type { GroupElement } from '../plan/plan.ts';

interface Grouping {
  /** Undefined: without GROUP BY, where one aggregate makes one group of all rows. */
  readonly groups: readonly GroupElement[] | undefined;
  readonly having?: Expression | undefined;
  readonly input: Nameable;
}

/**
 * Holds what is computed of groups, bound, against what they are made by: beside aggregates only keys may stand, and what is made of keys.
 *
 * @throws AnalysisException `MISSING_AGGREGATION`, `MISSING_GROUP_BY`, both 42803.
 */
export function requireGrouped(values: readonly Expression[], { groups, having, input }: Grouping): void {
  const computed = having === undefined ? values : [...values, having];
  if (groups === undefined && having === undefined && !computed.some(hasAggregate)) return;
  const keys = (groups ?? []).flatMap(({ sets }) => sets.flat());
  const keyTexts = new Set(keys.map(textOf));
  const names = new Map(nameable(input).map(({ id, field }) => [id, field.name]));
  const visit = (node: Expression): void => {
    if (isAggregate(node) || keyTexts.has(textOf(node))) return;
    const name = node.kind === 'column' ? names.get(node.path[0] ?? '') : undefined;
    if (name === undefined || node.kind !== 'column') childrenOf(node).forEach(visit);
    else if (!isMemberOfKey(node.path, keyTexts)) throw groups === undefined ? missingGroupBy(name) : missingAggregation(name);
  };
  computed.forEach(visit);
}

function isMemberOfKey(path: readonly string[], keyTexts: ReadonlySet<string>): boolean {
  return path.some((_, index) => index > 0 && keyTexts.has(textOf({ kind: 'column', path: path.slice(0, index) })));
}

function textOf(value: Expression): string {
  return expressionSql(value.kind === 'alias' ? value.operand : value, columnPathSql);
}

function missingAggregation(column: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'MISSING_AGGREGATION',
    message: `The expression "${column}" is neither aggregated nor among the columns of GROUP BY.`,
    parameters: { expression: `"${column}"`, expressionAnyValue: `"any_value(${column})"` },
    hint: `add the column to GROUP BY, or use any_value(${column}) if it does not matter which value you get`,
  });
}

function missingGroupBy(column: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'MISSING_GROUP_BY',
    message: `The query has aggregates beside the column "${column}", and no GROUP BY.`,
    hint: 'add GROUP BY, or turn the aggregates into window functions with OVER',
  });
}
