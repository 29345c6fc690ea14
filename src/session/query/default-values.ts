import type { Expression } from '../../expr/expression.ts';
import type { QueryTree } from './select-tree.ts';

/** The rows of an INSERT's VALUES with the columns' defaults in place of the word DEFAULT. Deeper in a query the word is a name like others. */
export function withDefaultValues(tree: QueryTree, defaults: readonly Expression[]): QueryTree {
  const { body } = tree;
  if (body.kind !== 'values') return tree;
  const rows = body.rows.map((row) => row.map((value, place) => (isDefault(value) ? (defaults[place] ?? value) : value)));
  return { ...tree, body: { kind: 'values', rows } };
}

function isDefault(value: Expression): boolean {
  return value.kind === 'column' && value.path.length === 1 && value.path[0]?.toLowerCase() === 'default';
}
