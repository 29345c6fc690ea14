import { conjuncts, type Expression } from '../../expr/expression.ts';
import { isDeterministic, mapExpression, someNode } from '../../expr/expression-tree.ts';
import type { ScopeEntry } from './scope.ts';

/** Hands each part of a condition that concerns one of the relations alone to it; `condition` must hold for every row that is used. */
export function distribute(condition: Expression, entries: readonly ScopeEntry[]): void {
  for (const part of conjuncts(condition)) {
    const ids = new Set<string | undefined>();
    visitColumns(part, (column) => ids.add(column.qualifier));
    const [id] = ids;
    if (ids.size !== 1 || !isDeterministic(part)) continue;
    entries.find((entry) => entry.id === id)?.prune(part);
  }
}

type Column = Extract<Expression, { kind: 'column' }>;

/** Columns that binding found; parameters of lambdas are none. */
function visitColumns(expression: Expression, visit: (column: Column) => void): void {
  someNode(expression, (node) => {
    if (node.kind === 'column' && node.qualifier !== undefined) visit(node);
    return false;
  });
}

/** The condition with columns of a relation replaced; `undefined` when one has no replacement. */
export function replaceColumns(condition: Expression, replace: (column: Column) => Expression | undefined): Expression | undefined {
  const missing: Column[] = [];
  const replaced = mapExpression(condition, (node) => {
    if (node.kind !== 'column' || node.qualifier === undefined) return node;
    const value = replace(node);
    if (value === undefined) missing.push(node);
    return value ?? node;
  });
  return missing.length === 0 ? replaced : undefined;
}
